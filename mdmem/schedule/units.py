"""Units of systemd as text: what they say, and how a command is written in one.

Pure. The first line of each names the job, the vault's id, and a sum of all below it, which tells whether somebody has
changed the file since.
"""

from __future__ import annotations

import re

from mdmem.errors import Refused
from mdmem.schedule.jobs import JOBS, Job, Plan, State, digest

MARK = re.compile(rb"# mdmem (?P<name>[a-z]+) (?P<id>[0-9a-f]{12}) (?P<sum>[0-9a-f]{8})\n")

SERVICE = """\
# {written}

[Unit]
Description={description}
{after}
[Service]
Type=oneshot
ExecStart={command}
{environment}
# NAME=value lines of your own, such as the key of a language model; keep it to yourself with chmod 600.
EnvironmentFile=-%E/mdmem/schedule.env
# Another mdmem was at it: the next run goes on.
SuccessExitStatus=11
TimeoutStartSec=6h
Nice=10
IOSchedulingClass=idle
NoNewPrivileges=yes
"""

TIMER = """\
# {written}

[Unit]
Description={description}

[Timer]
OnCalendar={calendar}
# Once, when the machine was off or asleep at that time.
Persistent=true
RandomizedDelaySec=2min

[Install]
WantedBy=timers.target
"""

WRITTEN = "Written by `mdmem schedule install`; `systemctl --user edit` is the place for changes that last."


def name(job: str, id: str, kind: str) -> str:
    """Return the file name of a unit."""
    return f"mdmem-{job}-{id}.{kind}"


def timers(id: str) -> list[str]:
    """Return the names of a vault's timers."""
    return [name(job.name, id, "timer") for job in JOBS]


def files(plan: Plan) -> dict[str, bytes]:
    """Return the units of a vault by file name. Raises Refused for a path that no unit can hold."""
    found: dict[str, bytes] = {}
    for job in JOBS:
        description = f"mdmem {job.name}, {_described(str(plan.vault))}"
        shared = {"written": WRITTEN, "description": description}
        service = SERVICE.format(
            after=_after(job, plan.id),
            command=_command(plan, job),
            environment="\n".join(f"Environment={quote(f'{key}={value}')}" for key, value in plan.environment),
            **shared,
        )
        timer = TIMER.format(calendar=job.calendar, **shared)
        for kind, text in (("timer", timer), ("service", service)):
            body = text.encode()
            found[name(job.name, plan.id, kind)] = f"# mdmem {job.name} {plan.id} {digest(body)}\n".encode() + body
    return found


def _command(plan: Plan, job: Job) -> str:
    """Return the command line of a service; its first word is a path, in which `$` means nothing, unlike after it."""
    words = plan.words(job)
    first = [] if "$" not in words[0] else ["/bin/sh", "-c", 'exec "$0" "$@"']
    return " ".join(quote(word).replace("$", "$$") for word in (*first, *words))


def _after(job: Job, id: str) -> str:
    """Let a job wait for those before it in the table, where they are running: cron's second look is not needed."""
    before = JOBS[: JOBS.index(job)]
    return f"After={' '.join(name(each.name, id, 'service') for each in before)}\n" if before else ""


def quote(word: str) -> str:
    """Return a word as systemd reads it, but for `$`, which only a command line expands. Raises Refused."""
    try:
        word.encode()
    except UnicodeEncodeError:
        hint = "use --cron, or give the folder another name"
        raise Refused(f"a unit of systemd holds UTF-8 alone, and {word!r} is none", hint) from None
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", escaped) + '"'


def _described(text: str) -> str:
    """Return a text for people, where nothing is unquoted: a blank for what would end the line or hide."""
    return re.sub(r"[\x00-\x1f\x7f\\]", " ", text).replace("%", "%%")


def state(data: bytes | None, wanted: bytes) -> State:
    """Compare a unit's file, None where there is none, with what it should hold."""
    if data is None:
        return "missing"
    mark = MARK.match(data)
    if mark is None or mark["sum"].decode() != digest(data[mark.end() :]):
        return "changed by hand"
    return "as installed" if data == wanted else "another version"
