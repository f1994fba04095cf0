"""A bot: one socket, and where it is in its games.

Looks up in its book what the bytes that come mean, answers, and counts. Does not know who polls the sockets,
nor the dialects.
"""

import math
import socket
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

from conformance.frames import FrameError, Handshake
from conformance.lab.bench.book import Book, Known, Turn
from conformance.lab.bench.pace import Pace
from conformance.lab.bench.script import MOVES, OutOfStep, Phase, Place, Ticket

PATIENCE = 10.0
"""Seconds in which a server has to let a bot connect."""
_CHUNK = 4096
_HEAD_END = b"\r\n\r\n"


@dataclass(slots=True)
class Tally:
    """What all bots did since it was cleared."""

    times: list[float] = field(default_factory=list)
    """Seconds from a move's being sent to the opponent's hearing of it: of each move but a game's last."""
    lasts: list[float] = field(default_factory=list)
    """The same for the last moves."""
    results: list[float] = field(default_factory=list)
    """Seconds from a last move's being sent to a player's hearing of the result: two for each game."""

    def clear(self) -> None:
        self.times.clear()
        self.lasts.clear()
        self.results.clear()


class Club(Protocol):
    """What the bots of one process share."""

    tally: Tally
    pace: Pace

    def ask_again(self, bot: "Bot") -> None:
        """Let the bot ask for its next game."""

    def find(self, name: str) -> "Bot":
        """Return the bot of this name. Raises OutOfStep."""

    def come_back(self, bot: "Bot") -> None:
        """Connect a bot that was hung up on after a series. Raises OutOfStep."""


class Bot:
    """One player. `peer` is its opponent; until the two have met, whoever it is to meet."""

    def __init__(self, book: Book, ticket: Ticket, club: Club) -> None:
        self.ticket = ticket
        self.book = book
        self.peer = self
        self.sent_at = math.inf  # a bot that has not come in yet is not waited for
        """When it sent its latest move."""
        self.sent_before = 0.0
        """When it sent the one before."""
        self.due = 0.0
        """When it was to send that, where moves are paced."""
        self.place = book.script.start
        self.has_played = False
        """Whether a game of this connection has ended."""
        self.games = 0
        """How many results it was told."""
        self.closed_at = 0.0
        """When the last move of the latest of these games was sent."""
        self._club = club
        self._pace = club.pace
        self._tally = club.tally
        self._key = book.script.key
        self._known: Known = {}
        self._rest = b""
        self._socket: socket.socket

    def __str__(self) -> str:
        return f"{self.book.kind} bot {self.ticket.name}"

    def connect(self, host: str, port: int, path: str) -> int:
        """Connect, up to where the script begins; return the socket's number. Raises OutOfStep."""
        script = self.book.script
        try:
            self._socket = socket.create_connection((host, port), timeout=PATIENCE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            resource = script.resource(self.ticket)
            self._rest = b""
            if resource is not None:
                self._shake_hands(f"{host}:{port}", path.rstrip("/") + resource)
            self._socket.setblocking(False)
        except OSError as error:
            raise self._wrong(f"cannot connect: {error}") from None
        self.place = script.start
        self.has_played = False
        self.sent_at = perf_counter()  # it may be let in later, and is not still until then
        self._known = self.book.page(self.place)
        self._receive, self._send = self._socket.recv, self._socket.send
        return self._socket.fileno()

    def _shake_hands(self, host: str, resource: str) -> None:
        handshake, head = Handshake(host, resource), b""
        self._socket.sendall(handshake.request)
        while _HEAD_END not in head:
            data = self._socket.recv(_CHUNK)
            if not data:
                raise self._wrong("was hung up on in the handshake")
            head += data
        head, _, self._rest = head.partition(_HEAD_END)
        try:
            handshake.accept(head)
        except FrameError as error:
            raise self._wrong(f"cannot connect: {error}") from None

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def open(self) -> None:
        """Say what is said first. Raises OutOfStep."""
        self.sent_at = perf_counter()
        self.say(self.book.script.opening(self.ticket))

    def say(self, data: bytes) -> None:
        """Send something. Raises OutOfStep if the server does not take it."""
        try:
            if self._send(data) == len(data):
                return
        except BlockingIOError:
            pass
        except OSError as error:
            raise self._wrong(f"cannot send: {error.strerror}") from None
        raise self._wrong("cannot send: the server has stopped reading")

    def ready(self) -> None:
        """Take in what has arrived and answer it. Raises OutOfStep."""
        try:
            data = self._receive(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        turn = self._known.get(self._key(data))
        if turn is None or self._rest:
            turn = self._read(data)
            if turn is None:
                return
        before, self.place = self.place, turn.place
        self._known = turn.known
        now = perf_counter()
        if turn.ended or (turn.told and turn.place.discs == MOVES and not turn.move):
            self._count_end(turn, before, now)
        elif turn.told:
            self._tally.times.append(now - self.peer.sent_at)
        if turn.answer:
            self.say(turn.answer)
        if turn.move:
            if self._pace.interval is None:
                self.sent_before, self.sent_at = self.sent_at, now
                self.say(turn.move)
            else:
                self._pace.add(self, turn.move, now)
        elif turn.again:
            self._club.ask_again(self)

    def _count_end(self, turn: Turn, before: Place, now: float) -> None:
        """Count a game's last move, its result, or both; and the next game's first if it came behind them."""
        tally, told = self._tally, turn.told
        closed_at = self._last_move_at(before)
        if told and before.opens and before.discs < MOVES:  # the last of 42 moves is the other's
            tally.lasts.append(now - closed_at)
            told -= 1
        if turn.ended:
            tally.results.append(now - closed_at)
            self.closed_at = closed_at
            self.games += 1
            self.has_played = True
        if told:
            tally.times.append(now - self.peer.sent_at)

    def _last_move_at(self, place: Place) -> float:
        """Return when the last move of the game was sent that this player has yet to hear the result of."""
        if not place.opens:
            return self.sent_at
        return self.peer.closed_at if self.peer.games > self.games else self.peer.sent_at

    def _read(self, data: bytes) -> Turn | None:
        """Have the script read what is not known; None where the bot has gone and come back."""
        if not data:
            if not (self.book.script.may_hang_up and self.has_played and self.place.phase is Phase.WAITING):
                raise self._wrong(f"was hung up on when it was {self.place}")
            self._club.come_back(self)
            return None
        rest = self._rest
        try:
            turn, self._rest = self.book.read(self.place, rest + data, self.ticket.name)
            if turn.opponent is not None:
                self.peer = self._club.find(turn.opponent)
        except OutOfStep as error:
            raise self._wrong(str(error)) from None
        # A name is this bot's affair, and a torn message is not worth remembering.
        if turn.opponent is None and not (rest or self._rest):
            self.book.remember(self.place, data, turn)
        return turn

    def _wrong(self, what: str) -> OutOfStep:
        return OutOfStep(f"{self} {what}")
