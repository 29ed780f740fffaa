"""What the tests of scheduling share: hostile paths, and stand-ins for programs that a test must not really ask.

`crontab` keeps a file instead of the user's table, and refuses a text without a final newline, as that of Debian does;
`systemctl` writes down what it was asked, and remembers which timers are on.
"""

from __future__ import annotations

import os
from pathlib import Path

from mdmem.schedule import Plan

PATHS = [
    "/plain/vault",
    "/with blank/and  two",
    '/it\'s/a "b" c',
    "/100%/50%%",
    "/back\\slash",
    "/back\\\\two\\",
    "/back\\%percent",
    "/back\\'quote",
    "/$HOME/${HOME}/$(touch ran)/`touch ran`/$",
    "/a;touch ran&|<>*?[x]!#~",
    "/ # mdmem nightly 0123456789ab 01234567",
    "/花生/Zoë/🥜",
    "/tab\tand\rreturn\x01\x7f",
    "/%h/%n/%%",
    "/=a=b/c=d",
    "/{a,b}/-rf",
    "/trailing blank ",
]

CRONTAB = """\
#!/bin/sh
table='{folder}/table'
[ -e '{folder}/broken' ] && {{ echo 'crontab: your account has expired' >&2; exit 1; }}
case $1 in
-l) [ -e "$table" ] || {{ echo 'no crontab for ada' >&2; exit 1; }}
    cat "$table" ;;
-)  cat > '{folder}/new'
    if [ -s '{folder}/new' ] && [ -n "$(tail -c 1 '{folder}/new')" ] && [ ! -e '{folder}/lenient' ]; then
        echo 'new crontab file is missing newline before EOF' >&2; exit 1
    fi
    echo x >> '{folder}/writes'
    mv '{folder}/new' "$table" ;;
*)  exit 2 ;;
esac
"""

SYSTEMCTL = """\
#!/bin/sh
[ "$1" = --user ] || exit 2
shift
[ -e '{folder}/offline' ] && {{ echo 'Failed to connect to bus: No medium found' >&2; exit 1; }}
[ "$1" = show ] || [ "$1" = is-enabled ] || echo "$*" >> '{folder}/asked'
mkdir -p '{folder}/on'
command=$1
for name; do
    case $command,$name in
    enable,*.timer) [ -e '{units}'/"$name" ] || {{ echo "Unit $name not found." >&2; exit 1; }}
        touch '{folder}/on'/"$name" ;;
    disable,*.timer) rm -f '{folder}/on'/"$name" ;;
    is-enabled,*.timer) [ -e '{folder}/on'/"$name" ] || exit 1 ;;
    esac
done
exit 0
"""


class System:
    """A folder for PATH with both programs, and what they keep."""

    def __init__(self, folder: Path, units: Path) -> None:
        self.folder = folder
        self.units = units
        self.programs = folder / "bin"
        self.programs.mkdir(parents=True)
        for name, text in {"crontab": CRONTAB, "systemctl": SYSTEMCTL}.items():
            program = self.programs / name
            program.write_text(text.format(folder=folder, units=units))
            program.chmod(0o755)
        self.path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"

    @property
    def table(self) -> bytes | None:
        """The crontab; None when there is none."""
        path = self.folder / "table"
        return path.read_bytes() if path.exists() else None

    @table.setter
    def table(self, text: bytes) -> None:
        (self.folder / "table").write_bytes(text)

    @property
    def writes(self) -> int:
        """How often a crontab was written."""
        path = self.folder / "writes"
        return len(path.read_text().splitlines()) if path.exists() else 0

    @property
    def asked(self) -> list[str]:
        """What `systemctl --user` was told to do."""
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def on(self) -> list[str]:
        """The timers that are on."""
        folder = self.folder / "on"
        return sorted(each.name for each in folder.iterdir()) if folder.exists() else []

    def set(self, name: str) -> None:
        """Make the programs behave: `broken`, `lenient` or `offline`."""
        (self.folder / name).touch()


def plan(vault: str, program: str = "/opt/venv/bin/mdmem", **environment: str) -> Plan:
    """Return what is to run for a vault that need not exist."""
    return Plan(Path(vault), (program,), tuple({"PATH": "/usr/bin:/bin", **environment}.items()))
