"""The command ``c4gateway match``: options in, games played, a table out.

It stops in good order on Ctrl-C, SIGTERM and SIGHUP: what was played is shown, and the match can go on.
"""

import secrets
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import trio

from adapters.match import bots
from adapters.match.engines import EngineTable
from adapters.match.match import Match, Plan
from adapters.match.options import STATE, Options, numbered, parse, test_in
from adapters.match.screen import Screen, stderr
from adapters.match.wired import WireTable
from gateway.game.ids import RUNS, game_ids
from gateway.game.text import json_text
from gateway.match import table
from gateway.match.journal import Journal
from gateway.match.table import Progress
from gateway.options.terminal import in_one_line, write_out
from gateway.runtime.children import ends
from gateway.store.formats import jsonl, pgn

LIVE = 100
"""Samples of the bootstrap while games go on."""


def main(arguments: Sequence[str]) -> int:
    """Play; return the exit status."""
    options = parse(arguments)
    sys.setswitchinterval(1e-4)  # a thread that computes a table gives way to the games
    status = 1
    try:
        with _journal(options) as journal:
            status = trio.run(_played, options, journal)
    except* (OSError, ValueError) as errors:
        print(f"c4gateway: error: {in_one_line(errors)}", file=sys.stderr)
    except* KeyboardInterrupt:  # before anybody listened for it
        status = 128 + signal.SIGINT
    return status


def _journal(options: Options) -> Journal:
    """Open the file of the match. Raises OSError, ValueError."""
    if not options.settings:
        return Journal.old(options.state)
    state = options.state
    while True:
        try:
            return Journal.new(state, options.settings)
        except FileExistsError:
            if not options.is_numbered:
                what = "if a match is in it, --resume goes on with it; --state takes another file"
                raise ValueError(f"{state} is there already; {what}") from None
            state = numbered(1)  # another match has begun here since


async def _played(options: Options, journal: Journal) -> int:
    """Play, and return the exit status."""
    run = _Run(options, journal)
    signals = await run.play(options.concurrency)
    try:
        run.show()
    finally:  # the files do not need a standard output that works
        run.write(options, journal)
    if signals:
        print(f"stopped; to go on: c4gateway match --resume --state {journal.path}", file=sys.stderr)
        return 128 + signals[0]
    return run.status


class _Run:
    """One run of the command."""

    def __init__(self, options: Options, journal: Journal) -> None:
        logs = options.logs or journal.path.with_name(f"{journal.path.name}.logs")
        logs.mkdir(parents=True, exist_ok=True)
        settings = journal.settings
        self._test = test_in(settings)
        self._screen = Screen(self._live, self._line, stderr())
        if options.is_numbered and journal.path.name != STATE:
            self._screen.tell(f"the games are kept in {journal.path}")
        plan = _plan(settings, recover=options.recover)
        self._match = Match(plan, journal, logs, game_ids(secrets.randbelow(RUNS)), self._screen.tell)
        self._match.over = lambda: table.decided(self._match.tally, self._test, self._match.failed)
        self._began = time.monotonic()

    @property
    def status(self) -> int:
        """0 where all is well."""
        refused = self._test is not None and self._match.tally.meetings[0].repeats
        return 1 if refused or self._match.failed else 0

    async def play(self, tables: int) -> list[int]:
        """Play until the end, or a signal; return the signals."""
        signals = list[int]()
        with trio.open_signal_receiver(*ends()) as received:
            async with trio.open_nursery() as nursery:

                async def stop() -> None:
                    signals.append(await anext(received))
                    self._match.enough.set()

                nursery.start_soon(stop)
                nursery.start_soon(self._screen.run)
                await run(self._match, tables)
                nursery.cancel_scope.cancel()
        return signals

    def show(self) -> None:
        """Print how it stands. Raises OSError."""
        lines = [*self._lines(table.SAMPLES), "", *table.details(self._match.tally, self._match.failed)]
        write_out(f"{line}\n" for line in lines)

    def write(self, options: Options, journal: Journal) -> None:
        """Write what was asked for. Raises OSError."""
        for path, form in ((options.pgn, pgn.write), (options.jsonl, jsonl.write)):
            if path is not None:
                _write(path, form(played.record for played in journal.games()))
        if options.json is not None:
            found = table.as_object(self._match.tally, self._progress(), self._test)
            _write(options.json, iter([json_text(found, indent=2) + "\n"]))

    async def _live(self) -> list[str]:
        """Return how it stands; a thread works that out, so that no game has to wait for it."""
        return await trio.to_thread.run_sync(self._lines, LIVE)

    def _line(self) -> str:
        """Return how it stands, in short."""
        return "; ".join(table.summary(self._match.tally, self._progress(), self._test))

    def _lines(self, samples: int) -> list[str]:
        return table.standing(self._match.tally, self._progress(), self._test, samples)

    def _progress(self) -> Progress:
        match = self._match
        left = 0 if match.over() else match.schedule.left
        return Progress(match.wanted, match.played, time.monotonic() - self._began, left, match.failed)


def _write(path: Path, pieces: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(pieces)


def _plan(settings: dict[str, Any], *, recover: bool) -> Plan:
    """Return what the file of a match says. Raises ValueError."""
    try:
        return Plan(
            players=[(name, who) for name, who in settings["players"]],
            strict=bool(settings.get("strict")),  # files of version 0.2.0 have neither of the two
            recover=recover or bool(settings.get("recover")),
            **{
                key: settings[key]
                for key in ("games", "gauntlet", "clock", "idle", "think", "discs", "openings", "seed")
            },
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"the file of the match lacks something: {error}") from None


# Who plays whom next: tables take pairings, until all is played or no further game is needed.


async def run(match: Match, tables: int) -> None:
    """Play at so many tables at once. Raises OSError, perhaps wrapped."""
    async with trio.open_nursery() as serving:
        serving.start_soon(match.server.run)
        serving.start_soon(match.keep)
        async with trio.open_nursery() as playing:
            playing.start_soon(_play, match, tables)
            await match.enough.wait()
            playing.cancel_scope.cancel()
        serving.cancel_scope.cancel()  # only now: the tables' connections need it until they are closed
    if match.failure is not None:
        raise match.failure


async def _play(match: Match, tables: int) -> None:
    if not match.over():
        async with trio.open_nursery() as nursery:
            for number in range(tables):
                nursery.start_soon(_sit, match, number)
    match.enough.set()


async def _sit(match: Match, number: int) -> None:
    """Play at one table, a pairing after the other."""
    while (pairing := match.schedule.sit()) is not None:
        texts = [match.plan.players[each][1] for each in match.schedule.pairings[pairing]]
        kind = WireTable if any(map(bots.is_command, texts)) else EngineTable
        table = kind(match, number, pairing)
        await table.run()
        match.schedule.rise(pairing, table.unplayed)
