"""Chroma's own process: it reads messages, calls Chroma, and answers each, until it is told to close.

Owns every call of chromadb. It must never print, reach a network, or outlive its parent. Whatever Chroma raises, and
one of its panics is no Exception, becomes an answer; from what kills a process, only the parent can save anything.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
from typing import Any

from mdmem.store.vector.channel import pack, unpack

Answer = dict[str, Any]


def main(*, alive: int) -> None:
    """Serve the parent at the other ends of standard input and output; `alive` is a pipe that ends with it."""
    _die_with(alive)
    requests, answers = _take_pipes()
    os.umask(0o077)
    store: Store | None = None
    while True:
        header, body = unpack(lambda size: _read(requests, size))
        try:
            if store is None:
                store, answer = Store(header), {}
            else:
                answer = store.answer(header, body)
        except BaseException as error:
            _write(answers, pack({"error": f"{type(error).__name__}: {error}"[:300]}))
            os._exit(1)
        _write(answers, pack(answer))
        if header["op"] == "close":
            os._exit(0)  # Chroma is closed; its threads and the interpreter's farewell would take 0.1 s


class Store:
    """One collection in the current folder, with vectors of one dimension."""

    def __init__(self, header: dict[str, Any]) -> None:
        import chromadb
        import numpy as np
        from chromadb.config import Settings

        # The current folder, since Chroma makes a URL of the path, and a path may hold what a URL may not.
        self.client: Any = chromadb.PersistentClient(".", settings=Settings(anonymized_telemetry=False))
        self.collection: Any = self.client.get_or_create_collection(
            header["name"], embedding_function=None, configuration={"hnsw": header["hnsw"]}
        )
        self.dimension: int = header["dimension"]
        # The graph is loaded by the first query; here that counts as a part of opening.
        self.nearest(np.ones(self.dimension, dtype="<f4").tobytes(), 1)

    def answer(self, header: dict[str, Any], body: bytes) -> Answer:
        """Do what a message says."""
        match header["op"]:
            case "put":
                return self.put(header["ids"], body)
            case "drop":
                return self.drop(header["ids"])
            case "nearest":
                return self.nearest(body, header["k"])
            case "ids":
                return {"ids": self.collection.get(include=[])["ids"]}
            case "vectors":
                return self.vectors(header["ids"])
            case "close":
                self.client.close()
                return {}
        raise ValueError(f"unknown operation {header['op']!r}")

    def put(self, ids: list[str], body: bytes) -> Answer:
        """Add vectors, or replace those of the same ids."""
        import numpy as np

        vectors = np.frombuffer(body, dtype="<f4").reshape(len(ids), self.dimension)
        self.collection.upsert(ids=ids, embeddings=vectors)
        return {}

    def drop(self, ids: list[str]) -> Answer:
        """Remove vectors."""
        self.collection.delete(ids=ids)
        return {}

    def vectors(self, ids: list[str]) -> Answer:
        """Give the vectors of these ids, of those that are there."""
        found = self.collection.get(ids=ids, include=["embeddings"])
        return {"ids": found["ids"], "vectors": [[float(each) for each in row] for row in found["embeddings"]]}

    def nearest(self, body: bytes, k: int) -> Answer:
        """Give ids and cosine similarities of the nearest, best first."""
        import numpy as np

        vector = np.frombuffer(body, dtype="<f4").reshape(1, self.dimension)
        found = self.collection.query(query_embeddings=vector, n_results=k, include=["distances"])
        distances = found["distances"] or [[]]
        return {"ids": found["ids"][0], "similarities": [1 - distance for distance in distances[0]]}


def _die_with(alive: int) -> None:
    """Have the kernel kill this process when the pipe's other end is closed.

    Chroma holds the interpreter's lock while it works, so no thread could watch; and a signal for the parent's death
    would come already when the parent's *thread* ends that started us.
    """
    fcntl.fcntl(alive, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(alive, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(alive, fcntl.F_SETFL, fcntl.fcntl(alive, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(alive, 0)
    if poll.poll(0):  # it was closed before
        os._exit(1)


def _take_pipes() -> tuple[int, int]:
    """Move the pipes away from where Chroma could print into them or read from them."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    return requests, answers


def _read(fd: int, size: int) -> bytes:
    taken = bytearray()
    while len(taken) < size:
        part = os.read(fd, size - len(taken))
        if not part:
            os._exit(1)  # the parent gave up
        taken += part
    return bytes(taken)


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
