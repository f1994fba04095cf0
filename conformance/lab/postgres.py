"""A PostgreSQL server of our own, for a command that needs one.

Knows its programs and options. Does not know what is kept there.
"""

import os
import pwd
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory

import trio

from conformance.lab.jobs import LoadError

_POSTGRES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin")
_USERS = ("postgres", "nobody")


class Postgres:
    """A PostgreSQL server on a socket of its own."""

    def __init__(self, folder: Path) -> None:
        """Raises LoadError where it could not be run."""
        self._folder = folder
        found = [each for place in _POSTGRES for each in Path("/").glob(place[1:])]
        self._path = os.pathsep.join([*map(str, found), os.environ["PATH"]])
        self._user = _user_other_than_root() if os.getuid() == 0 else None

    @property
    def url(self) -> str:
        """Where nodes find it."""
        return f"postgresql://c4@/postgres?host={self._folder}"

    async def start(self) -> None:
        """Make it, and start it. Raises LoadError."""
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        locale = ("--encoding", "UTF8", "--locale", "C", "--locale-provider", "icu", "--icu-locale", "en")
        await self._do("initdb", "--username", "c4", "--auth", "trust", *locale)
        where = f"-c fsync=off -c listen_addresses='' -c unix_socket_directories='{self._folder}'"
        await self._do("pg_ctl", "--wait", "--log", str(self._folder / "log"), "--options", where, "start")

    async def restart(self) -> None:
        """Restart it, as after a crash. Raises LoadError."""
        await self._do("pg_ctl", "--wait", "--mode", "immediate", "restart")

    async def stop(self) -> None:
        """Stop it. Raises LoadError."""
        await self._do("pg_ctl", "--wait", "--mode", "immediate", "stop")

    async def _do(self, command: str, *words: str) -> None:
        program = shutil.which(command, path=self._path)
        if program is None:
            raise LoadError(f"there is no {command}: this needs PostgreSQL")
        whole = [program, *words, "--pgdata", f"{self._folder}/data"]
        log = self._folder.with_name("commands")
        with log.open("ab") as said:
            done = await trio.run_process(
                whole, user=self._user, cwd=self._folder, stdout=said, stderr=said, stdin=DEVNULL, check=False
            )
        if done.returncode != 0:
            raise LoadError(f"{command} failed: {log.read_text(errors='replace')[-1000:]}")


@asynccontextmanager
async def postgres() -> AsyncIterator[Postgres]:
    """A PostgreSQL server for as long as the block lasts. Raises LoadError."""
    with TemporaryDirectory(prefix="c4lab-", ignore_cleanup_errors=True) as name:
        server = Postgres(_within(Path(name)))
        await server.start()
        try:
            yield server
        finally:
            with trio.CancelScope(shield=True):
                await server.stop()


def _within(folder: Path) -> Path:
    """Make a folder that another user, who runs the server, finds his own in."""
    folder.chmod(0o755)
    found = folder / "postgres"
    found.mkdir()
    return found


def _user_other_than_root() -> str:
    """Return who is to run a server that root may not run. Raises LoadError."""
    there = {each.pw_name for each in pwd.getpwall()}
    found = next((user for user in _USERS if user in there), None)
    if found is None:
        raise LoadError(f"PostgreSQL does not run as root, and there is no user {' or '.join(_USERS)} here")
    return found
