"""Names of files that are no notes."""

from __future__ import annotations

import pytest

from mdmem.text import names

EMACS_AND_VIM = (".#a.md", "#a.md#", "a.md~", ".a.md.swp", ".a.md.swx", "4913")
OTHERS = (".goutputstream-X1Y2", "sedAb12Cd", "a.md.tmp", ".~lock.a.md#", "a.md.crswap", ".a.md.kate-swp")
MORE = ("a.md___jb_tmp___", "a.md___jb_old___", "~syncthing~a.md.tmp", ".syncthing.a.md.tmp", ".a.md.mdmem-1f2e")
LASTING = ("a.md", "sed-ab.md", "sedation.md", "4913.md", "tmp.md", "a#b.md", "swp.md", "a.md.orig", "~a.md")


@pytest.mark.parametrize("name", [*EMACS_AND_VIM, *OTHERS, *MORE])
def test_what_editors_leave_for_a_moment(name: str) -> None:
    assert names.is_passing(name)


@pytest.mark.parametrize("name", LASTING)
def test_what_people_call_their_notes(name: str) -> None:
    assert not names.is_passing(name)


def test_copies() -> None:
    assert names.is_copy("plan.sync-conflict-20261129-101112-ABCDEFG.md") and names.is_copy("plan.md.orig")
    assert not names.is_copy("original.md") and not names.is_copy("sync-conflict.md")
