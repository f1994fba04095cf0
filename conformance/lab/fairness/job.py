"""The process in which pairs play while the server is stopped now and then.

`python -m conformance.lab.fairness.job` takes from stdin where the server is, how many games and stalls, and
tells what they came to. A stall is a real one: the server's process, or that of one node of a cluster, gets
SIGSTOP, and SIGCONT some seconds later, and meanwhile the bots' answers wait in its sockets.
"""

import os
import random
import signal
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import product
from time import perf_counter
from typing import Any

from conformance.dialects.script import OutOfStep
from conformance.lab.bots import PLAIN, BotLoop
from conformance.lab.fairness.players import Pair, Player, Table
from conformance.lab.jobs import from_words, serve
from conformance.lab.meters import NoSuchProcess

GAPS = 0.3, 1.0
"""Seconds between two stalls, from and to."""
STANDING = 60.0
"""Seconds in which some game has to end."""


class Stalls:
    """Stops one of some processes again and again, for so many seconds each time."""

    def __init__(
        self, group: BotLoop[Player], pids: Sequence[int], seconds: float, lot: random.Random
    ) -> None:
        self.done = 0
        self._group = group
        self._pids = pids
        self._pid = pids[0]
        self._seconds = seconds
        self._lot = lot
        self._is_over = False

    def begin(self) -> None:
        """Wait a little, then stop a process."""
        self._pid = self._lot.choice(self._pids)
        self._group.at(perf_counter() + self._lot.uniform(*GAPS), self._stop)

    def end(self) -> None:
        """Let all processes run from now on."""
        self._is_over = True
        self._signal(signal.SIGCONT)

    def _stop(self) -> None:
        if not self._is_over:
            self._signal(signal.SIGSTOP)
            self._group.at(perf_counter() + self._seconds, self._go_on)

    def _go_on(self) -> None:
        self._signal(signal.SIGCONT)
        self.done += 1
        self.begin()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.kill(self._pid, number)
        except ProcessLookupError:
            raise NoSuchProcess(f"there is no process {self._pid}") from None


def main() -> None:
    """Do the job."""
    serve(play)


def play(words: Any) -> object:
    """Play so many games, and on until there were enough stalls and all who slept were told of their loss."""
    lot = random.Random(words["seed"])
    games, least = int(words["games"]), int(words["stalls"])
    table = Table(from_words(words["addresses"]), lot, words["clock"], lambda: not is_enough())
    counts, stalls = table.counts, Stalls(table.group, words["pids"], words["stall"], lot)

    def is_enough() -> bool:
        return counts.games >= games and stalls.done >= least

    begun = perf_counter()
    _let_in(table, words["at_once"])
    try:
        _play(table, lambda: counts.begun >= 2 * words["at_once"])  # they come in before the first stall
        if least:
            stalls.begin()
        _play(table, lambda: is_enough() and counts.told == counts.slept)
    finally:
        stalls.end()
    seconds = perf_counter() - begun
    table.group.close()
    faults = {fault.name: told for fault, told in counts.faults.items()}
    return {**asdict(counts), "faults": faults, "stalls": stalls.done, "seconds": seconds}


def _let_in(table: Table, number: int) -> None:
    meetings = list(product(PLAIN, PLAIN))
    for at in range(number):
        Pair(table, meetings[at % len(meetings)], at).begin()


def _play(table: Table, is_over: Callable[[], bool]) -> None:
    """Let everybody act until it is over. Raises OutOfStep, also where no game has ended for a long time."""
    games, since = table.counts.games, perf_counter()
    while not is_over():
        table.group.turn()
        if table.counts.games > games:
            games, since = table.counts.games, perf_counter()
        elif perf_counter() - since > STANDING:
            raise OutOfStep(f"{games} games have ended, and none for {STANDING:g} s")


if __name__ == "__main__":
    main()
