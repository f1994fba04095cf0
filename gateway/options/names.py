"""The names of commands, files and variables, and the defaults that commands share with the server.

They are not in the table of the server's options, so that commands need not load that table.
"""

import os

from gateway.options.urls import is_postgresql

DATABASE = "c4gateway.db"
"""The default path of the database."""
PLAYERS_FILE = "c4gateway.players"
"""The default name of the file of protected names, in the folder of the database."""
TOKEN_FILE = "c4gateway.token"
"""The name of the file with the admin token, in the folder of the database."""
AUDIT = "c4gateway.audit"
"""The default path of the audit log."""
PER_ADDRESS = 512
"""The default limit of open connections from one address."""
CONNECTS = 200
"""The default limit of connections per second from one address."""
ALL_ORIGINS = "*"
"""The origin that lets all websites read the API. It does not permit websockets."""
WORKER = "C4_WORKER"
"""The environment variable that only workers of a supervisor have."""
ALONE = "alone"
"""The value of `WORKER` if the workers are a cluster of their own."""
COMMANDS = ("standings", "grades", "games", "show", "export", "import", "backup", "recount", "void", "rename")
"""Commands that use stored results."""
ANALYSIS = "analyse"
"""The command that analyses a position."""
PLAYERS = ("player", "ban", "unban")
"""Commands for protected names and bans."""
OPERATOR = ("who", "kick", "announce", "pause", "resume", "drain", "clear")
"""Commands that a running server carries out."""
SHOWING = "config"
"""The command that shows the options."""
MATCH = "match"
"""The command that plays many games between bots or engines."""
CHECK = "check"
"""The command that checks bots."""
TOURNAMENT = "tournament"
"""The command on tournaments."""
HEALTH = "health"
"""The command that checks the health of a running server."""
EVERY = (*COMMANDS, ANALYSIS, *PLAYERS, *OPERATOR, TOURNAMENT, MATCH, CHECK, SHOWING, HEALTH)
"""All commands. A command is always the first argument."""


def beside(where: str | None, name: str) -> str:
    """Return the path of a file in the folder of a database; only `name` if the database is not a file."""
    if where is None or is_postgresql(where):
        return name
    return os.path.join(os.path.dirname(where), name)
