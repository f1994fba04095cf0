"""Serves the page's static files (style sheets, scripts and pictures), and the library for plots.

The files are read once. Their addresses contain a digest of all files. A browser can cache a file for ever,
because in a new version all addresses are different. Scripts import each other by relative addresses.
"""

import gzip
import hashlib
import logging
import math
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.compression import accepts_gzip

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
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

    def address(self, name: str) -> str:
        """Return the path of a file. Raises KeyError if there is no such file."""
        self.contents[name]
        return f"/static/{self.version}/{name}"

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
    return Assets(digest.hexdigest()[:12], contents, packed)


# The library that draws large plots in the browser: Vega-Lite, from the optional package vl-convert-python.
#
# A separate process bundles the library at the first request, which takes some seconds. The bundle stays in
# memory, and in the browsers' caches. The library interprets expressions (``ast``) and does not compile them,
# so the page's policy can forbid ``eval``.

PACKAGE = "vl-convert-python"
PATIENCE = 180.0
"""Seconds that the process has to bundle the library. On a busy machine it is slow: its priority is low."""
PAUSE = 60.0
"""Seconds until the next attempt, after the process was killed or too slow."""
_PROGRAM = """
import gzip, sys, vl_convert
sys.stdout.buffer.write(gzip.compress(vl_convert.javascript_bundle("export default vegaEmbed;").encode()))
"""

logger = logging.getLogger(__name__)


class Library:
    """The library, as one module of JavaScript."""

    def __init__(self, command: list[str] | None = None) -> None:
        """`command` writes the library, compressed by gzip, to its standard output.

        By default, a Python program does this with the package.
        """
        self._command = command or [sys.executable, "-P", "-c", _PROGRAM]
        self._version = _installed()
        self._content: bytes | None = None
        """The library; empty if it cannot be bundled at all; None if it is not bundled yet."""
        self._plain: bytes | None = None
        """The library without compression; None until a client has asked for it in this form."""
        self._again = -math.inf
        """When the next attempt may begin."""
        self._one_at_a_time = trio.Lock()

    @property
    def address(self) -> str | None:
        """The path of the library; None if the package is not installed."""
        return None if self._version is None else f"/plots/{self._version}.js"

    async def serve(self, request: Request) -> Response:
        """Answer a request for the library."""
        if self._version is None or request.path_params["version"] != self._version:
            raise HTTPException(404, "there is no such file")
        async with self._one_at_a_time:
            if self._content is None and trio.current_time() >= self._again:
                self._content = await self._made()
                self._again = trio.current_time() + PAUSE
        if not self._content:
            raise HTTPException(503, f"{PACKAGE} makes no plots")
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self._content, headers=FOREVER | _COMPRESSED, media_type="text/javascript")
        async with self._one_at_a_time:
            if self._plain is None:
                self._plain = await trio.to_thread.run_sync(gzip.decompress, self._content)
        return Response(self._plain, headers=FOREVER, media_type="text/javascript")

    def routes(self) -> list[Route]:
        """Return the library's route."""
        return [Route("/plots/{version}.js", self.serve)]

    async def _made(self) -> bytes | None:
        """Bundle the library and return it; empty if it cannot be bundled, None if a retry may succeed."""
        failed = None
        with trio.move_on_after(PATIENCE):
            done = await trio.run_process(
                self._command, capture_stdout=True, stderr=subprocess.DEVNULL, check=False
            )
            if done.returncode == 0:
                return done.stdout
            failed = b"" if done.returncode > 0 else None
        logger.warning("%s makes no plots; the page has none", PACKAGE, extra={"event": "no_plots"})
        return failed


def _installed() -> str | None:
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return None
