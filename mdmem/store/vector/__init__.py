"""The vector index: Chroma in a process of its own, holding ids and vectors, never text.

Owns one folder, which is disposable: whatever goes wrong with it, the caller clears it and fills it again, or does
without. Chroma may crash, hang or answer nonsense over damaged files; so it never runs in this process, opens only
files whose sums are right, and each call ends by a deadline. The folder is for one process at a time: the caller
holds a lock. It must never be given a document.

    channel.py  the child process and what is said over its pipes, with deadlines
    child.py    what runs in it: the only importer of chromadb
    sums.py     what the files were when they were last in order
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mdmem.store.vector import sums
from mdmem.store.vector.channel import Channel, Unusable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["Unusable", "Vector", "version"]

HNSW = {
    "space": "cosine",
    "max_neighbors": 16,
    "ef_construction": 100,
    "ef_search": 300,
    "batch_size": 100,
    "sync_threshold": 250,
}
"""Chroma's parameters. With them recall@10 against an exact scan is 0.999, for 6,000 sentences and for 50,000 mixtures
of their vectors; an ef_search of 100 gives 0.99 for 20,000. What is not synced when Chroma closes is put into the graph
again by each opening, 0.6 ms a vector, so that threshold is low; a fill is no slower, since one sync serves a batch."""

BATCH = 500
"""Vectors in one message: one durable step of Chroma's, 0.3 s, and with 384 dimensions still less than a pipe holds."""

EACH = 0.01
"""Seconds granted beside the deadline for each vector that is put or dropped: ten times what it takes."""


def version() -> str:
    """Give Chroma's own version, or "" where it is not installed; nothing of it is loaded."""
    from importlib import metadata

    try:
        return metadata.version("chromadb")
    except metadata.PackageNotFoundError:
        return ""


class Vector:
    """A vector index in `folder`. Every call but `intact` and `clear` may raise Unusable.

    The child starts with the first call, or ahead of it with `start`. `put` and `drop` return when the child has
    the message, not when it has done the work, so that the caller computes the next vectors meanwhile; what went
    wrong is raised by a later call, at the latest by `close`. Until that has returned, changes are not kept.

    An answer may take `deadline` seconds. The first is granted `opening` beside that, to import chromadb and to open
    the files: 1 s from a warm disk, many from a cold one.
    """

    def __init__(
        self, folder: Path, *, model: str, dimension: int, deadline: float = 5.0, opening: float = 30.0
    ) -> None:
        self.folder = folder
        self.dimension = dimension
        self.deadline = deadline
        self.opening = opening
        self._identity = {"model": model, "dimension": dimension, "hnsw": HNSW, "chroma": version()}
        self._name = f"{sha256(model.encode()).hexdigest()[:16]}-{dimension}"
        self._channel: Channel | None = None
        self._owed: deque[float] = deque()  # for each answer still to come, the seconds granted beside the deadline
        self._opened = False
        self._changed = False

    def __enter__(self) -> Vector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:  # what is in so far is kept if it can be, but hides no error
            with suppress(Unusable):
                self.close()

    @property
    def pid(self) -> int | None:
        """The child's process id, while there is one."""
        return self._channel.pid if self._channel else None

    def intact(self) -> bool:
        """Tell whether the files are what was written last, for this model, dimension and version of Chroma."""
        return sums.hold(self.folder, self._identity)

    def clear(self) -> None:
        """End the child, however it is, and remove the folder."""
        self._kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start the child, which opens the files while the caller does something else.

        Unusable, before anything is opened, if there are files and they are not intact.
        """
        if self._channel:
            return
        if not self._identity["chroma"]:
            raise Unusable("chromadb is not installed")
        self._opened = False
        self._changed = not sums.anything(self.folder)
        if self._changed:
            sums.begin(self.folder)
        elif not self.intact():
            raise Unusable("its files are not what was written, or belong to another model or version")
        self._channel = Channel(self.folder / sums.DATA)
        self._tell({"op": "open", "name": self._name, "dimension": self.dimension, "hnsw": HNSW}, grant=self.opening)

    def is_open(self) -> bool:
        """Tell, without waiting, whether the child has opened the files or failed to: the next call will be quick."""
        return self._channel is not None and (self._opened or self._channel.has_answer())

    def ids(self) -> set[str]:
        """Give all ids."""
        return set(self._ask({"op": "ids"})["ids"])

    def vectors(self, ids: Sequence[str]) -> dict[str, Floats]:
        """Give the vectors of those of the ids that are there; for samples, since they come as text."""
        import numpy as np

        answer = self._ask({"op": "vectors", "ids": list(ids)})
        return {name: np.asarray(row, "<f4") for name, row in zip(answer["ids"], answer["vectors"], strict=True)}

    def put(self, ids: Sequence[str], vectors: Floats) -> None:
        """Add vectors, finite float32 of shape (len(ids), dimension), or replace those of the same ids."""
        import numpy as np

        if vectors.shape != (len(ids), self.dimension):
            raise ValueError(f"{len(ids)} ids with vectors of shape {vectors.shape}, not (…, {self.dimension})")
        for low in range(0, len(ids), BATCH):
            part = np.ascontiguousarray(vectors[low : low + BATCH], dtype="<f4")
            self._change({"op": "put", "ids": list(ids[low : low + BATCH])}, part.tobytes())

    def drop(self, ids: Sequence[str]) -> None:
        """Remove vectors; ids that are not there do no harm."""
        for low in range(0, len(ids), BATCH):
            self._change({"op": "drop", "ids": list(ids[low : low + BATCH])})

    def nearest(self, vector: Floats, k: int) -> list[tuple[str, float]]:
        """Find the k nearest by cosine similarity (1 is the same direction), best first; approximate."""
        import numpy as np

        if vector.shape != (self.dimension,) or k < 1:
            raise ValueError(f"{k} nearest of a vector of shape {vector.shape}, not ({self.dimension},)")
        answer = self._ask({"op": "nearest", "k": k}, np.ascontiguousarray(vector, dtype="<f4").tobytes())
        return list(zip(answer["ids"], answer["similarities"], strict=True))

    def close(self) -> None:
        """Let the child finish and end, then record the sums of its files: from here on they may be opened again."""
        if not self._channel:
            return
        try:
            self._ask({"op": "close"})
            self._channel.finish(self.deadline)
            if self._changed:
                sums.seal(self.folder, self._identity)
        finally:
            self._kill()

    def _change(self, header: dict[str, Any], body: bytes = b"") -> None:
        self.start()
        if not self._changed:
            sums.mark_writing(self.folder)
            self._changed = True
        self._tell(header, body, grant=EACH * len(header["ids"]))

    def _ask(self, header: dict[str, Any], body: bytes = b"") -> dict[str, Any]:
        self.start()
        self._tell(header, body)
        while len(self._owed) > 1:
            self._receive()
        return self._receive()

    def _tell(self, header: dict[str, Any], body: bytes = b"", *, grant: float = 0.0) -> None:
        assert self._channel
        try:
            while self._owed and self._channel.has_answer():
                self._receive()
            before = sum(self._owed)
            self._owed.append(grant)
            self._channel.send(header, body, seconds=self.deadline + before)
        except Unusable:
            self._kill()
            raise

    def _receive(self) -> dict[str, Any]:
        assert self._channel
        try:
            answer = self._channel.receive(self.deadline + self._owed.popleft())
            if "error" in answer:
                raise Unusable(f"Chroma failed: {answer['error']}")
            if not self._opened and not self._changed:
                # Opening writes to Chroma's database, searching does not: sealed now, the index outlives a crash.
                sums.seal(self.folder, self._identity)
        except Unusable:
            self._kill()
            raise
        self._opened = True
        return answer

    def _kill(self) -> None:
        if self._channel:
            self._channel.kill()
        self._channel = None
        self._owed.clear()
