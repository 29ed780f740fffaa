"""Opening somebody else's vault runs none of its code: every setting that can name a program names a trap."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from repo_sandbox import LOG, git, home, keep, make, state, write

from mdmem.errors import MdmemError
from mdmem.store.repo import Repo

__all__ = ["home"]

WORDS = re.compile(r"\S+").findall
HOOKS = WORDS("""
    applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change
    post-merge post-rewrite pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase
    prepare-commit-msg reference-transaction sendemail-validate update post-update
""")
SETTINGS = WORDS("""
    core.fsmonitor core.editor core.pager core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand
    sequence.editor gpg.program gpg.ssh.program gpg.ssh.defaultKeyCommand gpg.x509.program diff.external
    diff.trap.command diff.trap.textconv filter.trap.clean filter.trap.smudge filter.trap.process
    merge.trap.driver credential.helper pager.log pager.show pager.ls-files interactive.diffFilter
    trailer.trap.command trailer.trap.cmd uploadpack.packObjectsHook remote.origin.uploadpack remote.origin.vcs
    alias.rev-parse alias.log alias.ls-tree alias.fast-import init.templateDir man.trap.cmd browser.trap.cmd
    mergetool.trap.cmd difftool.trap.cmd sendemail.smtpServer web.browser help.browser
""")
BANGED = ("alias.", "credential.")


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark when it is run, and then does what a filter does."""
    program = tmp_path / "trap.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{tmp_path}/fired"\ncase "$*" in *filter*) cat;; esac\n')
    program.chmod(0o755)
    return program


def fired(trap: Path) -> str:
    mark = trap.with_name("fired")
    return mark.read_text() if mark.exists() else ""


def plant(top: Path, trap: Path) -> None:
    settings = top / ".git" / "more"
    git(top, "config", "include.path", "more")
    for number, key in enumerate(SETTINGS):
        value = f"!{trap} {key}" if key.startswith(BANGED) else f"{trap} {key}"
        if key == "remote.origin.vcs":
            value = "trap"
        git(top, "config", "--file", str(settings if number % 2 else top / ".git" / "config"), key, value)
    for key, value in {
        "core.hooksPath": str(top / ".git" / "traps"),
        "core.attributesFile": str(top / ".git" / "traps" / "attributes"),
        "commit.gpgSign": "true",
        "tag.gpgSign": "true",
        "log.showSignature": "true",
        "gpg.format": "ssh",
        "user.signingKey": "key",
        "filter.trap.required": "true",
        "core.untrackedCache": "true",
        "remote.origin.url": "ext::touch fired",
        "remote.origin.promisor": "true",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "protocol.file.allow": "always",
    }.items():
        git(top, "config", key, value)
    for folder in ("hooks", "traps"):
        (top / ".git" / folder).mkdir(exist_ok=True)
        for hook in HOOKS:
            place = top / ".git" / folder / hook
            place.write_text(f"#!/bin/sh\nexec {trap} {hook} </dev/null\n")
            place.chmod(0o755)
    attributes = "* filter=trap diff=trap merge=trap\n"
    for place in (".git/info/attributes", ".git/traps/attributes", ".gitattributes"):
        write(top, place, attributes)


def test_the_traps_work(tmp_path: Path, trap: Path) -> None:
    top = make(tmp_path / "vault")
    plant(top, trap)
    write(top, LOG, "changed")
    run(top, "add", "--all")
    disarm_attributes(top)
    run(top, "commit", "--allow-empty", "-m", "x")
    write(top, ".gitattributes", "* diff=trap\n")
    run(top, "log", "-p", "--show-signature")
    run(top, "diff")
    marks = fired(trap)
    wanted = ("core.fsmonitor", "filter.trap", "diff.trap.textconv", "diff.trap.command", "pre-commit")
    assert [name for name in wanted if name not in marks] == []


def run(top: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=top, capture_output=True, check=False)


def disarm_attributes(top: Path) -> None:
    for place in (".git/info/attributes", ".git/traps/attributes", ".gitattributes"):
        (top / place).unlink()


def test_no_trap_fires(tmp_path: Path, trap: Path) -> None:
    top = make(tmp_path / "vault", files={LOG: "# x\n", "plain/free.md": ""})
    plant(top, trap)
    repo = Repo.discover(top)
    use_everything(repo)
    # And with the attributes out of the way, so that something is committed.
    disarm_attributes(top)
    assert keep(repo, log="# y\n", **{"memory/new.md": "n"}).commit == repo.head()
    use_everything(repo)
    write(top, ".gitattributes", "* diff=trap merge=trap\n")
    use_everything(repo)
    assert fired(trap) == ""


def use_everything(repo: Repo) -> None:
    path = LOG
    os.utime(repo.vault / path)
    keep(Repo.discover(repo.vault), log=f"# {repo.head()}\n", **{"memory/deep/er.md": "x"})
    assert repo.person and repo.hooks_dir and repo.obstacle() is None and not repo.unmerged()
    assert repo.read("HEAD", path) is not None and path in repo.tree()
    assert repo.resolve("HEAD") == repo.head()
    repo.ignored([path, "memory/none.md"])
    repo.filtered([path])
    commits = list(repo.history())
    assert list(repo.history(paths=[path])) and commits
    repo.commit({}, "Nothing", state=state(repo))


def test_a_signed_commit_is_not_verified(tmp_path: Path, trap: Path) -> None:
    top = make(tmp_path / "vault")
    tree = git(top, "rev-parse", "HEAD^{tree}").strip()
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"
    text = f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n{signature}\nSigned\n"
    signed = git(top, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", data=text.encode()).strip()
    git(top, "update-ref", "HEAD", signed)
    plant(top, trap)
    assert [commit.subject for commit in Repo.discover(top).history()] == ["Signed"]
    assert fired(trap) == ""


@pytest.mark.parametrize("url", ["file", "ext", "ssh", "vcs"])
def test_a_missing_object_is_not_fetched(tmp_path: Path, trap: Path, url: str) -> None:
    """In a partial clone git asks a server, by a command the repository names, for what is not there."""
    source = make(tmp_path / "source")
    top = make(tmp_path / "vault", files={LOG: "# gone\n"})
    address = {"file": f"file://{source}", "ext": f"ext::{trap} ext", "ssh": "ssh://host/x", "vcs": "x"}[url]
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": address,
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"{trap} uploadpack",
        "core.sshCommand": f"{trap} ssh",
        "protocol.allow": "always",
        "protocol.file.allow": "always",
        "protocol.ext.allow": "always",
        "protocol.ssh.allow": "always",
    }.items():
        git(top, "config", key, value)
    if url == "vcs":
        git(top, "config", "remote.origin.vcs", "ext")
    repo = Repo.discover(top)
    blob = repo.tree()[LOG][1]
    (repo.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    for use in (lambda: repo.read("HEAD", LOG), lambda: list(repo.blobs([blob])), lambda: keep(repo, log="# x\n")):
        with suppress(MdmemError):
            use()
    list(repo.history())
    assert fired(trap) == ""
    if url != "vcs":
        run(top, "cat-file", "-p", blob)
        assert fired(trap) != ""
