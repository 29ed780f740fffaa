"""`python -m mdmem`."""

import sys

from mdmem.cli.app import main

sys.exit(main())
