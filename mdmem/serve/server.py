"""The private socket of a vault: one request and one answer on each connection.

Owns the socket and all limits: who may ask, how many at once, how long, how much. It must never end because of what
somebody sends.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from mdmem import fsio
from mdmem.errors import MdmemError
from mdmem.serve import endpoint, protocol
from mdmem.serve.log import Log
from mdmem.serve.protocol import Shape

AT_ONCE = 64
"""Connections; one more is told so and closed."""
BACKLOG = 128
READ, WRITE = 2.0, 5.0
"""Seconds for a whole request to come, and for the answer to be taken."""

Respond = Callable[[Shape, Callable[[], None]], Shape]


class Server:
    """The socket of the vault at `root`. `respond` answers a request, or raises what its asker is to be told.

    What it calls meanwhile tells the asker that it is still in line, and raises OSError when nobody waits any more.
    """

    def __init__(self, root: Path, respond: Respond, log: Log) -> None:
        self.path = endpoint.path(root)
        self._root = root
        self._respond = respond
        self._log = log
        self._free = threading.BoundedSemaphore(AT_ONCE)
        self._socket: socket.socket | None = None
        self._inode = 0

    def open(self) -> None:
        """Take the address; whoever had it is gone, for the caller holds the vault's lock. Raises OSError, Refused."""
        self.close()
        fsio.mkdir(str(self.path.parent).lstrip("/"), root=Path("/"))
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with endpoint.reached(self._root) as path:
                fsio.unlink(self.path.name, root=self.path.parent)
                os.fchmod(listening.fileno(), 0o600)  # the mode that the name gets
                listening.bind(path)
                self._inode = os.stat(path).st_ino
            listening.listen(BACKLOG)
        except BaseException:
            listening.close()
            raise
        self._socket = listening
        threading.Thread(target=self._accept, args=(listening,), name="mdmem socket", daemon=True).start()

    def is_reachable(self) -> bool:
        """Tell whether the address still leads here: temporary folders are cleared at times."""
        try:
            return os.stat(self.path).st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        """Take no further request, and give the address back."""
        listening, self._socket = self._socket, None
        if listening is None:
            return
        if self.is_reachable():
            with suppress(MdmemError):
                fsio.unlink(self.path.name, root=self.path.parent)
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for a connection
        listening.close()

    def drain(self, seconds: float) -> None:
        """Wait for the requests that are being answered."""
        until = time.monotonic() + seconds
        for _ in range(AT_ONCE):
            if not self._free.acquire(timeout=max(0.0, until - time.monotonic())):
                return

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError as error:
                if self._socket is not listening:
                    return
                self._log.trouble("socket", fsio.why(error))  # out of descriptors, as a rule
                time.sleep(0.1)
                continue
            if self._free.acquire(blocking=False):
                try:
                    threading.Thread(target=self._serve, args=(connection,), name="mdmem asker", daemon=True).start()
                except RuntimeError:
                    self._free.release()
                    self._turn_away(connection)
            else:
                self._turn_away(connection)

    def _turn_away(self, connection: socket.socket) -> None:
        with closing(connection), suppress(OSError):
            connection.setblocking(False)
            connection.send(protocol.line(protocol.error(protocol.DECLINED, "too many ask at once")))

    def _serve(self, connection: socket.socket) -> None:
        try:
            with closing(connection), suppress(OSError):
                if endpoint.is_same_user(connection):
                    answer = self._answered(connection)
                    connection.settimeout(WRITE)
                    connection.sendall(answer)
        finally:
            self._free.release()

    def _answered(self, connection: socket.socket) -> bytes:
        """Read a request and answer it; the one place where whatever goes wrong becomes an answer."""
        try:
            request = protocol.shape(_line(connection))
            if request.get("v") != protocol.VERSION:
                raise ValueError("another version of the protocol")
            answer = protocol.line(self._respond(request, lambda: connection.sendall(b" ")))
            if len(answer) > protocol.ANSWER_LIMIT:
                return _told(protocol.DECLINED, "the answer is too long for one message")
            return answer
        except MdmemError as error:
            return _told(error.code, error.message, error.hint, tell=getattr(error, "tell", False))
        except (ValueError, TimeoutError) as error:
            return _told("request", f"that is no request: {error}")
        except OSError:
            raise
        except Exception as error:
            self._log.say(f"a request failed: {type(error).__name__}: {error}")
            return _told(protocol.DECLINED, "that should not have happened; the log says more")


def _told(code: str, message: str, hint: str = "", *, tell: bool = False) -> bytes:
    shape = protocol.error(code, message, hint)
    shape["error"]["tell"] = tell
    return protocol.line(shape)


def _line(connection: socket.socket) -> bytes:
    """Read one line within limits. Raises ValueError, TimeoutError, OSError."""
    until = time.monotonic() + READ
    received = bytearray()
    while not received.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("it did not come in time")
        connection.settimeout(left)
        chunk = connection.recv(2**16)
        received += chunk
        if not chunk:
            raise ValueError("it breaks off")
        if len(received) > protocol.REQUEST_LIMIT:
            raise ValueError("it is too long")
    return bytes(received)
