"""URLs in options: which databases there are, and no password on the command line or in what is shown."""

import re
from collections.abc import Callable
from urllib.parse import unquote

MASK = "***"
"""What is shown in the place of a password or a token."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9.+_-]*")
_POSTGRESQL = ("postgresql", "postgres")
_OTHERS = ("sqlite", "file", "mysql", "mariadb", "oracle", "mssql")
"""Databases that a scheme alone names, even if no // follows."""
_USER = re.compile(r"(://[^:/@]*:).*@", re.DOTALL)
_QUERY = re.compile(r"([?&])([^=&]*)=[^&]*")


def masked(text: str) -> str:
    """Return a text without the passwords of the URLs in it."""
    return _QUERY.sub(_masked_value, _USER.sub(rf"\1{MASK}@", text))


def _masked_value(part: re.Match[str]) -> str:
    """Return a part of a query, without its value if that is a password; its name may be percent-encoded."""
    is_secret = unquote(part[2]).casefold().endswith("password")
    return f"{part[1]}{part[2]}={MASK}" if is_secret else part[0]


def no_password(option: str, instead: str) -> Callable[[str | None], str | None]:
    """Return what says what is wrong with an option's URL on the command line, and what to do instead."""

    def fault(url: str | None) -> str | None:
        if url is None or masked(url) == url:
            return None
        return (
            f"the URL of {option} has a password, which the list of processes shows; give the URL {instead}"
        )

    return fault


def is_postgresql(where: str) -> bool:
    """Whether a database is PostgreSQL's, by its URL; any other is a file of SQLite's."""
    return where.partition(":")[0].partition("+")[0].casefold() in _POSTGRESQL


def database(text: str) -> str:
    """Return where a database is: a file, or a URL of PostgreSQL's. Raises ValueError for another URL.

    The error shows only the URL's scheme, since there may be a password in the rest.
    """
    scheme, has_colon, rest = text.partition(":")
    system = scheme.partition("+")[0].casefold()
    is_other = not is_postgresql(text) and ("+" in scheme or rest.startswith("//") or system in _OTHERS)
    if not text or (has_colon and _SCHEME.fullmatch(scheme) and is_other):
        what = f"{scheme}: cannot be used" if text else "nothing is given"
        raise ValueError(f"{what}; give the path of a file (SQLite) or postgresql://...")
    return text


password_of_database = no_password(
    "--db",
    "in the environment, as C4GATEWAY_DB (the server's own may also be in the file of --config), or the"
    " password in ~/.pgpass",
)
