"""Searches through the private socket: the same answers as without it, and nothing that somebody sends ends it."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from vault_sandbox import CODE, write
from watch_sandbox import Watched, found, mdmem, watched

from mdmem import Vault, config
from mdmem.errors import Missing
from mdmem.model import Answer, Entry, Hit, Query
from mdmem.serve import client, endpoint, protocol

TEXTS = {
    "memory/plan.md": "# Plan\n\nbuy beans #coffee\n",
    "memory/odd.md": "# Odd\n\nbeans \x1b[31mred \u202e and \udcff bytes\n",
    "memory/daily/2026-11-02.md": "# 2026-11-02\n\n- 09:10 Beans before noon\n- 18:40 The kitten slept\n",
    "memory/deep/er/note.md": "---\ntitle: Ünïcode\ntags: [a, b]\n---\n# 咖啡\n\nbeans 咖啡豆\n",
}


@pytest.fixture
def filled(vault: Vault) -> Vault:
    for path, text in TEXTS.items():
        write(vault, path, text)
    vault.commit()
    return vault


@pytest.fixture
def running(filled: Vault) -> Iterator[Watched]:
    with watched(filled) as process:
        yield process


def raw(running: Watched, data: bytes, *, end: bool = True) -> dict[str, Any]:
    """Send bytes to the socket and give what comes back."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(running.now["socket"])
        connection.sendall(data)
        if end:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    answer: dict[str, Any] = json.loads(received)
    return answer


QUERIES = (
    ("beans",),
    ("beans", "-k", "1", "--page", "2", "--explain"),
    ("--tag", "a", "--", ""),
    ("beans", "--in", "daily", "--until", "2026-11-03", "--max-chars", "10"),
    ("咖啡", "--in", "/memory/deep"),
    ("(((", "no such word"),
)


def test_answers_are_the_same_with_and_without(filled: Vault) -> None:
    def answers() -> list[tuple[object, ...]]:
        made = []
        for words in QUERIES:
            done = mdmem(filled.root, "search", "--json", *words, code=None)
            shape = json.loads(done.stdout)
            served.add((shape.pop("served_by"), shape.pop("took_ms") >= 0))
            made.append((done.returncode, shape, done.stderr))
        plain = mdmem(filled.root, "search", "beans", "--explain", code=None)
        return [*made, (plain.returncode, plain.stdout, plain.stderr)]

    served: set[tuple[str, bool]] = set()
    alone = answers()
    assert served == {("cli", True)}
    served.clear()
    with watched(filled):
        assert answers() == alone
    assert served == {("watch", True)}


def test_errors_are_the_same_with_and_without(filled: Vault) -> None:
    asked = (("--mode", "semantic"), ("--mode", "psychic"), ("--since", "ö"))
    alone = [mdmem(filled.root, "search", "x", *words, code=None) for words in asked]
    with watched(filled):
        again = [mdmem(filled.root, "search", "x", *words, code=None) for words in asked]
    assert [(one.returncode, one.stderr) for one in again] == [(one.returncode, one.stderr) for one in alone]
    assert [one.returncode for one in alone] == [13, 2, 2]


def test_an_edit_is_found_by_the_very_next_search(filled: Vault, running: Watched) -> None:
    for number in range(3):
        write(filled, "memory/plan.md", f"# Plan\n\nbuy sugar{number}\n")
        answer = found(filled.root, f"sugar{number}")
        assert (answer["served_by"], answer["total"]) == ("watch", 1)


def test_the_numbers_of_a_list_are_kept_for_the_terminal(filled: Vault, running: Watched) -> None:
    reply = client.search(filled.root, filled.settings, Query("kitten"), terminal="/dev/pts/7:1")
    assert reply.answer is not None
    assert filled.recall("/dev/pts/7:1", 1) == "daily/2026-11-02#18:40"


def test_other_settings_another_zone_or_another_version_search_on_their_own(filled: Vault, running: Watched) -> None:
    others = {"MDMEM_SEARCH_BM25_K1": "2", "TZ": "Asia/Tokyo", "MDMEM_STATE_DIR": str(filled.root.parent)}
    for name, value in others.items():
        done = mdmem(filled.root, "search", "beans", "--json", env={name: value})
        assert json.loads(done.stdout)["served_by"] == "cli"
    request = {"v": protocol.VERSION, "code": "older", "do": "search"}
    answer = raw(running, protocol.line(request))
    assert answer["error"]["code"] == "declined" and answer["error"]["tell"]


def test_a_search_loads_no_engine(filled: Vault, running: Watched) -> None:
    code = (
        "import sys; from mdmem.cli.app import main; main(['--vault', sys.argv[1], 'search', 'beans', '--json'])\n"
        "print([name for name in ('whoosh', 'git', 'numpy', 'sqlite3', 'mdmem.vault') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, filled.root],
        env={**os.environ, "PYTHONPATH": str(CODE)},
        capture_output=True,
        text=True,
        check=True,
    )
    answer, loaded = done.stdout.splitlines()
    assert json.loads(answer)["served_by"] == "watch"
    assert loaded == "[]"


GARBAGE = {
    "nothing": b"",
    "no line": b'{"v": 1}',
    "no JSON": b"GET / HTTP/1.1\r\n\r\n",
    "not UTF-8": b"\xff\xfe\n",
    "no object": b"[1, 2]\n",
    "nested": b'{"v":' + b"[" * 30_000 + b"]" * 30_000 + b"}\n",
    "endless number": b'{"v": ' + b"9" * 50_000 + b"}\n",
    "no number": b'{"v": NaN}\n',
    "huge": b'{"v": "' + b"x" * 200_000 + b'"}\n',
    "nothing meant": b'{"v": 1, "do": "format"}\n',
    "another version": b'{"v": 99, "do": "search"}\n',
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_refused_and_harms_nobody(filled: Vault, running: Watched, data: bytes) -> None:
    try:
        answer = raw(running, data)
    except (BrokenPipeError, ConnectionResetError):  # it stopped listening in the middle
        assert len(data) > protocol.REQUEST_LIMIT
    else:
        assert answer["error"]["code"] == "request"
    assert found(filled.root, "beans")["served_by"] == "watch"


def test_whoever_hangs_keeps_nobody_from_searching(filled: Vault, running: Watched) -> None:
    hanging = [socket.socket(socket.AF_UNIX) for _ in range(20)]
    try:
        for one in hanging:
            one.connect(running.now["socket"])
            one.sendall(b'{"v": 1, ')
        assert found(filled.root, "beans")["served_by"] == "watch"
        while hanging[0].recv(4096):  # told, and let go
            pass
    finally:
        for one in hanging:
            one.close()


def test_more_than_it_takes_are_turned_away_and_search_on_their_own(filled: Vault, running: Watched) -> None:
    hanging = [socket.socket(socket.AF_UNIX) for _ in range(100)]
    try:
        for one in hanging:
            one.connect(running.now["socket"])
        assert found(filled.root, "beans")["total"] == 4
    finally:
        for one in hanging:
            one.close()


def test_many_searches_at_once_are_all_answered(filled: Vault, running: Watched) -> None:
    settings, answers = filled.settings, list[Any]()

    def ask(number: int) -> None:
        answers.append(client.search(filled.root, settings, Query("beans", k=1 + number % 3), terminal=None))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 40
    assert [reply.notice for reply in answers] == [""] * 40
    assert {reply.answer.total for reply in answers} == {4}


def test_a_process_that_answers_nothing_costs_a_search_a_moment(filled: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PATIENCE", 0.2)
    place = endpoint.path(filled.root)
    place.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(place))
        query = Query("beans")
        assert client.search(filled.root, filled.settings, query, terminal=None) == client.Reply()  # nobody listens
        silent.listen(1)
        reply = client.search(filled.root, filled.settings, query, terminal=None)
        assert reply.answer is None and "in time" in reply.notice
    place.unlink()


def test_the_socket_is_private(filled: Vault, running: Watched, sockets: Path) -> None:
    place = Path(running.now["socket"])
    assert place.parent == sockets / "mdmem"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    place.parent.chmod(0o755)  # then it is nobody's whom one may ask
    assert found(filled.root, "beans")["served_by"] == "cli"
    place.parent.chmod(0o700)
    assert found(filled.root, "beans")["served_by"] == "watch"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_user_is_not_answered(filled: Vault, running: Watched) -> None:
    place = Path(running.now["socket"])
    for folder in (place, *list(place.parents)[:-2]):  # whoever opened all the doors
        folder.chmod(folder.stat().st_mode | 0o777)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(place))
                connection.settimeout(20)
                connection.sendall(protocol.line({"v": protocol.VERSION, "do": "status"}))
                os._exit(0 if connection.recv(100) == b"" else 1)
        except (BrokenPipeError, ConnectionResetError):
            os._exit(0)
        except OSError:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (0, 2)


def test_a_cleared_away_socket_comes_back(filled: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    from mdmem.serve.log import Log
    from mdmem.serve.server import Server

    log = Log(filled.place.state, clock=lambda: datetime.now(UTC))
    server = Server(filled.root, lambda request, waits: {"v": 1, "status": {}}, log)
    server.open()
    server.path.unlink()
    assert not server.is_reachable()
    server.open()
    assert server.is_reachable()
    assert client.ask(filled.root, "status") == {"v": 1, "status": {}}
    server.close()
    assert not server.path.exists()


# What is said on the socket


def an_answer() -> Answer:
    moment = datetime.fromisoformat("2026-11-29T14:30:05.123456+01:00")
    entry = Entry("entry", "a#1", "i", "p\udcff.md", (1, 2), moment, "t\x00", ("x",), "\u2028\udc80\n", (("k", "v"),))
    hit = Hit(entry, (3, 4), "text", 0.1 + 0.2, {"semantic": 1, "keyword": 2}, "sn\x1bip", ((0, 2),), ("why",))
    later = replace(hit, entry=replace(entry, kind="document", date=None), score=-1e-300)
    return Answer("q\ud800", "hybrid", (hit, later), 7, 1.5, ("n",), "watch", ("r",))


def test_an_answer_arrives_as_it_was() -> None:
    made = an_answer()
    received = protocol.answer(protocol.shape(protocol.line(protocol.of_answer(made))))
    assert received == made
    assert list(received.hits[0].ranks) == ["semantic", "keyword"]


def test_a_query_arrives_as_it_was() -> None:
    made = Query(
        "x\udcff",
        k=3,
        mode="keyword",
        since=datetime.fromisoformat("2026-11-29T00:00:00+01:00"),
        tags=("a", "b"),
        within="daily",
        page=2,
        max_chars=80,
        exact=True,
        fresh=True,
    )
    assert protocol.query(protocol.shape(protocol.line(protocol.of_query(made)))) == made
    assert protocol.query(protocol.of_query(Query("y"))) == Query("y")


WRONG = ({"k": 0}, {"k": True}, {"k": "1"}, {"mode": "psychic"}, {"text": None}, {"tags": "a"}, {"since": "2026-11-29"})


@pytest.mark.parametrize("change", [*WRONG, {"within": 3}, {"page": 10**10}, {"max_chars": -1}, {"until": 5}])
def test_what_is_no_query_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        protocol.query(protocol.of_query(Query("x")) | change)


def test_an_error_of_the_query_is_raised_and_any_other_is_not(filled: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def tells(code: str) -> client.Reply:
        monkeypatch.setattr(client, "ask", lambda *words: protocol.error(code, "message", "hint"))
        endpoint.path(filled.root).parent.mkdir(mode=0o700, exist_ok=True)
        return client.search(filled.root, filled.settings, Query("x"), terminal=None)

    with pytest.raises(Missing, match="message"):
        tells("missing")
    assert tells("busy") == tells("io") == tells("declined") == client.Reply()


def test_settings_are_told_apart_by_their_fingerprint(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    first = config.fingerprint(config.load(vault.root))
    assert config.fingerprint(config.load(vault.root)) == first
    monkeypatch.setenv("MDMEM_SEARCH_K", "3")
    assert config.fingerprint(config.load(vault.root)) != first
    monkeypatch.delenv("MDMEM_SEARCH_K")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    assert config.fingerprint(config.load(vault.root)) != first
