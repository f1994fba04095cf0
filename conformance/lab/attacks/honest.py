"""The process of honest games: pairs that play on whatever happens, and say how long their moves took.

`python -m conformance.lab.attacks.honest` takes its plan as a line on stdin, then `begin` and `end`, each a
line; after `end` it says what happened in between. Unlike the benchmark's load it goes on when a bot is out
of step: that pair is noted, and another one takes its place when the next `begin` comes.
"""

import gc
import json
import os
from collections.abc import Sequence
from itertools import cycle, islice
from time import perf_counter, time_ns
from typing import Any

from conformance.lab.attacks.figures import with_missed
from conformance.lab.bench.book import Book
from conformance.lab.bench.bots import Bot, Tally
from conformance.lab.bench.pace import Pace
from conformance.lab.bench.plan import MIX, Couple
from conformance.lab.bench.poller import poller
from conformance.lab.bench.roster import script_of
from conformance.lab.bench.script import OutOfStep, Ticket
from conformance.lab.house_load import percentile
from conformance.lab.meters import used_by

BEAT = 0.1
"""Seconds between two moves of a pair."""
STILL = 10.0
"""Seconds without a move after which a game counts as cut off."""
_NAP = 0.5
_STDIN = 0
_WAVE = 0.01
_GOLDEN = 0.618
"""Spreads the pairs evenly over a beat, however many there are."""


class Honest(Bot):
    """A bot that tells its club when it is out of step, and lives no longer."""

    pair: "Pair"

    def ready(self) -> None:
        """Take in what has arrived and answer it."""
        try:
            super().ready()
        except OutOfStep as error:
            self.pair.games.lose(self.pair, str(error))

    def say(self, data: bytes) -> None:
        """Send something, as long as the pair plays."""
        try:
            if self.pair.is_on:
                super().say(data)
        except OutOfStep as error:
            self.pair.games.lose(self.pair, str(error))

    @property
    def is_unanswered(self) -> bool:
        """Whether its move is on its way to the opponent."""
        return self.place.discs > self.peer.place.discs and self.sent_at >= self.due


class Pair:
    """Two bots at a table of their own."""

    def __init__(self, games: "Games", couple: Couple, number: int, life: int) -> None:
        self.games = games
        self.couple = couple
        self.number = number
        self.life = life
        self.is_on = True
        table = f"{games.token}n{number}x{life}"
        names = [table + letter for letter in "ab"]
        self.bots: list[Honest] = []
        for kind, own, other in zip(couple, names, reversed(names), strict=True):
            bot = Honest(games.books[kind], Ticket(own, other, table, has_tables=True), games)
            bot.pair = self
            self.bots.append(bot)
        self.bots[0].peer, self.bots[1].peer = self.bots[1], self.bots[0]

    def late(self, now: float) -> float:
        """Return for how many seconds a move has been on its way; 0 where none is."""
        return max((now - bot.sent_at for bot in self.bots if bot.is_unanswered), default=0.0)


class Games:
    """All pairs, and the loop that plays them."""

    def __init__(
        self,
        addresses: dict[str, tuple[str, int, str]],
        pairs: int,
        couples: Sequence[Couple] = MIX,
        orders: int = 0,
    ) -> None:
        """`orders` is the file descriptor by which they come; stdin if nothing is said."""
        self.tally = Tally()
        self.pace = Pace()
        self.pace.interval = BEAT
        self.token = f"h{time_ns() // 1000 % 10**9}"
        self.books = {kind: Book(kind, script_of(kind)) for couple in couples for kind in couple}
        self._addresses = addresses
        self._poller = poller()
        self._by_socket: dict[int, Honest] = {}
        self._lost: list[str] = []
        self._pairs = [
            Pair(self, couple, number, 0) for number, couple in enumerate(islice(cycle(couples), pairs))
        ]
        self._is_over = False
        self._began = 0.0
        self._waited = 0.0
        self._orders = orders
        self._order = b""

    # What a bot needs of the others.

    def ask_again(self, bot: Bot) -> None:
        """Let the bot ask for its next game."""
        bot.sent_at = perf_counter()
        bot.say(bot.book.script.again(bot.ticket))

    def find(self, name: str) -> Bot:
        """Return the bot of this name. Raises OutOfStep."""
        for bot in self._by_socket.values():
            if bot.ticket.name == name:
                return bot
        raise OutOfStep(f"was paired with {name}, who is none of us")

    def come_back(self, bot: Bot) -> None:
        """Refuse: no series ends here. Raises OutOfStep."""
        raise OutOfStep(f"{bot} was hung up on between two games")

    def lose(self, pair: Pair, why: str) -> None:
        """Note that a pair cannot go on, and hang up."""
        if not pair.is_on:
            return
        pair.is_on = False
        self._lost.append(why)
        for number, bot in list(self._by_socket.items()):
            if bot.pair is pair:
                self._poller.remove(number)
                del self._by_socket[number]
                bot.close()

    # The loop.

    def run(self) -> None:
        """Play until the orders end, then hang up."""
        self._poller.add(self._orders)
        try:
            for pair in self._pairs:
                self._admit(pair)
                self._turn(_WAVE)
            while not self._is_over:
                self._turn(_NAP)
        finally:
            for bot in self._by_socket.values():
                bot.close()

    def _turn(self, longest: float) -> None:
        for number, _ in self._poller.wait(min(longest, self.pace.until_due(perf_counter()))):
            if number == self._orders:
                self._obey(os.read(number, 4_096))
            elif number in self._by_socket:  # it may have been lost just now
                self._by_socket[number].ready()
        self.pace.send_due(perf_counter())

    def _obey(self, data: bytes) -> None:
        *orders, self._order = (self._order + data).split(b"\n")
        self._is_over = self._is_over or not data
        for order in orders:
            if order == b"begin":
                self._begin()
            else:
                print(json.dumps(self._end()), flush=True)

    def _begin(self) -> None:
        """Begin to measure, with as many pairs as ever."""
        for place, pair in enumerate(self._pairs):
            if not pair.is_on:
                self._pairs[place] = Pair(self, pair.couple, pair.number, pair.life + 1)
                self._admit(self._pairs[place])
        self.tally.clear()
        self._lost.clear()
        self._began, self._waited = perf_counter(), _waited()

    def _end(self) -> object:
        """Return what was measured."""
        now = perf_counter()
        late = [pair.late(now) for pair in self._pairs if pair.is_on]
        for pair in self._pairs:
            if pair.is_on and all(now - bot.sent_at > STILL for bot in pair.bots):
                self.lose(pair, f"no move was made for {STILL:g} s at {pair.bots[0]}'s table")
        times = with_missed([*self.tally.times, *(time for time in late if time > BEAT)], BEAT)
        seconds = now - self._began
        return {
            "times": times,
            "results": percentile(self.tally.results, 99) if self.tally.results else None,
            "lost": self._lost[:],
            "waited": (_waited() - self._waited) / seconds if seconds else None,
        }

    def _admit(self, pair: Pair) -> None:
        try:
            for bot in pair.bots:
                if not pair.is_on:  # the server did not even listen to the first of them
                    break
                number = bot.connect(*self._addresses[bot.book.kind])
                self._by_socket[number] = bot
                self._poller.add(number)
                bot.due = bot.sent_at + BEAT * (pair.number * _GOLDEN % 1)
                bot.open()
        except OutOfStep as error:
            self.lose(pair, str(error))


def _first_line() -> bytes:
    """Return the first line of stdin, and leave the rest where it is."""
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(_STDIN, 1)
    return line


def _waited() -> float:
    used = used_by(os.getpid())
    return 0.0 if used is None else used.waited


def main() -> None:
    """Play what the first line asks for."""
    words: Any = json.loads(_first_line())
    if words["core"] is not None:
        os.sched_setaffinity(0, {words["core"]})
    gc.freeze()
    gc.disable()  # what is kept are numbers
    addresses = {kind: (host, port, path) for kind, (host, port, path) in words["addresses"].items()}
    Games(addresses, words["pairs"]).run()


if __name__ == "__main__":
    main()
