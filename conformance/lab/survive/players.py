"""Pairs of clients that play known games all the time, whatever happens to the servers.

Two players meet at a table, or in the lobby by the wish of one of them if the other's dialect has no tables.
Every pair has new names and no two of its games are the same, so a result identifies its game. A client knows
every message that may come next. A message that the opponent has left may come at any time. After such a
message, or after a hang-up, new clients with other names continue. All bytes that have reached a client's
socket count as received.
"""

import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement, product
from random import Random
from time import monotonic

import trio

from conformance.boards import COLUMNS
from conformance.dialects import DIALECTS
from conformance.dialects.script import DRAWN, LEFT, Closed, Game, OutOfStep, Phase, Wish
from conformance.lab.bots import EVERY, script_of, shown
from conformance.lab.client import Client, HungUp, connected
from conformance.lab.servers import Gateway
from conformance.targets import Address

STUCK = 20.0
"""Seconds without a message after which a pair counts as stuck."""
GRACE = 1.0
"""Seconds that a player waits for a game after its partner has left, before the pair is replaced."""
COUPLES: Sequence[tuple[str, str]] = tuple(
    couple
    for couple in combinations_with_replacement(sorted(EVERY), 2)
    if not all(DIALECTS[dialect].always_opens for dialect in couple)
)
"""The dialects of the pairs, assigned in turn. Each dialect meets every other one, and itself if it can."""
AT_TABLES: Sequence[tuple[str, str]] = tuple(
    couple for couple in COUPLES if all(DIALECTS[dialect].has_tables for dialect in couple)
)
"""Those of them that meet at tables, where nobody else can come between two players."""
VAGUE = {dialect for dialect, kind in EVERY.items() if script_of(kind).may_hang_up}
"""Dialects without a message that the opponent has left. In these the server ends a course by hanging up."""
_LOOK = 0.25
"""Seconds between two checks of a pair."""
_RECENT = 1000
"""The number of latest courses to search for those that are not over."""
_RETURN = 0.1
"""Seconds until a client tries again to connect to a server that refuses it."""


LENGTH = 4
"""Games in a course."""


@dataclass(frozen=True, slots=True)
class Result:
    """A game, and the names of its first mover (`first`) and of the other player (`second`)."""

    first: str
    second: str
    game: Game

    def __str__(self) -> str:
        won = {0: "nobody won", 1: f"{self.first} won", 2: f"{self.second} won"}
        who = won.get(self.game.winner, f"{self.game.winner} won")
        return f"{self.first} - {self.second}: {self.game.moves}, {who}, {self.game.reason}"


def course(seed: str, *, is_left: bool) -> tuple[Game, ...]:
    """Return the games that two players play one after the other. The same seed gives the same games.

    In the last game a player may leave. With `is_left` a player always leaves it.
    """
    lot = Random(seed)
    kinds = _LAST[:1] if is_left else _LAST
    games: list[Game] = []
    while len(games) < LENGTH:
        kind = lot.choice(kinds if len(games) == LENGTH - 1 else _KINDS)
        game = kind(lot)
        if game not in games:
            games.append(game)
    return tuple(games)


def _won_by_first(lot: Random) -> Game:
    """Return a game that the first mover wins with four in a column."""
    own, *others = lot.sample(range(COLUMNS), COLUMNS)
    moves = [own, lot.choice(others), own, lot.choice(others), own, lot.choice(others), own]
    return Game(_text(moves), 1, "four")


def _won_by_second(lot: Random) -> Game:
    """Return a game that the second mover wins with four in a column."""
    own, twice, other, *more = lot.sample(range(COLUMNS), COLUMNS)
    moves = [twice, own, twice, own, other, own, lot.choice([twice, other, *more]), own]
    return Game(_text(moves), 2, "four")


def _drawn(lot: Random) -> Game:
    """Return the drawn game of 42 moves, or its mirror image."""
    moves = [int(digit) for digit in DRAWN.moves]
    return Game(_text(moves if lot.random() < 0.5 else [COLUMNS - 1 - move for move in moves]), 0, "full")


def _left(lot: Random) -> Game:
    """Return a game that a player leaves after 2 to 6 moves, before either player can win."""
    moves = [lot.randrange(COLUMNS) for _ in range(lot.randint(2, 6))]
    return Game(_text(moves), 2 if len(moves) % 2 == 0 else 1, LEFT)


def _text(moves: list[int]) -> str:
    return "".join(map(str, moves))


_Kind = Callable[[Random], Game]
_KINDS: Sequence[_Kind] = (*[_won_by_first] * 4, *[_won_by_second] * 4, _drawn)
_LAST: Sequence[_Kind] = (*[_left] * len(_KINDS), *_KINDS)


# Clients.


class Player:
    """One client that plays a course of games, and the results that it received."""

    def __init__(
        self, dialect: str, wish: Wish, partner: str, games: Sequence[Game], gateway: Gateway
    ) -> None:
        self.wish = wish
        self.dialect = dialect
        self.gateway = gateway
        self.results: list[Result] = []
        """The results that the player has received, one for each game."""
        self.is_leaving = False
        """Whether the player has to leave now."""
        self.is_cut_off = False
        """Whether the player has received a message that its opponent left the game."""
        self.winner: int | None = None
        """The winner if the opponent left, as in `Game`; None if the message does not tell the winner."""
        self.may_be_stopped = False
        """Whether the message that ended the last game, which the opponent had to leave, tells no winner."""
        self.is_in = False
        """Whether the player has received anything yet."""
        self.is_done = False
        self.counted = 0
        """How many of the results the load has counted."""
        self.heard_at = monotonic()
        self.free_at = 0.0
        """When the player's latest game ended."""
        self._script = script_of(EVERY[dialect], games[0])
        self._place = self._script.start
        self._partner = partner
        self._games = games

    def __str__(self) -> str:
        return f"{self.dialect} player {self.wish.name} on {self.gateway}"

    @property
    def state(self) -> str:
        """The player's place, for messages."""
        return "gone" if self.is_done else str(self._place)

    @property
    def has_all(self) -> bool:
        """Whether the player has received the result of its last game. After that no message may come."""
        return len(self.results) == len(self._games)

    @property
    def is_playing(self) -> bool:
        """Whether the player has received the start of a game, but not its result."""
        return self._place.phase is Phase.PLAYING

    @property
    def waits(self) -> bool:
        """Whether the player is connected and waits for the end of a game."""
        return self.is_playing and not (self.is_done or self.is_cut_off or self.is_leaving)

    @property
    def hears_of_leaving(self) -> bool:
        """Whether the player's dialect has a message that the opponent has left."""
        return self.dialect not in VAGUE

    @property
    def wins_aborted(self) -> bool:
        """As `Script.wins_aborted`."""
        return self._script.wins_aborted

    @property
    def has_one_game(self) -> bool:
        """As `Script.has_one_game`."""
        return self._script.has_one_game

    @property
    def comes_back(self) -> bool:
        """Whether the server has hung up after a game, so that the player connects again for the next one."""
        return self.has_one_game and bool(self.results) and not (self.is_playing or self.is_leaving)

    @property
    def is_host(self) -> bool:
        """Whether the player moved first in the first game. Its server then holds the current game."""
        return self.waits and bool(self._place.opens) == (len(self.results) % 2 == 0)

    async def converse(self, client: Client, address: Address, pause: float) -> AsyncIterator[None]:
        """Send and receive all messages of the course; yield each time that something was received.

        `pause`: seconds before each message. Raises HungUp or Closed if the server hangs up, and OutOfStep.
        """
        script, rest = self._script, b""
        self._place = script.start
        resource, answer = script.resource(self.wish), script.opening(self.wish)
        if resource is not None:
            rest = await client.shake(address.authority, address.resource(resource))
        while not (self.has_all or self.is_cut_off):
            with suppress(HungUp):  # the next read notices that the server is gone
                if answer:
                    await trio.sleep(pause)
                    await client.say(answer)
                if self.is_leaving:
                    await client.leave()
            cut = script.cut(rest + await client.heard())
            rest, answer = cut.rest, b"".join([cut.answer, *map(self.hear, cut.messages)])
            yield
            script.cut(rest)  # a close frame may have come with the last message

    def hear(self, message: bytes) -> bytes:
        """Handle a message; return the bytes to send. Raises OutOfStep."""
        if self.is_cut_off:
            return b""
        step = self._script.advance(self._place, message, self.wish.name)
        if step is None or step.opponent not in (None, self._partner) or (step.begun and self.has_all):
            if not self.is_leaving:  # it may be told of its own leaving, as in rpi 3.7
                self._hear_of_leaving(message)
            return b""
        if step.outcome is not None and self._script.game.reason == LEFT:
            self.may_be_stopped = self._fits(message, self._place.discs, 0)
        opens, self._place = self._place.opens, step.place
        self.is_leaving = self.is_leaving or step.leaves
        if step.outcome is not None:
            names = (self.wish.name, self._partner)
            self.results.append(Result(*(names if opens else names[::-1]), self._script.game))
            self.free_at = monotonic()
            if not self.has_all:
                self._script.game = self._games[len(self.results)]
        return self._script.asking(self.wish) if step.again and not self.has_all else step.move

    def _hear_of_leaving(self, message: bytes) -> None:
        """Handle a message that the opponent has left this game. The board in it must be possible.

        Raises OutOfStep for any other message.
        """
        winners = set[int]()
        if self.is_playing and not self.hears_of_leaving and message == b"NEW_GAME":
            winners = {0}  # droidcon 4.13: a new game begins without a result
        elif self.is_playing:
            discs = self._place.discs
            boards = range(max(0, discs - 2), discs + 2)  # the server may not know the latest two moves
            winners = {won for count, won in product(boards, (0, 1, 2)) if self._fits(message, count, won)}
        if not winners:
            number = len(self.results) + 1
            raise OutOfStep(f"was told {shown(message)} when it was {self._place}, game {number}")
        self.is_cut_off, self.free_at = True, monotonic()
        self.winner = winners.pop() if len(winners) == 1 else None

    def _fits(self, message: bytes, discs: int, winner: int) -> bool:
        script = copy(self._script)
        script.game = Game(script.game.moves[:discs], winner, LEFT)
        step = script.advance(replace(self._place, discs=discs), message, self.wish.name)
        return step is not None and step.outcome is not None


@dataclass(eq=False, slots=True)
class Course:
    """A series of games between two players."""

    table: str
    games: Sequence[Game]
    players: tuple[Player, Player]
    created: float = field(default_factory=monotonic)
    begun: float | None = None
    """When both players had received the start of a game."""

    @property
    def gateways(self) -> set[Gateway]:
        """The one or two gateways where the players play."""
        return {player.gateway for player in self.players}

    @property
    def is_done(self) -> bool:
        """Whether both players are done."""
        return all(player.is_done for player in self.players)


class Load:
    """All pairs of players, and what they have received."""

    def __init__(
        self,
        token: str,
        seed: str,
        gateways: Sequence[Gateway],
        pause: float = 0.0,
        tls: ssl.SSLContext | None = None,
        tokens: Mapping[str, str] | None = None,
        couples: Sequence[tuple[str, str]] = COUPLES,
    ) -> None:
        """`token`: prefix of all names, of letters and digits. `pause`: seconds before each message.

        `tls`: half of the players then connect with TLS. `tokens`: the tokens of protected names. `couples`:
        the dialects of the pairs, assigned in turn.
        """
        self.courses: list[Course] = []
        """All courses so far."""
        self.results = 0
        """How many results the players have received."""
        self.stuck: list[str] = []
        self.troubles: list[str] = []
        """Descriptions of mistakes of servers."""
        self.is_over = False
        """Set this to begin no further courses."""
        self._token = token
        self._seed = seed
        self._ways = [*product(gateways, gateways)]
        self._pause = pause
        self._tls = tls
        self._tokens = tokens or {}
        self._couples = couples
        self._nursery: trio.Nursery

    @property
    def live(self) -> Sequence[Course]:
        """The courses that are not over."""
        return [each for each in self.courses[-_RECENT:] if not each.is_done]

    @property
    def players(self) -> list[Player]:
        """The players of all courses so far."""
        return [player for each in self.courses for player in each.players]

    async def run(self, pairs: int) -> None:
        """Play with `pairs` pairs until `is_over` is set, then finish the current games."""
        async with trio.open_nursery() as self._nursery:
            for pair in range(pairs):
                self._nursery.start_soon(self._play_on, pair)

    def meet(self, gateways: Sequence[Gateway]) -> Course:
        """Connect one more pair to one or two servers, at a table; return its course.

        In the lobby two nodes are kept apart for some seconds if one was slow to answer the other.
        """
        number = len(self.courses)
        one = self._course(f"m{number}", AT_TABLES[number % len(AT_TABLES)], (gateways[0], gateways[-1]))
        self._nursery.start_soon(self._play, one)
        return one

    async def _play_on(self, pair: int) -> None:
        number = 0
        while not self.is_over:
            gateways = self._ways[(pair + number) % len(self._ways)]
            await self._play(
                self._course(f"p{pair}g{number}", self._couples[pair % len(self._couples)], gateways)
            )
            number += 1

    def _course(self, key: str, dialects: tuple[str, str], gateways: tuple[Gateway, Gateway]) -> Course:
        table = self._token + key
        games = course(f"{self._seed} {table}", is_left=not VAGUE & {*dialects})
        names = table + "a", table + "b"
        has_table = all(DIALECTS[dialect].has_tables for dialect in dialects)
        first, second = (
            Player(
                dialects[side],
                Wish(
                    names[side],
                    table if has_table else None,
                    None if has_table or not DIALECTS[dialects[side]].has_tables else names[1 - side],
                    self._tokens.get(names[side]),
                ),
                names[1 - side],
                games,
                gateways[side],
            )
            for side in (0, 1)
        )
        one = Course(table, games, (first, second))
        self.courses.append(one)
        return one

    async def _play(self, one: Course) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, one, nursery.cancel_scope)
            for player in one.players:
                nursery.start_soon(self._let_play, one, player)
        for player in one.players:
            player.is_done = True

    async def _let_play(self, one: Course, player: Player) -> None:
        """Play one player's part of a course, until it ends or the server hangs up."""
        while not (self.is_over or player.is_done):
            try:
                address, tls = player.gateway.addresses[player.dialect], None
                if Random(player.wish.name).random() < 0.5:
                    tls = self._tls
                async with connected(address, tls=tls) as client:
                    async for _ in player.converse(client, address, self._pause):
                        self._note(one, player)
                player.is_done = True
            except (HungUp, Closed) as error:
                if player.comes_back and player.gateway.is_up:
                    continue
                if player.is_in or player.is_leaving:
                    # i32cfsp 5.7: there is no word for the loss of the opponent's node
                    may_hang_up = player.has_one_game and len(one.gateways) > 1
                    if player.waits and player.gateway.is_up and not may_hang_up:
                        self.troubles.append(f"{player}: {error} in a game")
                    player.is_done = True
                else:
                    await trio.sleep(_RETURN)
            except OutOfStep as error:
                player.is_done = True
                self.troubles.append(f"{player}: {error}")

    def _note(self, one: Course, player: Player) -> None:
        """Record that a player has received something, and count its results."""
        player.is_in, player.heard_at = True, monotonic()
        self.results += len(player.results) - player.counted
        player.counted = len(player.results)
        if one.begun is None and all(each.is_playing for each in one.players):
            one.begun = player.heard_at

    async def _watch(self, one: Course, scope: trio.CancelScope) -> None:
        """End a course that makes no progress."""
        alone_since: float | None = None
        while not one.is_done:
            await trio.sleep(_LOOK)
            now = monotonic()
            for player in one.players:
                if not player.gateway.is_up:
                    player.heard_at = now
            if any(player.is_done for player in one.players):
                is_alone = not any(player.waits and player.hears_of_leaving for player in one.players)
            else:
                is_alone = self.is_over and not any(player.waits for player in one.players)
            alone_since = (alone_since or now) if is_alone else None
            if now - max(player.heard_at for player in one.players) > STUCK:
                self.stuck.append(" and ".join(f"{each}, {each.state}" for each in one.players))
                scope.cancel()
            elif alone_since is not None and now - alone_since > GRACE:
                scope.cancel()
