"""The names of commands, files and variables, and defaults that others than the server need to know.

Apart from the table of the server's options, so that a command does not load all of these.
"""

import os

from gateway.options.urls import is_postgresql

DATABASE = "c4gateway.db"
"""Where results are kept, unless something else is asked for."""
PLAYERS_FILE = "c4gateway.players"
"""Where the protected names are, beside the database, unless something else is given."""
TOKEN_FILE = "c4gateway.token"
"""Where the admin token is, beside the database."""
AUDIT = "c4gateway.audit"
"""Where changes are logged, unless something else is given."""
PER_ADDRESS = 512
"""Connections that may be open from one address."""
CONNECTS = 200
"""Connections a second that one address may open."""
ALL_ORIGINS = "*"
"""Stands for all websites among those that may read the API. It opens no websocket."""
WORKER = "C4_WORKER"
"""What the environment of one of several workers has, and that of other servers has not."""
ALONE = "alone"
"""Its value where the workers are a cluster of their own."""
COMMANDS = ("standings", "grades", "games", "show", "export", "import", "backup", "recount", "void", "rename")
"""Commands on what was kept; the first argument names one of them."""
ANALYSIS = "analyse"
"""The command on a position."""
PLAYERS = ("player", "ban", "unban")
"""Commands on who may play."""
OPERATOR = ("who", "kick", "announce", "pause", "resume", "drain", "clear")
"""Commands that a running server carries out."""
SHOWING = "config"
"""The command that shows the options."""
MATCH = "match"
"""The command that plays many games between bots or engines."""
CHECK = "check"
"""The command that checks bots."""
HEALTH = "health"
"""The command that asks a running server how it is."""
EVERY = (*COMMANDS, ANALYSIS, *PLAYERS, *OPERATOR, MATCH, CHECK, SHOWING, HEALTH)
"""All of them. No option comes before such a word, and no other word stands there."""


def beside(where: str | None, name: str) -> str:
    """Return the path of a file beside a database; in the working directory where that is no file."""
    if where is None or is_postgresql(where):
        return name
    return os.path.join(os.path.dirname(where), name)
