"""The command ``c4gateway match``: reads options, plays the games, and prints a table.

On Ctrl-C, SIGTERM and SIGHUP it prints what was played; the match can be resumed.
"""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import trio

from adapters.match.options import STATE, Options, numbered, parse
from adapters.match.screen import Screen
from adapters.match.wired import Network, WireTable, is_command, network
from gateway.game.text import json_text
from gateway.match.engines import EngineTable
from gateway.match.journal import Journal
from gateway.match.match import Match, MatchTable, Plan
from gateway.match.report import SAMPLES, Report
from gateway.options.terminal import in_one_line, write_out
from gateway.runtime.children import ends
from gateway.store.formats import jsonl, pgn

LIVE = 100
"""Samples of the bootstrap while games go on."""


def main(arguments: Sequence[str]) -> int:
    """Play; return the exit status."""
    options, plan = parse(arguments)
    sys.setswitchinterval(1e-4)  # so that the thread that computes a table delays no game
    status = 1
    try:
        with _journal(options, plan) as journal:
            status = trio.run(_play, options, journal)
    except* (OSError, ValueError) as errors:
        print(f"c4gateway: error: {in_one_line(errors)}", file=sys.stderr)
    except* KeyboardInterrupt:  # before the signals are received below
        status = 128 + signal.SIGINT
    return status


def _journal(options: Options, plan: Plan | None) -> Journal:
    """Open the file of the match. Raises OSError, ValueError."""
    if plan is None:
        return Journal.old(options.state or numbered(0))
    if options.state is None:
        while True:
            with suppress(FileExistsError):  # another match may create this file at the same moment
                return Journal.new(numbered(1), plan.settings())
    try:
        return Journal.new(options.state, plan.settings())
    except FileExistsError:
        what = "if a match is in it, --resume goes on with it; --state takes another file"
        raise ValueError(f"{options.state} is there already; {what}") from None


async def _play(options: Options, journal: Journal) -> int:
    """Play until the end or a signal, print and write the results, and return the exit status."""
    logs = options.logs or journal.path.with_name(f"{journal.path.name}.logs")
    logs.mkdir(parents=True, exist_ok=True)
    began, signals = time.monotonic(), list[int]()

    def report() -> Report:
        left = 0 if match.is_decided else match.schedule.left
        seconds = time.monotonic() - began
        return Report(match.tally, plan.sprt, match.games, left, match.played, seconds, match.failed)

    async def lines() -> list[str]:
        """Return the table of results, computed in a thread so that no game is delayed."""
        return await trio.to_thread.run_sync(report().lines, LIVE)

    screen = Screen(lines, lambda: "; ".join(report().summary()), sys.stderr)
    if options.state is None and journal.path.name != STATE:
        screen.tell(f"the games are kept in {journal.path}")
    plan = Plan.of(journal.settings)
    plan = replace(plan, counts_left=plan.counts_left or options.recover)
    match = Match(plan, journal, logs, screen.tell)
    with trio.open_signal_receiver(*ends()) as received:
        async with network() as shared, trio.open_nursery() as nursery:

            async def stop() -> None:
                signals.append(await anext(received))
                match.stop()

            nursery.start_soon(stop)
            nursery.start_soon(screen.run)
            await match.run(options.concurrency, partial(_table, shared))
            nursery.cancel_scope.cancel()
    try:
        end = report()
        write_out(f"{line}\n" for line in [*end.lines(SAMPLES), "", *end.details()])
    finally:  # write the files even if standard output fails
        for path, form in ((options.pgn, pgn.write), (options.jsonl, jsonl.write)):
            if path is not None:
                _write(path, form(played.record for played in journal.load()))
        if options.json is not None:
            _write(options.json, iter([json_text(report().as_object(), indent=2) + "\n"]))
    if signals:
        print(f"stopped; to go on: c4gateway match --resume --state {journal.path}", file=sys.stderr)
        return 128 + signals[0]
    is_refused = plan.sprt is not None and match.tally.meetings[0].repeats
    return 1 if is_refused or match.failed else 0


def _table(shared: Network, match: Match, pairing: int) -> MatchTable:
    """Return the table where a pairing plays. Its games go over a wire if one of the players is a bot."""
    texts = [match.plan.players[each][1] for each in match.schedule.pairings[pairing]]
    return WireTable(match, pairing, shared) if any(map(is_command, texts)) else EngineTable(match, pairing)


def _write(path: Path, pieces: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(pieces)
