"""Commands that look whether all is well: doctor, verify."""

from typing import Annotated

import typer

from mdmem.cli import diagnosis, options, session, shapes, terminal, timing
from mdmem.errors import BadInput


def doctor(as_json: options.Json = False, vault: options.Vault = None) -> int:
    """Look for problems in the files, their history and around them, and name the fix.

    Nothing is changed. Whether the indexes agree with the files is what `mdmem verify` looks at. Exits with 3 when
    something should be looked at.

    \b
    Examples:
      mdmem doctor
      mdmem doctor --json
    """
    from mdmem import doctor as doctors

    with session.opened("doctor", vault, as_json) as opened, terminal.progress() as progress:
        found = doctors.examine(opened.place, held=opened.kept_texts(), progress=progress)
        if as_json:
            terminal.value(shapes.examined(found))
        else:
            diagnosis.examined(found)
    return 3 if any(each.severity != "note" for each in found) else 0


def verify(
    sample: Annotated[
        str | None, typer.Option("--sample", metavar="P%", help="Compare this share by words and vectors, too.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Heal what differs, and nothing else.")] = False,
    if_due: timing.IfDue = False,
    quiet: timing.Quiet = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Compare the indexes with the files.

    All files, entries and documents are compared by hash, a sample by its words and vectors; some are searched for by
    their own rarest words. Exits with 3 when something differs and was not healed. With --if-due it runs only when no
    comparison in full (--sample 100%) was done since the last Sunday, 04:30.

    \b
    Examples:
      mdmem verify
      mdmem verify --sample 5% --fix
    """
    share = None if sample is None else _share(sample)
    with session.opened("verify", vault, as_json, say=not quiet) as opened:
        if if_due and timing.is_early(opened, "verify", quiet=quiet, as_json=as_json):
            return 0
        done = opened.verify(sample=share, fix=fix)
        if share == 1:
            timing.note_run(opened, "verify")
        if as_json:
            terminal.value(shapes.verified(done))
        elif done.left or not quiet:
            diagnosis.verified(done)
        if quiet and done.left:
            session.tell(opened.notices)
    return 3 if done.left else 0


def _share(text: str) -> float:
    """Return `5%` or `0.05` as a share. Raises BadInput."""
    number = text.strip()
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1
    if not 0 < share <= 1:
        raise BadInput(f"{text!r} is no share to compare", "write --sample 5%, or 100% for everything")
    return share
