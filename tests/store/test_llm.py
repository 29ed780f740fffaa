"""The language model: which one may be asked, what comes of every misbehaviour, and what a day may cost."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import llm_server
import pytest
from llm_server import Server, echoing, redirecting, saying, sending, serving, silent, status

from mdmem import config
from mdmem.errors import BudgetSpent, MdmemError, Missing, ModelFailed
from mdmem.store import llm
from mdmem.store.llm import asking, budget, discretion, patience, tokens
from mdmem.store.llm.budget import Budget, Limits, Tally
from mdmem.store.lock import Lock

KEY = "sk-test-0123456789abcdefXYZ"
PROMPT = "Distil: the user prefers hot americano with half sugar. 用户喜欢热美式咖啡，半糖。"
NOON = datetime.fromisoformat("2026-11-29T12:00:00+01:00")
large = pytest.mark.large


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.01)


def opened(
    state: Path, monkeypatch: pytest.MonkeyPatch, now: Callable[[], datetime] = lambda: NOON, **wishes: Any
) -> Any:
    """Open the model that these settings name; an endpoint has a key, unless it is taken away."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    usual = {"provider": "openai", "model": "served", "timeout_s": 20, "retries": 2}
    for name, value in (usual | wishes).items():
        monkeypatch.setenv(f"MDMEM_LLM_{name.upper()}", str(value))
    settings = config.load(None)
    assert settings.findings == ()
    state.mkdir(exist_ok=True)
    return llm.open(settings, state=state, root=state.parent / "vault", lock=locked(state), now=now)


def locked(state: Path) -> Lock:
    return Lock(state / "locks" / "llm.lock", command="test")


def spent(state: Path) -> Tally:
    return budget.read(state, NOON.date()).today


def trouble(model: Any, prompt: str = PROMPT) -> MdmemError:
    """Ask, and give the error, in which there is nothing that must not be there."""
    with pytest.raises(ModelFailed) as caught:
        model.ask(prompt)
    error = caught.value
    said = f"{error.message} {error.hint}"
    assert KEY not in said and KEY[4:12] not in said and "americano" not in said and "热美式" not in said
    assert said.isprintable() and len(said) < 600 and error.exit_code == 14
    return error


# Endpoints


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Any, Server]]]:
    """Give a function that serves replies, and opens a model that asks for them."""
    pytest.importorskip("openai")
    from contextlib import ExitStack

    with ExitStack() as stack:

        def serve(*replies: llm_server.Reply, **wishes: Any) -> tuple[Any, Server]:
            server = stack.enter_context(serving(*replies))
            return opened(tmp_path / "state", monkeypatch, **({"base_url": server.url} | wishes)), server

        yield serve
    assert not [each for each in threading.enumerate() if each.name == "mdmem-llm"]


def said(text: str) -> bytes:
    return json.dumps(llm_server.completion(text)).encode()


def body(**changes: Any) -> bytes:
    return json.dumps(llm_server.completion("never shown", **changes)).encode()


CUT = body()[:-20]
FENCED = "```markdown\n- a\n```"
MISDEEDS: dict[str, tuple[llm_server.Reply, int, str]] = {
    # what the endpoint does, how often it is asked, what is said
    "400": (status(400, "bad request"), 1, "400: bad request"),
    "401": (status(401), 1, "refuses the key"),
    "401 that repeats the key": (echoing(401), 1, "refuses the key"),
    "403 that repeats key and prompt": (echoing(403), 1, "403"),
    "404": (status(404, "no such model"), 1, "404: no such model"),
    "408": (status(408), 3, "408"),
    "422 that repeats the prompt": (echoing(422), 1, "422"),
    "429": (status(429, "slow down"), 3, "429: slow down"),
    "429 with seconds": (status(429, retry_after="0"), 3, "429"),
    "429 with a date that is past": (status(429, retry_after="Sat, 28 Nov 2020 14:30:00 GMT"), 3, "429"),
    "429 with a date ages away": (status(429, retry_after="Sun, 29 Nov 2099 14:30:00 GMT"), 1, "asks to wait"),
    "429 with absurd seconds": (status(429, retry_after="9" * 400), 1, "asks to wait for ever"),
    "429 with an hour": (status(429, retry_after="3600"), 1, "asks to wait 3,600 s"),
    "429 with nonsense": (status(429, retry_after="soon; -1"), 3, "429"),
    "500": (status(500, "oops"), 3, "500: oops"),
    "501": (status(501), 1, "501"),
    "502 as a page of HTML": (sending(b"<html><h1>Bad Gateway</h1>", 502, content_type="text/html"), 3, "502"),
    "503": (status(503), 3, "503"),
    "529": (status(529), 3, "529"),
    "500 of 10 MB": (sending(b"x" * 10 * 2**20, 500), 3, "500"),
    "redirect to elsewhere": (redirecting("http://127.0.0.1:9/v1/chat/completions"), 1, "sends elsewhere (307)"),
    "redirect to another path": (redirecting("/v2", 302), 1, "sends elsewhere (302)"),
    "connection reset": (llm_server.resetting, 3, "cannot be asked"),
    "hangs up": (llm_server.hanging_up, 3, "cannot be asked"),
    "no HTTP": (llm_server.garbling, 3, "cannot be asked"),
    "closed in the middle": (sending(CUT, short=20), 3, "broke off"),
    "closed before anything": (sending(b"", short=400), 3, "broke off"),
    "cut short, and says nothing of it": (sending(CUT), 1, "no JSON"),
    "10 MB": (llm_server.flooding, 1, "more than 256 KiB"),
    "10 MB, announced": (sending(b" " * 10 * 2**20), 1, "more than 256 KiB"),
    "a text of 300 KB": (saying("x" * 300_000), 1, "more than 256 KiB"),
    "bomb": (llm_server.bombing, 1, "encoding that was not asked for"),
    "no choices": (sending(json.dumps({"choices": []}).encode()), 1, "without a text"),
    "no choices at all": (sending(b"{}"), 1, "without a text"),
    "an error that calls itself 200": (sending(b'{"error": {"message": "overloaded"}}'), 1, "without a text"),
    "empty content": (saying(""), 1, "empty"),
    "blank content": (saying(" \n\t\u3000"), 1, "empty"),
    "null content": (saying(None), 1, "without a text"),
    "a number for content": (saying(42), 1, "without a text"),
    "null content with a refusal": (saying(None, refusal="I cannot"), 1, "without a text"),
    "a call of a tool": (saying(None, finish_reason="tool_calls", tool_calls=[{"id": "1"}]), 1, "tool_calls"),
    "truncated": (saying("half of it", finish_reason="length"), 1, "to the end (length)"),
    "filtered": (saying("half of it", finish_reason="content_filter"), 1, "to the end (content_filter)"),
    "invalid JSON": (sending(b"{'choices': 1}"), 1, "no JSON"),
    "empty body": (sending(b""), 1, "no JSON"),
    "a list": (sending(b"[]"), 1, "without a text"),
    "nested too deep": (sending(b"[" * 100_000), 1, "no JSON"),
    "an endless number": (sending(b"9" * 100_000), 1, "no JSON"),
    "a page of HTML": (sending(b"<html>Welcome</html>", content_type="text/html"), 1, "no JSON"),
    "a stream of events": (sending(b"data: {}\n\n", content_type="text/event-stream"), 1, "no JSON"),
    "invalid UTF-8": (sending(body()[:40] + b"\xff\xfe" + body()[40:]), 1, "not UTF-8"),
    "UTF-16": (sending(body().decode().encode("utf-16")), 1, "not UTF-8"),
    "half a character": (sending(json.dumps(llm_server.completion("x\ud83d")).encode()), 1, "no text"),
    "no content at all": (sending(b"", 204), 1, "no JSON"),
}


@large
@pytest.mark.parametrize("name", MISDEEDS)
def test_a_misbehaving_endpoint_is_an_error_that_says_so_and_nothing_else(name: str, asked: Any) -> None:
    misdeed, times, message = MISDEEDS[name]
    model, server = asked(misdeed)
    assert message in trouble(model).message
    assert len(server.requests) == times and server.strays == []
    assert server.sent < 8 * 2**20  # of a flood of 10 MB, what the buffers of the system took


ODD: dict[str, tuple[llm_server.Reply, str]] = {
    "an ordinary answer": (saying("- 咖啡 ☕"), "- 咖啡 ☕"),
    "a fenced one": (saying(FENCED), FENCED),
    "a refusal in words": (saying("I'm sorry, I can't help with that."), "I'm sorry, I can't help with that."),
    "the prompt again": (lambda prompt: prompt, PROMPT),
    "JSON by another name": (sending(said("text"), content_type="text/plain"), "text"),
    "with a BOM": (sending(b"\xef\xbb\xbf" + said("text")), "text"),
    "escaped": (sending(json.dumps(llm_server.completion("热")).encode()), "热"),
    "no reason to end": (saying("text", finish_reason=None), "text"),
    "chunked in no way, closed at the end": (
        llm_server.misdeed(lambda exchange: exchange.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + said("text")) and None),
        "text",
    ),
    "of 200 KB": (saying("x" * 200_000), "x" * 200_000),
}


@large
@pytest.mark.parametrize("name", ODD)
def test_an_answer_is_handed_on_as_it_is_whatever_it_says(name: str, asked: Any) -> None:
    reply, text = ODD[name]
    model, server = asked(reply)
    got = model.ask(PROMPT)
    assert (got.text, got.model, model.name) == (text, "served", "served")
    assert got.seconds > 0 and server.prompts == [PROMPT]


@large
@pytest.mark.parametrize(
    "usage",
    [
        *(None, [], {}, {"prompt_tokens": -5, "completion_tokens": -1}, {"prompt_tokens": 0, "completion_tokens": 0}),
        *({"prompt_tokens": True, "completion_tokens": "many"}, {"prompt_tokens": 1e9, "completion_tokens": 10**12}),
    ],
)
def test_tokens_that_nobody_counted_are_guessed_and_said_to_be(usage: Any, asked: Any, tmp_path: Path) -> None:
    model, _ = asked(saying("four words of English", usage=usage))
    got = model.ask(PROMPT)
    assert (got.tokens_in, got.tokens_out, got.guessed) == (tokens.guess(PROMPT), 6, True)
    assert spent(tmp_path / "state") == Tally(1, got.tokens_in, 6, got.tokens_in + 6)


@large
def test_tokens_that_were_counted_are_believed(asked: Any, tmp_path: Path) -> None:
    model, _ = asked(saying("x"))
    got = model.ask(PROMPT)
    assert (got.tokens_in, got.tokens_out, got.guessed) == (11, 7, False)
    assert spent(tmp_path / "state") == Tally(1, 11, 7, 0)


@large
@pytest.mark.parametrize(
    "misdeed", [silent(), llm_server.dripping(head=True), llm_server.dripping(head=False), status(503, retry_after="1")]
)
def test_no_answer_takes_longer_than_it_may(misdeed: llm_server.Reply, asked: Any) -> None:
    model, server = asked(misdeed, timeout_s=0.6, retries=9)
    began = time.monotonic()
    error = trouble(model)
    assert time.monotonic() - began < 10  # the server itself would take 30 s, or for ever
    assert "in time" in error.message or "asks to wait 1 s" in error.message
    assert len(server.requests) == 1


@large
def test_a_failure_that_passes_is_not_noticed(asked: Any, tmp_path: Path) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
    model, server = asked(status(503), status(429, retry_after=soon), "at last")
    assert model.ask(PROMPT).text == "at last"
    assert len(server.requests) == 3
    assert spent(tmp_path / "state") == Tally(3, 11, 7, 0)  # each attempt is a call, and refusals cost nothing


@large
def test_nobody_there(asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.socket() as free:  # bound and not listening: whoever connects is refused
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        error = trouble(opened(tmp_path / "state", monkeypatch, base_url=url))
    assert "Connection refused" in error.message
    assert spent(tmp_path / "state") == Tally(3)
    error = trouble(opened(tmp_path / "state", monkeypatch, base_url="http://no-such-host.invalid/v1", retries=0))
    assert "no-such-host.invalid cannot be asked" in error.message


@large
def test_what_is_sent_is_prompt_model_and_key(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Who: me\nAuthorization: Bearer other")
    model, server = asked("x")
    model.ask("a\ud83d\udcffb\0" + PROMPT)
    sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {"model": "served", "messages": [{"role": "user", "content": "a??b\0" + PROMPT}]}
    assert sent.headers.pop("host") == server.url[7:-3]
    assert int(sent.headers.pop("content-length")) > len(PROMPT)
    assert sent.headers == {
        "authorization": f"Bearer {KEY}",
        "accept": "application/json",
        "accept-encoding": "identity",
        "connection": "keep-alive",
        "content-type": "application/json",
        "user-agent": "mdmem",
        "x-stainless-raw-response": "stream",
    }


@large
def test_an_endpoint_without_a_key_is_sent_none(asked: Any) -> None:
    model, server = asked("x", status(401), key_env="")
    model.ask(PROMPT)
    assert "authorization" not in server.requests[0].headers
    assert "wants a key" in trouble(model).message


@large
def test_the_key_may_have_another_name_and_is_shown_nowhere(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", " other-key-9876\n")
    model, server = asked("x", key_env="MY_KEY")
    model.ask(PROMPT)
    assert server.requests[0].headers["authorization"] == "Bearer other-key-9876"
    assert "other-key" not in repr(model) + repr(model._attempt) + repr(vars(type(model)))


@large
def test_nothing_is_logged_that_holds_key_or_prompt(
    asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, server = asked("x", status(403), retries=0)
    code = """
import logging, sys
from datetime import datetime, UTC
from pathlib import Path
from mdmem import config
from mdmem.store import llm
from mdmem.store.lock import Lock
logging.basicConfig(level=0)
state = Path(sys.argv[1])
lock = Lock(state / "locks" / "l", command="x")
model = llm.open(config.load(None), state=state, root=state, lock=lock, now=lambda: datetime.now(UTC))
for _ in range(2):
    try:
        model.ask("Distil: hot americano, half sugar, every morning")
    except llm.MdmemError as error:
        logging.exception("failed")
"""
    env = os.environ | {"OPENAI_LOG": "debug"}
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "state"], env=env, capture_output=True, text=True, check=True
    )
    assert len(server.requests) == 2 and "failed" in done.stderr and "HTTP" in done.stderr
    assert KEY not in done.stdout + done.stderr and KEY[3:] not in done.stderr
    assert done.stdout == ""


@large
def test_a_proxy_is_used_as_the_environment_says(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving("by the proxy") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        model, server = asked("straight")
        assert model.ask(PROMPT).text == "by the proxy" and not server.requests
        assert proxy.requests[0].path == f"{server.url}/chat/completions"
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert model.ask(PROMPT).text == "straight"
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("HTTP_PROXY", "gopher://127.0.0.1:1")
        with pytest.raises(Missing, match="proxy"):
            model.ask(PROMPT)


@large
def test_who_interrupts_is_not_kept_waiting(tmp_path: Path, asked: Any) -> None:
    _, server = asked(silent(120))
    code = "import sys; from test_llm import *; ask(Path(sys.argv[1]))"
    child = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "state"],
        cwd=Path(__file__).parent,
        env=os.environ | {"PYTHONPATH": f"{Path(llm_server.__file__).parent}:{os.environ.get('PYTHONPATH', '')}"},
        stderr=subprocess.PIPE,
    )
    until(lambda: server.requests)
    child.send_signal(2)
    _, err = child.communicate(timeout=30)
    assert child.returncode != 0 and b"KeyboardInterrupt" in err


def ask(state: Path) -> None:
    model = llm.open(config.load(None), state=state, root=state, lock=locked(state), now=lambda: NOON)
    assert model
    model.ask(PROMPT)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("2.5", 2.5), ("007", 7), ("1" * 400, float("inf")), ("Sat, 28 Nov 2020 14:30:00 GMT", 0)]
    + [
        (value, None) for value in (None, "", "-1", "nan", "inf", "1e9", "٣", "soon", "Sat, 99 Nov 2020", "0x10", "1 2")
    ],
)
def test_how_long_an_endpoint_asks_to_wait(value: str | None, seconds: float | None) -> None:
    assert patience.wished(value) == seconds


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("plain", "plain"),
        ("a\x1b[31mb\x1b]0;title\x07c\nd\u202ee\x9bf", "a b c d e f"),
        (f"Bearer {KEY} is wrong", "Bearer … is wrong"),
        (f"you sent {KEY[:9]}", "you sent …"),
        (f"asked: {PROMPT}!", "asked: …!"),
        ("用户喜欢热美式咖啡，半糖。", "…"),
        ("用户喜欢什么？热美式", "用户喜欢什么？热美式"),
        ("不能说喜欢热美式！", "不能说…！"),
        ("the user is unknown", "the user is unknown"),
        ("x" * 10_000, "x" * 199 + "…"),
        ("", ""),
    ],
)
def test_what_may_be_repeated(said: str, told: str) -> None:
    assert discretion.told(said, secrets=["", "l", KEY], prompt=PROMPT) == told
    assert discretion.told(said, secrets=[KEY], prompt=f"-{PROMPT}\n" * 500) == told


# Which one


def test_none_is_the_usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings = config.load(None)
    assert settings.text("llm.provider") == "none"
    assert llm.open(settings, state=tmp_path, root=tmp_path, lock=locked(tmp_path), now=lambda: NOON) is None
    assert llm.missing(settings, root=tmp_path) == ""


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"model": ""}, "no model is named"),
        ({"key_env": "NO_SUCH_KEY"}, "no key for the language model in NO_SUCH_KEY"),
        ({"key_env": "ODD_KEY"}, "what ODD_KEY holds is no key"),
        ({"provider": "command"}, "no command is named"),
        ({"provider": "command", "command": "no-such-program -p"}, "the program no-such-program was not found"),
        ({"provider": "command", "command": "/no/such/program"}, "there is no program /no/such/program"),
        ({"provider": "command", "command": "/etc/passwd"}, "there is no program /etc/passwd"),
        ({"provider": "command", "command": "/tmp"}, "there is no program /tmp"),
    ],
)
def test_what_is_named_and_not_there_is_missing(
    wishes: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_KEY", "sk-with a blank")
    with pytest.raises(Missing) as caught:
        opened(tmp_path / "state", monkeypatch, **wishes)
    assert message in caught.value.message and caught.value.exit_code == 13 and "sk-with" not in caught.value.hint
    assert llm.missing(config.load(None), root=tmp_path) == f"{caught.value.message}; {caught.value.hint}"


def test_without_the_library_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import util

    real = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *rest: None if name == "openai" else real(name, *rest))
    with pytest.raises(Missing) as caught:
        opened(tmp_path / "state", monkeypatch)
    assert "pip install 'mdmem[llm]'" in caught.value.hint


# What a day may cost


def counted(state: Path, now: Callable[[], datetime] = lambda: NOON, calls: int = 10, most: int = 1000) -> Budget:
    state.mkdir(exist_ok=True)
    return Budget(state, locked(state), now, Limits(calls, most))


def test_calls_and_tokens_of_a_day_are_bounded(tmp_path: Path) -> None:
    kept = counted(tmp_path, calls=3, most=100)
    kept.take(60)
    with pytest.raises(BudgetSpent, match="60 of 100 tokens, and this would take 41") as caught:
        kept.take(41)
    assert "begins anew on 2026-11-30" in caught.value.hint and "llm.tokens_per_day" in caught.value.hint
    kept.settle(-50, 20, guessed=-60)
    kept.take(70)
    with pytest.raises(BudgetSpent, match="100 of 100 tokens"):
        kept.take(1)
    kept.settle(-70, 0, guessed=-70)
    kept.take(1)
    with pytest.raises(BudgetSpent, match="3 of 3 calls") as caught:
        kept.take(1)
    assert "llm.calls_per_day" in caught.value.hint
    assert spent(tmp_path) == Tally(3, 11, 20, 1)


@large
def test_a_budget_that_is_spent_asks_nobody(asked: Any) -> None:
    model, server = asked("x", calls_per_day=2)
    for _ in range(2):
        model.ask(PROMPT)
    with pytest.raises(BudgetSpent):
        model.ask(PROMPT)
    assert len(server.requests) == 2
    model, server = asked(status(503), calls_per_day=4, retries=9)
    with pytest.raises(BudgetSpent):  # attempts count, too
        model.ask(PROMPT)
    assert len(server.requests) == 2


def test_a_new_day_begins_anew_and_a_clock_that_goes_back_grants_nothing(tmp_path: Path) -> None:
    moment = NOON
    kept = counted(tmp_path, lambda: moment, calls=2)
    kept.take(1)
    kept.take(1)
    for delta in (0, -1, -2, -400, -1, 0):  # to and fro, on days that had or had not their calls
        moment = NOON + timedelta(days=delta)
        with pytest.raises(BudgetSpent):
            kept.take(1)
    moment = NOON + timedelta(days=1)
    kept.take(1)
    assert budget.read(tmp_path, moment.date()).total.calls == 3
    moment = NOON  # as a program in a time zone further west has it
    kept.take(1)
    with pytest.raises(BudgetSpent):
        kept.take(1)
    moment = NOON + timedelta(days=3650)  # a clock that is wrong by years, and is put right
    kept.take(1)
    moment = NOON + timedelta(days=1)
    kept.take(1)
    with pytest.raises(BudgetSpent):
        kept.take(1)
    moment = NOON + timedelta(days=2)
    kept.take(1)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", "[" * 3000, "\udcff", " " * 5000]
    + [
        json.dumps({"day": day, "today": tally, "total": tally})
        for day, tally in [
            ("2026-11-29", {}),
            ("never", {"calls": 1, "tokens_in": 1, "tokens_out": 1, "guessed": 0}),
            (1, {"calls": 1, "tokens_in": 1, "tokens_out": 1, "guessed": 0}),
            ("2026-11-29", {"calls": -99, "tokens_in": 1, "tokens_out": 1, "guessed": 0}),
            ("2026-11-29", {"calls": 1.5, "tokens_in": "1", "tokens_out": None, "guessed": True}),
            ("2026-11-29", {"calls": 10**99, "tokens_in": 1, "tokens_out": 1, "guessed": 0}),
        ]
    ],
)
def test_a_broken_count_is_begun_anew(text: str, tmp_path: Path) -> None:
    place = tmp_path / budget.NAME
    place.parent.mkdir()
    place.write_bytes(text.encode("utf-8", "surrogateescape"))
    counted(tmp_path).take(5)
    assert spent(tmp_path) == Tally(1, 5, 0, 5)


def count(state: Path) -> None:
    kept = counted(state, calls=1000, most=10**6)
    for _ in range(25):
        kept.take(3)
        kept.settle(-1, 2, guessed=-3)


def test_several_processes_count_together(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=count, args=(tmp_path,)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(120)
    assert [child.exitcode for child in children] == [0] * 4
    assert spent(tmp_path) == Tally(100, 200, 200, 0)


@pytest.mark.parametrize(
    ("text", "guessed"), [("", 1), ("abcd", 1), ("abcde", 2), ("热美式咖啡", 5), ("热 a b", 2), ("кофе", 2), ("☕", 1)]
)
def test_what_tokens_are_guessed(text: str, guessed: int) -> None:
    assert tokens.guess(text) == guessed
