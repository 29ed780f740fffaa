"""`python -m mdmem`, and where the `mdmem` script begins: so early that an interrupted import is no traceback."""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        from mdmem.cli import app
    except KeyboardInterrupt:
        return 130
    return app.main()


if __name__ == "__main__":
    sys.exit(main())
