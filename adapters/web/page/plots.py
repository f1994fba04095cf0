"""The library that draws large plots in the browser: Vega-Lite, from the optional package vl-convert-python.

Nothing of it is in this package. A process of its own puts it together when it is first asked for, which
takes some seconds; then it is kept in memory, and by browsers for good. It interprets expressions instead of
compiling them (``ast``), so that the page's policy need not allow ``eval``.
"""

import gzip
import logging
import math
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PACKAGE = "vl-convert-python"
PATIENCE = 60.0
"""Seconds until the library is there, or will not be."""
PAUSE = 60.0
"""Seconds until it is tried again, after its process was killed or too slow."""
_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
_COMPRESSED = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
_PROGRAM = """
import gzip, sys, vl_convert
sys.stdout.buffer.write(gzip.compress(vl_convert.javascript_bundle("export default vegaEmbed;").encode()))
"""

logger = logging.getLogger(__name__)


class Library:
    """The library, as one module of JavaScript."""

    def __init__(self, command: list[str] | None = None) -> None:
        """`command` writes it, compressed by gzip, to its standard output; None for what the package has."""
        self._command = command or [sys.executable, "-c", _PROGRAM]
        self._version = _installed()
        self._content: bytes | None = None
        """Nothing where it cannot be made, which would not go better next time; None where it may."""
        self._again = -math.inf
        """When it is worth trying."""
        self._one_at_a_time = trio.Lock()

    @property
    def address(self) -> str | None:
        """The path at which it is served; None where the package is not installed."""
        return None if self._version is None else f"/plots/{self._version}.js"

    async def serve(self, request: Request) -> Response:
        """Answer a request for it."""
        if self._version is None or request.path_params["version"] != self._version:
            raise HTTPException(404, "there is no such file")
        async with self._one_at_a_time:
            if self._content is None and trio.current_time() >= self._again:
                self._content = await self._made()
                self._again = trio.current_time() + PAUSE
        if not self._content:
            raise HTTPException(503, f"{PACKAGE} makes no plots")
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self._content, headers=_HEADERS | _COMPRESSED, media_type="text/javascript")
        return Response(gzip.decompress(self._content), headers=_HEADERS, media_type="text/javascript")

    def routes(self) -> list[Route]:
        """Return the route at which it is served."""
        return [Route("/plots/{version}.js", self.serve)]

    async def _made(self) -> bytes | None:
        failed = None
        with trio.move_on_after(PATIENCE):
            done = await trio.run_process(
                self._command, capture_stdout=True, stderr=subprocess.DEVNULL, check=False
            )
            if done.returncode == 0:
                return done.stdout
            failed = b"" if done.returncode > 0 else None
        logger.warning("%s makes no plots; the page goes without them", PACKAGE, extra={"event": "no_plots"})
        return failed


def _installed() -> str | None:
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return None
