"""Commands on what runs by itself: schedule install, show, remove."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mdmem import config
from mdmem.cli import options, terminal
from mdmem.errors import BadInput, NoVault

if TYPE_CHECKING:
    from datetime import datetime

    from mdmem.schedule import By, Outcome, Plan, Slot
    from mdmem.vault.place import Place

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True, pretty_exceptions_enable=False)

Cron = Annotated[bool, typer.Option("--cron", help="By lines of your crontab.")]
Systemd = Annotated[bool, typer.Option("--systemd", help="By timers of your own systemd.")]

PLACES = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "MDMEM_STATE_DIR")
"""Variables without which a job would look for settings, models or state somewhere else."""


@app.callback()
def schedule(ctx: typer.Context) -> None:
    """Let checkpoint, nightly and a weekly verify run by themselves, by cron or systemd.

    Without a further word it shows what is installed.

    \b
    Examples:
      mdmem schedule install
      mdmem schedule install --print --cron
      mdmem schedule remove
    """
    if ctx.invoked_subcommand is None:
        root = ctx.find_root().params
        raise typer.Exit(show(as_json=root.get("as_json", False), vault=root.get("vault")))


@app.command("install")
def install(
    cron: Cron = False,
    systemd: Systemd = False,
    print_only: Annotated[bool, typer.Option("--print", help="Print what would be installed, and do nothing.")] = False,
    yes: options.Yes = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Install the jobs of this vault: hourly checkpoint, nightly at 03:00, a full verify on Sundays.

    Timers of your own systemd where it can be reached, else lines of your crontab. A run that was missed, as the
    machine slept, is caught up once. Doing it again changes nothing. Entries that you have changed are left unless you
    agree; then it exits with 3.

    \b
    Examples:
      mdmem schedule install
      mdmem schedule install --systemd --print
    """
    from mdmem import schedule as schedules
    from mdmem.vault.place import Place

    place = Place.find(config.find_vault(explicit=vault), command="schedule")
    plan = _plan(place.root, place.settings)
    by = _one(cron, systemd) or schedules.choose(plan)
    if print_only:
        _print(plan, by, as_json)
        return 0
    edited = [slot for slot in schedules.slots(plan, by) if slot.state == "changed by hand"]
    done = schedules.install(place, plan, by, force=_agreed(edited, "Replace", yes))
    now = schedules.slots(plan, by)
    notices = list(_notices(done, plan, place.settings))
    if as_json:
        entries = [_entry(slot, by, place) for slot in now]
        changed = {"by": by, "changed": list(done.changed), "left": list(done.left)}
        terminal.value(changed | {"entries": entries, "notices": notices})
    else:
        _rows(now, place)
        _tell_left(done.left)
        for notice in notices:
            terminal.note(notice)
    return 3 if done.left else 0


@app.command("show")
def show(
    cron: Cron = False, systemd: Systemd = False, as_json: options.Json = False, vault: options.Vault = None
) -> int:
    """Show the jobs of this vault that are installed, and whether they still are as they should be.

    Exits with 1 when there are none.

    \b
    Example:
      mdmem schedule show --json
    """
    place, plan = _named(vault)
    found = [(by, slot) for by, slots in _found(plan, _one(cron, systemd)) for slot in slots]
    if as_json:
        shapes = [_entry(slot, by, place) for by, slot in found]
        terminal.value({"vault": str(plan.vault), "id": plan.id, "entries": shapes})
    else:
        _rows([slot for _, slot in found], place)
    if not found and not as_json:
        terminal.note("nothing is scheduled for this vault: `mdmem schedule install`")
    return 0 if found else 1


@app.command("remove")
def remove(
    cron: Cron = False,
    systemd: Systemd = False,
    yes: options.Yes = False,
    as_json: options.Json = False,
    vault: options.Vault = None,
) -> int:
    """Remove the jobs of this vault, from cron and systemd, and nothing else.

    Entries that you have changed are left unless you agree; then it exits with 3. Works for a vault that is gone, when
    it is named. Exits with 1 when there was nothing.

    \b
    Examples:
      mdmem schedule remove
      mdmem --vault ~/old schedule remove
    """
    from mdmem import schedule as schedules

    _, plan = _named(vault)
    found = list(_found(plan, _one(cron, systemd)))
    edited = [slot for _, slots in found for slot in slots if slot.state == "changed by hand"]
    force = _agreed(edited, "Remove", yes)
    done = [schedules.remove(plan.id, by, force=force) for by, _ in found]
    left = [name for each in done for name in each.left]
    if as_json:
        terminal.value({"removed": [name for each in done for name in each.changed], "left": left})
    else:
        for each in done:
            if each.changed:
                terminal.note(f"removed from {_home(each.by)}: {', '.join(each.changed)}")
        _tell_left(left)
        if not found:
            terminal.note("nothing is scheduled for this vault")
    return 3 if left else 0 if found else 1


# What is meant


def _one(cron: bool, systemd: bool) -> "By | None":
    if cron and systemd:
        raise BadInput("--cron and --systemd exclude each other", "give one of them, or neither")
    return "cron" if cron else "systemd" if systemd else None


def _found(plan: "Plan", wanted: "By | None") -> "list[tuple[By, list[Slot]]]":
    """List what a vault has of each kind, or of the one that is wanted; without those of which it has nothing."""
    from mdmem import schedule as schedules

    kinds: tuple[By, ...] = (wanted,) if wanted else ("cron", "systemd")
    return [(by, slots) for by in kinds if (slots := schedules.slots(plan, by))]


def _named(vault: str | None) -> "tuple[Place | None, Plan]":
    """Return the vault that is meant, or the jobs alone of one that is gone. Raises NoVault."""
    from mdmem.vault.place import Place

    try:
        place = Place.find(config.find_vault(explicit=vault), command="schedule")
    except NoVault:
        if vault is None:
            raise
        plan = _plan(config.expand(vault), config.load(None))
        if not _found(plan, None):
            raise
        return None, plan
    return place, _plan(place.root, place.settings)


def _agreed(edited: "Sequence[Slot]", verb: str, yes: bool) -> bool:
    """Ask about entries that a person has changed, where there is somebody to ask."""
    if not edited or yes or not sys.stdin.isatty():
        return yes
    named = ", ".join(f"{slot.name} ({slot.place})" for slot in edited)
    return terminal.confirm(f"{verb} what was changed by hand: {named}?")


# The command that is run


def _plan(root: Path, settings: config.Settings) -> "Plan":
    from mdmem.schedule import Plan

    return Plan(root, _program(), tuple(_environment(settings).items()))


def _program() -> tuple[str, ...]:
    """Return how mdmem runs now: its script, else a module of this interpreter that nothing in a folder can replace."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) == "mdmem" and os.path.isfile(script) and os.access(script, os.X_OK):
        return (script,)
    return (sys.executable, "-P", "-m", "mdmem")


def _environment(settings: config.Settings) -> dict[str, str]:
    """Return what a job needs to know of this environment; nothing that could be a secret."""
    import pwd

    kept = {name: value for name in PLACES if (value := os.environ.get(name, "")).startswith("/")}
    if os.environ.get("TZ"):  # or its days would begin at another hour than those of the shell
        kept["TZ"] = os.environ["TZ"]
    home = os.path.expanduser("~")
    try:
        usual = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        usual = ""
    if home != usual:
        kept["HOME"] = home
    return {"PATH": _path(home, settings)} | dict(sorted(kept.items()))


def _path(home: str, settings: config.Settings) -> str:
    """Return a search path that finds git and the command of the language model, and does not differ by shell."""
    import shutil

    usual = [f"{home}/.local/bin", "/usr/local/bin", "/usr/bin", "/bin"]
    found = (shutil.which(name) for name in ("git", *_command(settings)[:1]))
    further = [os.path.dirname(path) for path in found if path and path.startswith("/")]
    folders = dict.fromkeys([*(folder for folder in further if folder not in usual), *usual])
    return ":".join(folder for folder in folders if ":" not in folder)


def _command(settings: config.Settings) -> list[str]:
    """Return the words of the command that is the language model, none where it is something else."""
    import shlex

    return shlex.split(settings.text("llm.command")) if settings.text("llm.provider") == "command" else []


# What is said


def _print(plan: "Plan", by: "By", as_json: bool) -> None:
    from mdmem import schedule as schedules

    text = os.fsdecode(schedules.printed(plan, by))
    if as_json:
        terminal.value({"by": by, "id": plan.id, "text": text})
    else:
        terminal.exact(text)


def _rows(slots: "Sequence[Slot]", place: "Place | None") -> None:
    for slot in slots:
        state = "" if slot.state == "as installed" else f"  {slot.state}"
        moment = _last(slot, place)
        last = f"{config.local(place.settings, moment):%Y-%m-%d %H:%M}" if place and moment else ""
        terminal.line(f"{slot.job:<10}  {slot.told:<33}  ", slot.place, state, f"  last run {last}" if last else "")


def _entry(slot: "Slot", by: "By", place: "Place | None") -> dict[str, Any]:
    entry = {"name": slot.name, "job": slot.job, "by": by, "when": slot.told, "place": slot.place, "state": slot.state}
    last = _last(slot, place)
    return entry | {"last": last.isoformat() if last else None}


def _last(slot: "Slot", place: "Place | None") -> "datetime | None":
    """Return when the job of an entry last ran, as far as that is kept."""
    from mdmem import schedule as schedules

    return schedules.last_run(place, slot.job) if place else None


def _notices(done: "Outcome", plan: "Plan", settings: config.Settings) -> Iterator[str]:
    """Yield what a person should know who has just installed jobs."""
    if not done.changed and not done.left:
        yield "nothing was to be changed"
    other: By = "cron" if done.by == "systemd" else "systemd"
    if _found(plan, other):
        yield f"{_home(other)} runs these jobs as well: `mdmem schedule remove --{other}`"
    if done.by == "systemd" and not _lingers():
        yield "timers run while you are logged in; `loginctl enable-linger` has them run always"
    given = sorted(config.BY_NAME[name].env for name, origin in settings.origins.items() if origin == "environment")
    if given:
        yield f"only this shell sets {', '.join(given)}: `mdmem config set --user` does so for scheduled runs, too"
    key = settings.text("llm.key_env")
    if settings.text("llm.provider") == "openai" and key and config.secret(key):
        yield f"scheduled runs do not see {key}: {_remedy(done.by, key)}"


def _lingers() -> bool:
    """Tell whether the user's systemd runs when nobody is logged in."""
    import pwd

    try:
        return os.path.exists(f"/var/lib/systemd/linger/{pwd.getpwuid(os.geteuid()).pw_name}")
    except KeyError:
        return False


def _remedy(by: "By", key: str) -> str:
    if by == "cron":
        return f"put a line {key}=… into your crontab, above those of mdmem (`crontab -e`)"
    file = config.settings_file(None, "user").with_name("schedule.env")
    return f"put a line {key}=… into {file}, and keep it to yourself with chmod 600"


def _home(by: "By") -> str:
    return "the crontab" if by == "cron" else "systemd"


def _tell_left(left: Sequence[str]) -> None:
    if left:
        terminal.note(f"changed by hand, and left: {', '.join(left)}; with --yes they are not")
