"""``python -m gateway`` is the command ``c4gateway``."""

import sys

from gateway.cli import main

sys.exit(main())
