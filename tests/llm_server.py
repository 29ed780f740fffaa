"""An OpenAI-compatible endpoint on loopback that answers as it is told to, and misbehaves in every way it knows.

    with serving(lambda prompt: "an answer") as server:
        monkeypatch.setenv("MDMEM_LLM_BASE_URL", server.url)
        …
        assert "coffee" in server.prompts[0]

What it is given is one reply for all requests, or a list of them, one for each, the last again and again. A reply is a
text, a misdeed such as `status(500)`, or a function of the prompt that gives either.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAUSE = 0.05
"""Seconds between two bytes of what drips."""


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


class Exchange(BaseHTTPRequestHandler):
    """One request, and what can be done with it."""

    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.close_connection = True
        self.server.reply_to(self.asked)(self)

    def do_GET(self) -> None:
        self.server.strays.append(self.path)
        self.give(200, b"{}")

    def give(self, status: int, body: bytes, *, headers: Sequence[tuple[str, str]] = (), short: int = 0) -> None:
        """Answer with a body; `short` bytes of it are announced and never come."""
        self.send_response(status)
        named = {name.lower() for name, _ in headers}
        if "content-type" not in named:
            self.send_header("Content-Type", "application/json")
        if "content-length" not in named:
            self.send_header("Content-Length", str(len(body) + short))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def wait(self, seconds: float) -> bool:
        """Wait; False when the test is over."""
        return not self.server.over.wait(seconds)

    def log_message(self, format: str, *args: object) -> None:
        pass


Misdeed = Callable[[Exchange], None]
Reply = str | Misdeed | Callable[[str], "str | Misdeed"]


@dataclass
class Server:
    """A running endpoint: its address for `llm.base_url`, and what it was asked.

    `strays` are requests of other kinds, `sent` are bytes of a flood.
    """

    url: str
    requests: list[Request] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    sent: int = 0

    @property
    def prompts(self) -> list[str]:
        return [each.prompt for each in self.requests]


class Endpoint(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def __init__(self, replies: Sequence[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.over = threading.Event()
        self.known = Server(f"http://127.0.0.1:{self.server_address[1]}/v1")
        self.strays = self.known.strays
        self._replies = list(replies)
        self._mutex = threading.Lock()

    def reply_to(self, asked: Request) -> Misdeed:
        with self._mutex:
            self.known.requests.append(asked)
            reply = self._replies[0] if len(self._replies) == 1 else self._replies.pop(0)
        if callable(reply) and not getattr(reply, "is_misdeed", False):
            reply = reply(asked.prompt)  # type: ignore[arg-type,assignment]
        return saying(reply) if isinstance(reply, str) else reply  # type: ignore[return-value]

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # whoever asked is gone


@contextmanager
def serving(*replies: Reply) -> Iterator[Server]:
    """Serve on a free port of loopback until the block ends."""
    endpoint = Endpoint(replies)
    thread = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint.known
    finally:
        endpoint.over.set()
        endpoint.shutdown()
        thread.join()
        endpoint.server_close()


def misdeed(act: Misdeed) -> Misdeed:
    """Mark a function of an exchange, so that it is not taken for one of the prompt."""
    act.is_misdeed = True  # type: ignore[attr-defined]
    return act


def completion(content: object, **more: Any) -> dict[str, Any]:
    """Give the body of an answer. `usage`, `finish_reason` and further keys of the message may be given as well."""
    usage = more.pop("usage", {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18})
    choice = {"index": 0, "finish_reason": more.pop("finish_reason", "stop")}
    choice["message"] = {"role": "assistant", "content": content, **more}
    shape = {"id": "x", "object": "chat.completion", "created": 1, "model": "served", "choices": [choice]}
    return shape if usage is None else shape | {"usage": usage}


def saying(content: object, **more: Any) -> Misdeed:
    """Answer properly, with this content."""
    return sending(json.dumps(completion(content, **more), ensure_ascii=False).encode("utf-8", "surrogatepass"))


def sending(body: bytes, status: int = 200, *, short: int = 0, **headers: str) -> Misdeed:
    """Answer with these bytes."""
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return misdeed(lambda exchange: exchange.give(status, body, headers=named, short=short))


def status(code: int, message: str = "no", **headers: str) -> Misdeed:
    """Answer with an error."""
    return sending(json.dumps({"error": {"message": message, "code": "x"}}).encode(), code, **headers)


def echoing(code: int) -> Misdeed:
    """Answer with an error that repeats the key and the prompt."""

    def act(exchange: Exchange) -> None:
        said = f"{exchange.headers['authorization']} may not ask: {exchange.asked.prompt}\x1b[31m\r\n\u202e"
        status(code, said)(exchange)

    return misdeed(act)


def silent(seconds: float = 30) -> Misdeed:
    """Say nothing for so long, then answer."""

    def act(exchange: Exchange) -> None:
        if exchange.wait(seconds):
            saying("too late")(exchange)

    return misdeed(act)


def dripping(*, head: bool) -> Misdeed:
    """Send a byte at a time, of the headers or of the body, without end."""

    def act(exchange: Exchange) -> None:
        exchange.wfile.write(b"HTTP/1.1 200 OK\r\n")
        exchange.wfile.write(b"X-Slow: " if head else b"Content-Type: application/json\r\n\r\n{")
        while exchange.wait(PAUSE):
            exchange.wfile.write(b" ")

    return misdeed(act)


@misdeed
def resetting(exchange: Exchange) -> None:
    """Reset the connection."""
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.connection.close()


@misdeed
def hanging_up(exchange: Exchange) -> None:
    """Close the connection without a word."""
    exchange.connection.shutdown(socket.SHUT_RDWR)


@misdeed
def flooding(exchange: Exchange) -> None:
    """Send 10 MB, without saying so before."""
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    for _ in range(160):
        exchange.wfile.write(b" " * 65536)
        exchange.server.known.sent += 65536


@misdeed
def bombing(exchange: Exchange) -> None:
    """Send 100 MB in 100 kB, compressed though nobody asked for it."""
    sending(gzip.compress(bytes(100 * 2**20)), content_encoding="gzip")(exchange)


@misdeed
def garbling(exchange: Exchange) -> None:
    """Send what is no HTTP."""
    exchange.wfile.write(b"220 mail.example ESMTP\r\n")


def redirecting(target: str, code: int = 307) -> Misdeed:
    """Send elsewhere."""
    return sending(b"", code, location=target)
