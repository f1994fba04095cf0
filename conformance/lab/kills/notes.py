"""What the commands share that end a server over and over: what clients were told, and what is told of a run.

Knows loads of clients, the database's place, and the words of a report. Does not know how a server is ended.
"""

from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from conformance.arguments import write_json
from conformance.dialects.script import Game
from conformance.lab.kills.games import LENGTH, Result
from conformance.lab.kills.load import Load

OPTIONS = ("--rounds", str(LENGTH), "--games-per-pair", "0", "--log-level", "error")
PATIENCE = 60.0
"""Seconds that a server has for telling the results without which it is not ended."""
_SHOWN = 20
"""So many of each kind of trouble are shown."""


@dataclass(slots=True)
class Notes:
    """What the clients were told until now."""

    token: str
    """What all names of this run begin with."""
    told: set[Result] = field(default_factory=set)
    tellings: Counter[str] = field(default_factory=Counter)
    """How many results were told, by dialect; a game has up to two."""
    played: dict[str, tuple[Game, ...]] = field(default_factory=dict)
    moments: list[float] = field(default_factory=list)
    """When the server was killed, in seconds from when results flowed."""
    idle: int = 0
    """How many kills came before as many results were told as were asked for."""

    def add(self, load: Load) -> int:
        """Take in what a load was told; return how many games."""
        before = len(self.told)
        for player in load.players:
            self.told.update(player.results)
            self.tellings[player.dialect] += len(player.results)
        self.played |= load.games
        return len(self.told) - before


def new_database(command: str) -> str:
    """Return where a command may have a new database, in a folder of its own."""
    return str(Path(mkdtemp(prefix=f"{command}-")) / f"{command}.db")


def in_words(rows: Mapping[str, object], troubles: Mapping[str, Sequence[object]], *, is_good: bool) -> str:
    """Return figures by name, some of each kind of trouble, and a verdict: lines with their ends."""
    width = max(map(len, rows)) + 2
    lines = [f"{name + ':':{width}}{value}" for name, value in rows.items()]
    lines += [f"{word}: {each}" for word, some in troubles.items() for each in some[:_SHOWN]]
    return "\n".join([*lines, "good" if is_good else "NOT GOOD"]) + "\n"


def told(text: str, data: Mapping[str, Any], options: Namespace, where: str) -> int:
    """Tell what came of a run, to people and machines; return the exit status."""
    print(text, end="")
    if data["good"] and not options.db:
        rmtree(Path(where).parent)  # otherwise somebody will want to see it
    write_json(options.json, data)
    return 0 if data["good"] else 1
