"""An OpenAI-compatible endpoint, asked once by the openai client.

Owns what is sent, and within which bounds an answer is taken. It must never send the key anywhere else than to the
address that is set, follow a redirect, send what tells of this machine, or read on when an answer is too large or late.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from mdmem import config
from mdmem.errors import Missing, ModelFailed
from mdmem.store.llm import answer, discretion, patience
from mdmem.store.llm.answer import LIMIT, Answer
from mdmem.store.llm.failure import Failure

if TYPE_CHECKING:
    from httpx2 import Request, Response
    from openai import OpenAI

CONNECT = 10.0
"""Seconds for a connection; who is there takes it within one."""

SENT = {
    *("host", "content-length", "content-type", "accept", "accept-encoding", "connection"),
    "x-stainless-raw-response",  # by which the client knows again that it is not to read the answer itself
}
"""The headers that are sent, besides the key: none that tells which system, language or account this is."""

INSTALL = "install it with `pip install 'mdmem[llm]'`"
NO_KEY = "none"
"""What the client is given where no key is to be sent: it insists on one."""


class Endpoint:
    """One endpoint. The key is looked up for each attempt, and kept nowhere. Raises Missing where one is wanted."""

    __slots__ = ("_key_env", "_url", "name")

    def __init__(self, url: str, name: str, key_env: str) -> None:
        self._url = url
        self._key_env = key_env
        self.name = name
        self._key()
        if importlib.util.find_spec("openai") is None:
            raise Missing("the openai library, which asks the endpoint, is not installed", INSTALL)

    def attempt(self, prompt: str, seconds: float) -> Answer:
        """Have the prompt answered within so many seconds. Raises Failure, Missing."""
        import httpx2
        import openai

        asked = _Asked(self._who(), self._key(), self._key_env, prompt)
        line = _Line()

        client = self._client(asked, line, seconds)

        def exchange() -> Answer:
            try:
                with client:
                    return answer.read(_body(client, self.name, prompt), asked.who)
            except (openai.APITimeoutError, httpx2.TimeoutException) as error:
                raise _late(asked.who) from error
            except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
                raise _unreachable(asked.who, error, free=not line.is_made) from error

        try:
            return _within(seconds, exchange, line.cut)
        except TimeoutError as error:
            raise _late(asked.who) from error

    def _client(self, asked: _Asked, line: _Line, seconds: float) -> OpenAI:
        import openai

        def screen(request: Request) -> None:
            request.extensions["trace"] = line.heard
            for name in set(request.headers) - SENT - ({"authorization"} if asked.key else set()):
                del request.headers[name]
            request.headers["accept-encoding"] = "identity"  # a small answer can hold a huge one
            request.headers["user-agent"] = "mdmem"

        timeout = openai.Timeout(seconds, connect=min(CONNECT, seconds))
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [screen], "response": [asked.screen]}
        try:
            http = openai.DefaultHttpxClient(timeout=timeout, follow_redirects=False, event_hooks=hooks)
        except (ValueError, ImportError) as error:  # of a proxy, as the environment names one
            raise Missing("the proxy that the environment names cannot be used", "look at HTTPS_PROXY") from error
        return openai.OpenAI(
            base_url=self._url,
            api_key=asked.key or NO_KEY,
            default_headers={"Authorization": f"Bearer {asked.key or NO_KEY}"},
            max_retries=0,
            timeout=timeout,
            http_client=http,
        )

    def _who(self) -> str:
        return urlsplit(self._url).netloc

    def _key(self) -> str:
        """Look the key up. Raises Missing."""
        key = config.secret(self._key_env) if self._key_env else ""
        if self._key_env and not key:
            hint = f"put it there (export {self._key_env}=…), or name another variable by llm.key_env; empty: no key"
            raise Missing(f"there is no key for the language model in {self._key_env}", hint)
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise Missing(f"what {self._key_env} holds is no key", "a key has no blanks and only plain characters")
        return key


@dataclass(frozen=True, slots=True, repr=False)
class _Asked:
    """What was asked of whom, for judging the answer, and for not repeating it."""

    who: str
    key: str
    key_env: str
    prompt: str

    def screen(self, response: Response) -> None:
        """Look at status and headers before anything else is read. Raises Failure."""
        if not response.is_success:
            self._refused(response)
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise Failure(f"{self.who} answered in an encoding that was not asked for")
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > LIMIT:
            raise _too_large(self.who)

    def _refused(self, response: Response) -> NoReturn:
        status = response.status_code
        if response.is_redirect or status < 400:
            hint = "set llm.base_url to the address that answers"
            raise Failure(f"{self.who} sends elsewhere ({status}), which is not followed", hint, free=True)
        if status == 401:  # what is said with it mostly holds the key
            what = f"refuses the key that {self.key_env} holds" if self.key else "wants a key, and llm.key_env is empty"
            raise Failure(f"{self.who} {what} (401)", "look whether it is the right one for llm.base_url", free=True)
        said = discretion.told(answer.complaint(_beginning(response)), secrets=(self.key,), prompt=self.prompt)
        again = status in (408, 425, 429) or (status >= 500 and status not in (501, 505))
        hint = "the next run tries again" if again else "look at llm.base_url and llm.model"
        after = patience.wished(response.headers.get("retry-after"))
        message = f"{self.who} answered with {status}" + (f": {said}" if said else "")
        raise Failure(message, hint, again=again, after=after, free=True)


class _Line:
    """The connections of one exchange, so that another thread can cut them: closing one would not wake who reads."""

    __slots__ = ("_is_cut", "_mutex", "_sockets", "is_made")

    def __init__(self) -> None:
        self.is_made = False
        self._mutex = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._is_cut = False

    def heard(self, event: str, info: dict[str, Any]) -> None:
        """Take note of a connection that was made: a copy, for TLS takes the first one over."""
        if not event.endswith("connect_tcp.complete"):
            return
        made = info["return_value"].get_extra_info("socket")
        self.is_made = True
        with self._mutex:
            self._sockets.append(socket.socket(fileno=os.dup(made.fileno())))
        if self._is_cut:
            self.cut()

    def cut(self) -> None:
        """End every connection, whoever waits for it."""
        with self._mutex:
            self._is_cut = True
            for each in self._sockets:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
            self._sockets.clear()


def _within(seconds: float, work: Callable[[], Answer], cut: Callable[[], None]) -> Answer:
    """Do the work in a thread of its own: only so can a name that is looked up for minutes be left alone.

    TimeoutError when it is not done in time; then, and on Ctrl-C, it is cut off.
    """
    done: list[Answer | ModelFailed] = []

    def run() -> None:
        try:
            done.append(work())
        except ModelFailed as error:
            done.append(error)

    thread = threading.Thread(target=run, name="mdmem-llm", daemon=True)
    thread.start()
    try:
        thread.join(max(0.0, seconds))
        late = thread.is_alive()
    finally:
        cut()
        thread.join(1.0)
    if late:
        raise TimeoutError
    if not done:
        raise RuntimeError("an exchange ended without an outcome")
    if isinstance(done[0], ModelFailed):
        raise done[0]
    return done[0]


def _body(client: OpenAI, model: str, prompt: str) -> bytes:
    """Ask, and return the body of the answer, of which no more is read than may be."""
    create = client.chat.completions.with_streaming_response.create
    with create(model=model, messages=[{"role": "user", "content": prompt}]) as response:
        body = bytearray()
        for piece in response.http_response.iter_raw():
            body += piece
            if len(body) > LIMIT:
                raise _too_large(urlsplit(str(client.base_url)).netloc)
        return bytes(body)


def _beginning(response: Response) -> bytes:
    """Return the first bytes of what a refusal says."""
    import httpx2

    def pieces() -> Iterator[bytes]:
        with suppress(httpx2.HTTPError):
            yield from response.iter_raw(chunk_size=discretion.READ)

    return next(pieces(), b"")


def _too_large(who: str) -> Failure:
    return Failure(f"{who} answered with more than {LIMIT // 1024} KiB", "no answer that is of use is as long")


def _late(who: str) -> Failure:
    hint = "the next run tries again; `mdmem config set --user llm.timeout_s …` has it wait longer"
    return Failure(f"{who} did not answer in time", hint)


def _unreachable(who: str, error: Exception, *, free: bool) -> Failure:
    """Say why a connection failed, or broke off, in the system's words: the library's may hold what was sent."""
    cause: BaseException | None = error
    while cause is not None and not (isinstance(cause, OSError) and cause.strerror):
        cause = cause.__cause__ or cause.__context__
    reason = cause.strerror if isinstance(cause, OSError) else "the connection broke off"
    hint = "look whether it runs, and at llm.base_url"
    return Failure(f"{who} cannot be asked: {reason}", hint, again=True, free=free)
