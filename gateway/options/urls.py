"""URLs in options: the kinds of databases, and passwords, which must not be typed or shown."""

import re
from collections.abc import Callable
from urllib.parse import unquote

MASK = "***"
"""The text shown in place of a password or a token."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9.+_-]*")
_POSTGRESQL = ("postgresql", "postgres")
_OTHERS = ("sqlite", "file", "mysql", "mariadb", "oracle", "mssql")
"""Schemes of other databases. A text with one of these schemes is a URL even without //."""
_USER = re.compile(r"(://[^:/@]*:).*@|(://[^:/?#\s]*:)[^/?#\s]*@", re.DOTALL)
"""A user and a password in a URL. The first form allows any character in the password, the second an @ in the
user, as `urlsplit` does."""
_QUERY = re.compile(r"([?&])([^=&]*)=[^&]*")


def masked(text: str) -> str:
    """Return a text with the passwords of all URLs in it masked."""
    text = _USER.sub(lambda user: f"{user[1] or user[2]}{MASK}@", text)
    return _QUERY.sub(lambda part: f"{part[1]}{part[2]}={MASK}" if _is_secret(part) else part[0], text)


def has_password(url: str) -> bool:
    """Whether a URL has a password, or the mask in place of one."""
    return _USER.search(url) is not None or any(map(_is_secret, _QUERY.finditer(url)))


def _is_secret(part: re.Match[str]) -> bool:
    """Whether a parameter of a query is a password, by its name, which may be percent-encoded."""
    return unquote(part[2]).casefold().endswith("password")


def no_password(option: str, instead: str) -> Callable[[str | None], str | None]:
    """Return a check for `Kind.fault_if_typed`, which rejects URLs with a password.

    `instead` is a text that says where else to give the URL.
    """

    def fault(url: str | None) -> str | None:
        if url is None or not has_password(url):
            return None
        return (
            f"the URL of {option} has a password, which the list of processes shows; give the URL {instead}"
        )

    return fault


def is_postgresql(where: str) -> bool:
    """Whether a database is a URL of PostgreSQL, and not the path of an SQLite file."""
    return where.partition(":")[0].partition("+")[0].casefold() in _POSTGRESQL


def database(text: str) -> str:
    """Return the path of an SQLite file or a PostgreSQL URL unchanged. Raises ValueError for another URL.

    The error shows only the scheme, since the rest may have a password.
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
