"""Runs many commands in one process, as orders in JSON lines on stdin ask for; `python hostile_driver.py NOTES`.

An order is `{"words": […], "typed": "…", "files": {path: text}}`; its files are written first, beneath the current
folder. In NOTES there is a line for each: exit code, what was printed on both streams. Before each order a file that
is not there is opened, `/mark/<number>`, by which a trace of the system calls is told apart.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from mdmem.cli import app


def main() -> None:
    """Carry out all orders."""
    with open(sys.argv[1], "w", encoding="utf-8", errors="surrogatepass") as notes:
        for number, line in enumerate(sys.stdin):
            with contextlib.suppress(OSError):
                os.open(f"/mark/{number}", os.O_RDONLY)
            notes.write(json.dumps(carry_out(json.loads(line))) + "\n")
            notes.flush()


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    """Write the files of an order and run its command, in this process."""
    for path, text in order.get("files", {}).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode("utf-8", "surrogateescape"))
    typed = order.get("typed", "").encode("utf-8", "surrogateescape")
    sys.stdin = io.TextIOWrapper(io.BytesIO(typed), "utf-8", "surrogateescape")
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            code = app.main(order["words"])
        finally:
            sys.stderr.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            os.close(kept[0])
            os.close(kept[1])
        said = [_all(file) for file in (out, err)]
    return {"code": code, "out": said[0], "err": said[1]}


def _all(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    main()
