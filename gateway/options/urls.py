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
_USER = re.compile(r"(://[^:/@]*:).*@|(://[^:/?#\s]*:)[^/?#\s]*@", re.DOTALL)
"""A user and a password: with any sign in the password, or, as `urlsplit` reads it, an @ in the user."""
_QUERY = re.compile(r"([?&])([^=&]*)=[^&]*")


def masked(text: str) -> str:
    """Return a text without the passwords of the URLs in it."""
    text = _USER.sub(lambda user: f"{user[1] or user[2]}{MASK}@", text)
    return _QUERY.sub(lambda part: f"{part[1]}{part[2]}={MASK}" if _is_secret(part) else part[0], text)


def has_password(url: str) -> bool:
    """Whether a URL has a password, be it the one that `masked` shows."""
    return _USER.search(url) is not None or any(map(_is_secret, _QUERY.finditer(url)))


def _is_secret(part: re.Match[str]) -> bool:
    """Whether a part of a query is a password, by its name, which may be percent-encoded."""
    return unquote(part[2]).casefold().endswith("password")


def no_password(option: str, instead: str) -> Callable[[str | None], str | None]:
    """Return what says what is wrong with an option's URL on the command line, and what to do instead."""

    def fault(url: str | None) -> str | None:
        if url is None or not has_password(url):
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
