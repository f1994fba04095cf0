"""The names of commands and files, and usual values of options that others know, too.

Apart from the table of the server's options, so that a command does not wait for all of these.
"""

import os
import re
from urllib.parse import unquote

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
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9.+_-]*")
_POSTGRESQL = ("postgresql", "postgres")
_USER = re.compile(r"(://[^:/@]*:).*@", re.DOTALL)
_QUERY = re.compile(r"([?&])([^=&]*)=[^&]*")
MASK = "***"
"""What is shown in the place of a password or a token."""
_OTHERS = ("sqlite", "file", "mysql", "mariadb", "oracle", "mssql")
"""Databases that a scheme alone names, even if no // follows."""
_TYPED_PASSWORD = (
    "the URL of --db has a password, which the list of processes shows; give the URL in the environment, as"
    " C4GATEWAY_DB (the server's own may also be in the file of --config), or the password in ~/.pgpass"
)
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
    if where is None or where.partition(":")[0].partition("+")[0].casefold() in _POSTGRESQL:
        return name
    return os.path.join(os.path.dirname(where), name)


def masked(text: str) -> str:
    """Return a text without the passwords of the URLs in it."""
    return _QUERY.sub(_masked_value, _USER.sub(rf"\1{MASK}@", text))


def _masked_value(part: re.Match[str]) -> str:
    """Return a part of a query, without its value if that is a password; its name may be percent-encoded."""
    is_secret = unquote(part[2]).casefold().endswith("password")
    return f"{part[1]}{part[2]}={MASK}" if is_secret else part[0]


def typed_password(database: str | None) -> str | None:
    """Return what is wrong with a database on the command line."""
    return _TYPED_PASSWORD if database is not None and masked(database) != database else None


def database(text: str) -> str:
    """Return where a database is: a file, or a URL of PostgreSQL's. Raises ValueError for another URL.

    The error shows only the URL's scheme, since there may be a password in the rest.
    """
    scheme, has_colon, rest = text.partition(":")
    system = scheme.partition("+")[0].casefold()
    is_other = system not in _POSTGRESQL and ("+" in scheme or rest.startswith("//") or system in _OTHERS)
    if not text or (has_colon and _SCHEME.fullmatch(scheme) and is_other):
        what = f"{scheme}: cannot be used" if text else "nothing is given"
        raise ValueError(f"{what}; give the path of a file (SQLite) or postgresql://...")
    return text
