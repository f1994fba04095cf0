"""``python -m adapters.bot`` is the command ``c4bot``."""

import sys

from adapters.bot.cli import main

sys.exit(main())
