"""The database as its owner sees it: through the gateway's commands, and SQLite's own look at its file.

Does not know how anything is stored.
"""

import json
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import trio

from conformance.dialects.script import Game
from conformance.lab.jobs import LoadError
from conformance.lab.kills.games import Result

COMMAND = (sys.executable, "-m", "gateway")


async def stored_in(where: str, token: str) -> list[Result]:
    """Return all games of players whose names begin with `token`. Raises LoadError."""
    lines = await _said("export", "--format", "jsonl", "--db", where)
    return [result for line in lines if (result := result_in(line)).first.startswith(token)]


def result_in(line: str) -> Result:
    """Return what a line of the export says."""
    game = json.loads(line)
    first, second = (player["name"] for player in game["players"])
    return Result(first, second, Game(game["moves"], game["winner"], game["reason"]))


async def recounted(where: str) -> str:
    """Return what the server's own recount says of totals and ratings. Raises LoadError."""
    return "; ".join(await _said("recount", "--db", where))


def integrity(where: str) -> str:
    """Return what SQLite says of its file: `ok`, or what is wrong; ``not SQLite`` without a file."""
    if not Path(where).is_file():
        return "not SQLite"
    try:
        with closing(sqlite3.connect(where)) as connection:
            return "; ".join(str(row[0]) for row in connection.execute("PRAGMA integrity_check"))
    except sqlite3.Error as error:
        return str(error)


async def _said(*words: str, command: Sequence[str] = COMMAND) -> list[str]:
    """Return the lines that a command prints. Raises LoadError."""
    done = await trio.run_process([*command, *words], capture_stdout=True, capture_stderr=True, check=False)
    if done.returncode != 0:
        raise LoadError(f"{words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode().splitlines()
