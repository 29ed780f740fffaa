"""Passages as points: which units lie nearest to a query.

Up to some tens of thousands of passages every vector is compared, which is quicker than opening an index; above, Chroma
names candidates and their cosines are computed from the cached vectors, so that a score is the same either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mdmem.store.catalog import Passage

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from mdmem.store.vectors import Matrix, Vectors

    Floats = NDArray[numpy.float32]

EXACT = 50_000
"""Passages up to which every vector is compared: 8 ms, after 0.3 s to read them once."""


class Space:
    """Vectors with the units they belong to."""

    def __init__(self, listed: Sequence[Passage], vectors: Vectors) -> None:
        import numpy

        places, self._matrix = vectors.matrix([passage.saying for passage in listed])
        owners = numpy.fromiter((listed[place].unit for place in places), dtype=numpy.int64, count=len(places))
        self.units, self._rows = numpy.unique(owners, return_inverse=True)
        self._sayings = [listed[place].saying for place in places]

    def cosines(self, query: Matrix) -> Floats:
        """Give the cosine of the best vector of each of `units`; it does not depend on what else is there."""
        import numpy

        found = numpy.full(len(self.units), -1.0, dtype=numpy.float32)
        # Not `@`: BLAS adds up a row in an order that depends on its place, so that equal vectors are not equally near.
        numpy.maximum.at(found, self._rows, numpy.einsum("ij,j->i", self._matrix, query))
        return found

    def best(self, query: Matrix, unit: int) -> bytes:
        """Give the hash of what a unit says that is nearest to a query."""
        import numpy

        rows = numpy.flatnonzero(self._rows == numpy.searchsorted(self.units, unit))
        return self._sayings[int(rows[numpy.argmax(self._matrix[rows] @ query)])]


class Nearness:
    """How near each unit is to one query, every unit compared."""

    def __init__(self, space: Space, query: Matrix) -> None:
        self._space = space
        self._query = query
        self._units = space.units
        self._cosines = space.cosines(query)

    def nearest(self, k: int, allowed: set[int] | None) -> dict[int, float]:
        """Give the k nearest of the allowed units; equally near ones at the end are all in."""
        import numpy

        places = numpy.arange(len(self._units))
        if allowed is not None:
            places = places[numpy.isin(self._units, numpy.fromiter(allowed, dtype=numpy.int64, count=len(allowed)))]
        if len(places) > k:
            last = numpy.partition(self._cosines[places], len(places) - k)[len(places) - k]
            places = places[self._cosines[places] >= last]
        return {int(self._units[place]): float(self._cosines[place]) for place in places}

    def cosines(self, units: set[int]) -> dict[int, float]:
        """Give the cosines of those of the units that have a vector."""
        import numpy

        wanted = numpy.fromiter(sorted(units), dtype=numpy.int64, count=len(units))
        places = numpy.searchsorted(self._units, wanted)
        inside = places < len(self._units)
        wanted, places = wanted[inside], places[inside]
        hits = self._units[places] == wanted if len(places) else inside[:0]
        return {int(self._units[place]): float(self._cosines[place]) for place in places[hits]}

    def best(self, units: set[int]) -> dict[int, bytes]:
        """Give for those of the units that have a vector the hash of what they say that is nearest."""
        return {unit: self._space.best(self._query, unit) for unit in self.cosines(units)}


class FarNearness:
    """How near units are to one query, where an index named the `keys` of candidates.

    `fresh` are passages that the index does not know yet; `vectors` must stay open.
    """

    def __init__(
        self,
        listed: Sequence[Passage],
        keys: Iterable[str],
        fresh: Iterable[Passage],
        vectors: Vectors,
        query: Matrix,
    ) -> None:
        self._listed = listed
        self._vectors = vectors
        self._query = query
        wanted = frozenset(keys)
        self._candidates = list(dict.fromkeys([*(each for each in listed if each.key in wanted), *fresh]))

    def nearest(self, k: int, allowed: set[int] | None) -> dict[int, float]:
        """Give about the k nearest of the allowed units; of few allowed ones, exactly these."""
        if allowed is not None:
            within = self._of(allowed)
            if len(within) <= EXACT:
                return self._compared(within).nearest(k, None)
        return self._compared(self._candidates).nearest(k, allowed)

    def cosines(self, units: set[int]) -> dict[int, float]:
        """Give the cosines of those of the units that have a vector."""
        return self._compared(self._of(units)).cosines(units)

    def best(self, units: set[int]) -> dict[int, bytes]:
        """Give for those of the units that have a vector the hash of what they say that is nearest."""
        return self._compared(self._of(units)).best(units)

    def _of(self, units: set[int]) -> list[Passage]:
        return [passage for passage in self._listed if passage.unit in units]

    def _compared(self, some: Sequence[Passage]) -> Nearness:
        return Nearness(Space(some, self._vectors), self._query)
