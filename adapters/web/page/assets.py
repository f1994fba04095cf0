"""The static files of the page: style sheets, modules and pictures.

They are read once. Their address contains a digest of all files, so a browser can keep them for ever and
still gets the files of a new version; a module finds the other modules beside it.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
"""Headers of a file that never changes at its address."""


@dataclass(frozen=True, slots=True)
class Assets:
    """All static files, by name."""

    version: str
    contents: dict[str, bytes]

    def address(self, name: str) -> str:
        """Return the path of a file. Raises KeyError if there is no such file."""
        self.contents[name]
        return f"/static/{self.version}/{name}"

    async def serve(self, request: Request) -> Response:
        """Answer a request for one of them."""
        content = self.contents.get(request.path_params["name"])
        if content is None or request.path_params["version"] != self.version:
            raise HTTPException(404, "there is no such file")
        kind = _TYPES[request.path_params["name"].rpartition(".")[2]]
        return Response(content, headers=FOREVER, media_type=kind)


@cache
def assets() -> Assets:
    """Return the static files."""
    folder = files(__package__).joinpath("static")
    contents = {each.name: each.read_bytes() for each in folder.iterdir()}
    digest = hashlib.sha256()
    for name in sorted(contents):
        digest.update(name.encode() + b"\0" + contents[name])
    return Assets(digest.hexdigest()[:12], contents)
