"""The Redis server that is the workers' registry without ``--cluster``, and its private folder.

Knows the names and the command line of the Redis program. The Redis server listens on a Unix socket in a
folder that only this user can enter. It opens no port and writes no files.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir, mkdtemp

import trio

from gateway.runtime.disk import is_locked

PROGRAMS = ("redis-server", "valkey-server")
LIMIT = 10.0
"""The number of seconds within which the Redis server must start."""

_PERIOD = 0.02
"""The number of seconds between two attempts to connect to the Redis server."""
_OPTIONS = ("--port", "0", "--save", "", "--appendonly", "no", "--daemonize", "no", "--unixsocketperm", "700")


def command(folder: Path) -> list[str]:
    """Return the command line of a Redis server that uses `folder`. Raises OSError if none is installed."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise OSError(
            "--workers needs a Redis server, and none is installed: apt install redis-server"
            " (or valkey-server), or name one with --cluster URL"
        )
    return [program, *_OPTIONS, "--dir", str(folder), "--unixsocket", str(_socket(folder))]


def url(folder: Path) -> str:
    """Return the URL of the Redis server that uses `folder`. Raises OSError if the path cannot be used."""
    if not set(str(folder)).isdisjoint("%?# ") or len(os.fsencode(_socket(folder))) > 100:
        raise OSError(f"{folder}: no path for a socket; set TMPDIR to a short one, of plain letters")
    return f"unix://{_socket(folder)}"


def environment(ours: Mapping[str, str]) -> dict[str, str]:
    """Return the environment `ours` without the gateway's own variables."""
    others = ("C4GATEWAY_", "PG", "LISTEN_", "NOTIFY_", "WATCHDOG_")
    return {name: text for name, text in ours.items() if not name.startswith(others)}


async def answering(folder: Path) -> None:
    """Wait until the Redis server accepts connections. Raises OSError after `LIMIT` seconds."""
    try:
        with trio.fail_after(LIMIT):
            while True:
                try:
                    stream = await trio.open_unix_socket(_socket(folder))
                    break
                except OSError:
                    await trio.sleep(_PERIOD)
    except trio.TooSlowError as error:
        raise OSError(f"the Redis server does not answer at {_socket(folder)}") from error
    await stream.aclose()


def _socket(folder: Path) -> Path:
    return folder / "redis.sock"


# The folder of the workers' Redis server and sockets. A process locks its folder while it runs. The next
# start removes the folder of a process that was killed.

PREFIX = "c4gateway-workers-"


@contextmanager
def private_folder() -> Iterator[Path]:
    """Yield a new folder, which only this user can enter; remove it after the block. Raises OSError."""
    _remove_left()
    folder = Path(mkdtemp(prefix=PREFIX))
    try:
        with _locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left() -> None:
    """Remove the folders of processes that were killed, as far as possible."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        try:
            # An empty folder may be new, and not yet locked by its process.
            if folder.lstat().st_uid == os.geteuid() and any(folder.iterdir()):
                with _locked(folder):
                    shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # another process uses it, or has just removed it


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder during the block. Raises OSError if another process has locked it."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if not is_locked(number):
            raise BlockingIOError(f"another process holds {folder}")
        yield
    finally:
        os.close(number)
