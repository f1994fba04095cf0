"""The seats of all nodes, as the nodes report them to the one that pairs.

Gives each seat a number for the matchmaker, which knows no nodes, and passes on what is reported of it. Who
asks to enter and who begins to wait is passed on a few at a time, as the matchmaker compares all those with
each other. Does not know who plays.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from typing import assert_never

from gateway.cluster.messages import AboutSeat, Alive, Asked, At, Left, Present, Renamed, Sits, Waits
from gateway.matchmaking.matchmaker import Entry, Matchmaker, Turn
from gateway.matchmaking.tables import Position

AT_ONCE = 4
"""Players that ask to enter or begin to wait, who are passed on together."""


class Seats:
    """All seats, by node and by number."""

    def __init__(self, matchmaker: Matchmaker) -> None:
        self._matchmaker = matchmaker
        self._numbers = count(1)
        self._of_nodes: dict[str, dict[int, int]] = {}
        """The numbers of the seats, by those that they have on their nodes."""
        self._owners: dict[int, tuple[str, int]] = {}
        self._asked: dict[int, Entry] = {}
        self._waiting: dict[int, Turn] = {}
        """Both without those that were passed on to the matchmaker."""
        self._undecided: set[int] = set()
        """Those that were passed on and have no decision yet."""
        self._let_in: set[int] = set()
        """Those that have their places."""
        self._since: dict[int, float] = {}
        """When each began to wait last."""
        self._sits: dict[int, tuple[Position, int]] = {}
        """How each sits at its table, as its node has heard last."""

    @property
    def has_more(self) -> bool:
        """Whether more is to be passed on to the matchmaker."""
        return bool(self._asked or self._waiting)

    def number(self, node: str, seat: int) -> int | None:
        """Return the number of a seat; None if the node has not reported it."""
        return self._of_nodes.get(node, {}).get(seat)

    def owner(self, number: int) -> tuple[str, int] | None:
        """Return the node of a seat, and its number there; None if it is gone."""
        return self._owners.get(number)

    def at(self, turn: Turn) -> At:
        """Return a turn of a seat that is here as the nodes name it."""
        return At(*self._owners[turn.seat], turn.number)

    def at_table_of(self, number: int) -> list[tuple[str, Sits]]:
        """Return how those sit, each with its node, who are at the table of a seat, if that has changed."""
        found = []
        for each, position, games in self._matchmaker.seated(number):
            if self._sits.get(each) != (position, games):
                self._sits[each] = position, games
                node, seat = self._owners[each]
                found.append((node, Sits(seat, position, games)))
        return found

    def note(self, node: str, fact: AboutSeat, now: float) -> None:
        """Take in what happened to a seat. What makes no sense is ignored."""
        match fact:
            case Waits() | Left() | Renamed() | Alive():
                known = self.number(node, fact.seat)
                if known is not None:
                    self._note(known, fact, now)
            case Asked(entry):
                number = self._given_number(node, entry.seat)
                self._asked[number] = replace(entry, seat=number, home=node)
            case Present():
                self._readmit(node, fact, now)
            case _:
                assert_never(fact)

    def _note(self, number: int, fact: Renamed | Waits | Left | Alive, now: float) -> None:
        match fact:
            case Waits(_, turn, anew):
                self._wait(number, turn, now if anew else self._since.get(number, now))
            case Left():
                self._drop(number)
            case Alive():
                self._matchmaker.alive(number)
            case Renamed(_, name, counted):
                if number in self._let_in:
                    self._matchmaker.rename(number, name, counted=counted)

    def _readmit(self, node: str, fact: Present, now: float) -> None:
        number = self._given_number(node, fact.entry.seat)
        self._let_in.add(number)
        self._matchmaker.readmit(replace(fact.entry, seat=number, home=node), (fact.position, fact.games))
        if fact.waited is not None:
            self._since[number] = now - fact.waited
            if fact.turn is not None:
                self._wait(number, fact.turn, self._since[number])

    def _given_number(self, node: str, seat: int) -> int:
        numbers = self._of_nodes.setdefault(node, {})
        if seat not in numbers:
            numbers[seat] = next(self._numbers)
            self._owners[numbers[seat]] = node, seat
        return numbers[seat]

    def _wait(self, number: int, turn: int, since: float) -> None:
        self._since[number] = since
        self._waiting[number] = Turn(number, turn)

    def playing(self, number: int) -> None:
        """Let a seat wait no more, if that was not passed on to the matchmaker yet."""
        self._waiting.pop(number, None)

    def pass_on_more(self) -> None:
        """Pass on to the matchmaker the next few who ask to enter or wait."""
        for number in [*islice(self._asked, AT_ONCE)]:
            self._undecided.add(number)
            self._matchmaker.enter(self._asked.pop(number))
        for number in [*islice(self._waiting, AT_ONCE)]:
            turn = self._waiting.pop(number)
            if number in self._let_in:
                self._matchmaker.wait(turn, self._since[number])

    def decide(self, number: int, *, is_in: bool) -> bool:
        """Note whether a seat is let in; return whether it asks, as one that is readmitted does not.

        A seat that is not let in is forgotten, unless it has its place still.
        """
        if number not in self._undecided:
            return False
        self._undecided.discard(number)
        if is_in:
            self._let_in.add(number)
        elif number not in self._let_in:
            self._drop(number)
        return True

    def forget(self, node: str) -> Iterator[None]:
        """Forget a node with all its seats, one of them with each step of the iteration."""
        return map(self._drop, self._of_nodes.pop(node, {}).values())

    def _drop(self, number: int) -> None:
        node, seat = self._owners.pop(number)
        if self.number(node, seat) == number:  # another one, if the node has joined again
            del self._of_nodes[node][seat]
        for memory in (self._asked, self._waiting, self._since, self._sits):
            memory.pop(number, None)
        self._undecided.discard(number)
        self._let_in.discard(number)
        self._matchmaker.leave(number)
