"""Serves the page's static files: style sheets, scripts and pictures.

The files are read once. Their addresses contain a digest of all files. A browser can cache a file for ever,
because in a new version all addresses are different. Scripts import each other by relative addresses.
"""

import gzip
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters.web.compression import accepts_gzip

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_IMPORTS = re.compile(rb'^(?:import|.*\bfrom) "\./(\w+\.js)";$', re.MULTILINE)
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
"""Headers of a file that never changes at its address."""
_VARIES = {"Vary": "Accept-Encoding"}
_COMPRESSED = {"Content-Encoding": "gzip", **_VARIES}


@dataclass(frozen=True, slots=True)
class Assets:
    """All static files, by name."""

    version: str
    contents: dict[str, bytes]
    packed: dict[str, bytes]
    """The same files, compressed by gzip."""
    imports: dict[str, list[str]]
    """The scripts that each script imports."""

    def address(self, name: str) -> str:
        """Return the path of a file. Raises KeyError if there is no such file."""
        self.contents[name]
        return f"/static/{self.version}/{name}"

    def imported(self, names: Sequence[str]) -> list[str]:
        """Return all scripts that some scripts import, also by way of others, without these scripts."""
        found = set(names)
        waiting = list(found)
        while waiting:
            new = set(self.imports[waiting.pop()]) - found
            found |= new
            waiting += new
        return sorted(found.difference(names))

    async def serve(self, request: Request) -> Response:
        """Answer a request for a file."""
        name = request.path_params["name"]
        if name not in self.contents or request.path_params["version"] != self.version:
            raise HTTPException(404, "there is no such file")
        # A weak tag, because the file is the same whether it is compressed or not (RFC 9110, 8.8.3).
        headers = FOREVER | {"ETag": f'W/"{self.version}"', **_VARIES}
        if self.version in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        kind = _TYPES[name.rpartition(".")[2]]
        if accepts_gzip(request.headers):
            return Response(self.packed[name], headers=headers | _COMPRESSED, media_type=kind)
        return Response(self.contents[name], headers=headers, media_type=kind)


@cache
def assets() -> Assets:
    """Return the static files."""
    folder = files(__package__).joinpath("static")
    contents = {each.name: each.read_bytes() for each in folder.iterdir()}
    digest = hashlib.sha256()
    for name in sorted(contents):
        digest.update(name.encode() + b"\0" + contents[name])
    packed = {name: gzip.compress(content, mtime=0) for name, content in contents.items()}
    imports = {
        name: [each.decode() for each in _IMPORTS.findall(content)]
        for name, content in contents.items()
        if name.endswith(".js")
    }
    return Assets(digest.hexdigest()[:12], contents, packed, imports)
