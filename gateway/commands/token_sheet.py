"""A sheet of tokens to print and to cut into strips, one for each player: one HTML file without scripts.

Pure. Knows how the sheet looks. The descriptions of the dialects have the messages with which a client
enters.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from gateway.options.description import Description

A_PAGE = 8
"""The number of strips on a page."""
HOST = "HOST"
"""The placeholder for the name of a server that is not known."""

_STYLE = """
@page { margin: 10mm 12mm; }
* { box-sizing: border-box; margin: 0; padding: 0; }
html { background: #fff; color: #000; font: 8pt/1.25 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
body { max-width: 190mm; margin: 0 auto; }
.page { break-after: page; }
.page:last-child { break-after: auto; }
.strip {
  display: grid; grid-template-columns: 58mm 1fr; align-items: center; gap: 6mm; min-height: 31mm;
  padding: 1mm 0; border-bottom: 1px dashed #666; break-inside: avoid; overflow-wrap: anywhere;
}
.strip:first-child { border-top: 1px dashed #666; }
h2 { font-size: 14pt; line-height: 1.15; }
code { font: 6.5pt/1.25 "DejaVu Sans Mono", Consolas, Menlo, monospace; white-space: pre-wrap; }
.token code { font-size: 12pt; font-weight: bold; }
dl { display: grid; grid-template-columns: 22mm 1fr; gap: 1mm 2mm; }
dt { font-size: 6.5pt; font-weight: bold; }
dd code { display: block; }
@media screen { body { padding: 12mm; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class Strip(NamedTuple):
    """What one player gets."""

    name: str
    group: str
    token: str


@dataclass(frozen=True, slots=True)
class Way:
    """How players of a dialect enter."""

    description: Description
    address: str
    """Where to connect."""
    table: str

    def lines(self, strip: Strip) -> tuple[str, ...]:
        """Return the messages of a player; none if the dialect's players cannot have its name."""
        if not is_possible(self.description, strip.name):
            return ()
        known = {"name": strip.name, "quoted": json.dumps(strip.name), "token": strip.token}
        return tuple(each.format(**known, table=self.table) for each in self.description.entering)


def is_possible(dialect: Description, name: str) -> bool:
    """Whether a player of this dialect can have the name."""
    return re.fullmatch(dialect.names, name) is not None


def ways(
    dialects: Sequence[Description],
    where: str | None,
    table: str | None,
    ports: Mapping[str, int | None] | None = None,
) -> list[Way]:
    """Return how to enter in each dialect.

    `where` is the name of a host; or the URL of a server with one port for all dialects; or None if it is not
    known. `table` is None for the lobby. `ports` are those of the host, by the names of the dialects, as they
    are given to the server: without any, each dialect has its usual port, else only these dialects have one.
    Raises ValueError if `where` is neither.
    """
    secure, host, port = _place(HOST if where is None else where)
    opened = {name: number for name, number in (ports or {}).items() if number is not None}
    found = list[Way]()
    for each in dialects:
        if not each.entering or (opened and each.name not in opened):
            continue
        if table is not None and not each.has_places:
            continue
        address = f"{host}:{opened.get(each.name, each.port) if port is None else port}"
        if each.scheme:
            path = "" if port is None else each.name
            query = "" if table is None else f"?table={quote(table, safe='')}"
            address = f"{each.scheme}{'s' if secure else ''}://{address}/{path}{query}"
        found.append(Way(each, address, "lobby" if table is None else table))
    return found


def _place(where: str) -> tuple[bool, str, int | None]:
    """Return whether a server is reached by TLS, its host, and the port of all dialects, if there is one."""
    fault = f"{where!r} is not the name of a host, such as c4.example.org, or a URL, such as https://c4.example.org"
    if "://" not in where:
        if not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", where):
            raise ValueError(fault)
        return False, where, None
    try:
        parts = urlsplit(where)
        port = parts.port
    except ValueError as error:
        raise ValueError(fault) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise ValueError(fault)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    secure = parts.scheme == "https"
    return secure, host, port or (443 if secure else 80)


def sheet(strips: Sequence[Strip], found: Sequence[Way], title: str) -> Iterator[str]:
    """Yield the text of the sheet. Names are isolated from the text around them; all texts are escaped."""
    yield f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
"""
    for start in range(0, len(strips), A_PAGE):
        yield '<main class="page">\n' if start == 0 else '<section class="page">\n'
        for strip in strips[start : start + A_PAGE]:
            yield from _strip(strip, found)
        yield "</main>\n" if start == 0 else "</section>\n"
    yield "</body>\n</html>\n"


def _strip(strip: Strip, found: Sequence[Way]) -> Iterator[str]:
    group = f"<p>Group <bdi>{escape(strip.group)}</bdi></p>\n" if strip.group else ""
    words = [f"--name={strip.name}"] if strip.name.startswith("-") else ["--name", strip.name]
    yield f"""\
<article class="strip">
<div>
<h2><bdi>{escape(strip.name)}</bdi></h2>
{group}<p class="token">Token<br><code>{escape(strip.token)}</code></p>
<p>With c4bot, save it as a file, such as <code>token</code>:<br>
<code><bdi>{escape(shlex.join(words))}</bdi> --token-file token</code></p>
</div>
<dl>
"""
    for way in found:
        lines = way.lines(strip)
        yield f"<dt>{escape(way.description.title)}</dt>\n"
        if not lines:
            yield "<dd>does not allow this name</dd>\n"
            continue
        yield f"<dd><code>{escape(way.address)}</code>"
        yield from (f"<code><bdi>{escape(line)}</bdi></code>" for line in lines)
        yield "</dd>\n"
    yield "</dl>\n</article>\n"
