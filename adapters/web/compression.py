"""Compresses answers by gzip, for clients that accept it.

Only whole answers are compressed, which have a Content-Length. Events and exports are sent in pieces, and
compressing them would hold pieces back. The length of an answer reveals no secret (BREACH), because no answer
contains one: there are no cookies and no forms that need a token.
"""

import gzip
import re
from functools import partial

import trio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope, Send

SHORTEST = 1_000
"""Bytes from which an answer is compressed. A shorter one fits into one packet anyway."""
LEVEL = 4
"""Takes half of the time of level 9, for 8 % more bytes: less than 1 ms for a page of 40 KB."""
LARGE = 64_000
"""Bytes above which a thread compresses, because that takes more than a millisecond."""

_TEXTS = ("text/", "application/json", "application/x-ndjson", "application/vnd.chess-pgn")
_NEVER = re.compile(r"q=0(\.0*)?")


def accepts_gzip(headers: Headers) -> bool:
    """Return whether a client accepts gzip (RFC 9110, 12.5.3)."""
    codings = [each.partition(";") for each in headers.get("accept-encoding", "").lower().split(",")]
    weights = {coding.strip(): weight.replace(" ", "") for coding, _, weight in codings}
    weight = weights.get("gzip", weights.get("*"))
    return weight is not None and _NEVER.fullmatch(weight) is None


def compressing(scope: Scope, send: Send) -> Send:
    """Return a `send` that compresses the answer, if it is whole and long enough, and not yet compressed."""
    begin: Message | None = None

    async def send_compressed(message: Message) -> None:
        nonlocal begin
        if message["type"] == "http.response.start" and _is_suitable(Headers(raw=message["headers"])):
            begin = message  # until its body is here
            return
        if begin is not None:
            start, begin = begin, None
            headers = MutableHeaders(raw=start["headers"])
            headers.add_vary_header("Accept-Encoding")
            body = message.get("body", b"")
            if not message.get("more_body", False) and accepts_gzip(Headers(scope=scope)):
                pack = partial(gzip.compress, body, LEVEL, mtime=0)
                body = await trio.to_thread.run_sync(pack) if len(body) > LARGE else pack()
                headers["Content-Encoding"] = "gzip"
                headers["Content-Length"] = str(len(body))
                message = {**message, "body": body}
            await send({**start, "headers": headers.raw})
        await send(message)

    return send_compressed


def _is_suitable(headers: Headers) -> bool:
    """Return whether an answer with these headers is compressed for clients that accept it."""
    if int(headers.get("content-length", 0)) < SHORTEST:
        return False
    # A static file is already in the encoding that the client accepts. It has the header Vary.
    return "vary" not in headers and headers.get("content-type", "").startswith(_TEXTS)
