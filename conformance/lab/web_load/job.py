"""The process of those who read by web: what they ask for comes in by stdin, what they got goes out.

Each has a connection, asks for one path over and over, and reads all of what it is answered. It gives way to
everybody else, for in earnest it would be on other machines.
"""

import os
from typing import Any

import trio

from conformance.lab.jobs import LoadError, serve

LAST_CHUNK = b"\r\n0\r\n\r\n"
_LENGTH = b"\r\ncontent-length: "


def work(words: Any) -> object:
    """Read for so many seconds."""
    os.nice(19)
    got = {"answers": 0, "bytes": 0}
    trio.run(_read_all, words, got)
    return got


async def _read_all(words: dict[str, Any], got: dict[str, int]) -> None:
    with trio.move_on_after(words["seconds"]):
        async with trio.open_nursery() as nursery:
            for _ in range(words["readers"]):
                nursery.start_soon(_read_on, words["port"], words["path"], got)


async def _read_on(port: int, path: str, got: dict[str, int]) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        while True:
            await stream.send_all(request)
            await _read_one(stream, got)
            got["answers"] += 1


async def _read_one(stream: trio.SocketStream, got: dict[str, int]) -> None:
    """Read one answer, of which only its end matters. Raises LoadError."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += await _some(stream, got)
    head, _, tail = head.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise LoadError(f"the web answers {head.splitlines()[0]!r}")
    _, is_there, rest = head.lower().partition(_LENGTH)
    left = int(rest.split()[0]) - len(tail) if is_there else None
    while left or (left is None and not tail.endswith(LAST_CHUNK)):
        data = await _some(stream, got)
        left, tail = (None, (tail + data)[-len(LAST_CHUNK) :]) if left is None else (left - len(data), b"")


async def _some(stream: trio.SocketStream, got: dict[str, int]) -> bytes:
    data = bytes(await stream.receive_some(1 << 18))
    if not data:
        raise LoadError("the web hung up")
    got["bytes"] += len(data)
    return data


if __name__ == "__main__":
    serve(work)
