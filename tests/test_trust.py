"""What a vault's file may set only where the user trusts that vault: for whom, for what, and until when."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from mdmem import Vault, config
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
