"""Pairs of clients on the nodes of a cluster, which play all the time and come back when hung up on.

A client knows what comes next, as in `kills`, with one exception: at any time it may be told that its
opponent has left. Then, or when it is hung up on, the pair begins anew, under other names and at another
table. The rule the load keeps: a client that was told nothing noted nothing.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import product

import trio

from conformance.dialects.script import LEFT, Closed, Game, OutOfStep, Wish
from conformance.lab.bots import PLAIN, script_of
from conformance.lab.client import Client, HungUp, connected
from conformance.lab.cluster_faults.ground import Node
from conformance.lab.kills.games import course
from conformance.lab.kills.load import COUPLES, Player
from conformance.targets import Address

STUCK = 20.0
"""Seconds without any progress after which a player is stuck."""
GRACE = 1.0
"""Seconds that a player waits for its game after its partner has gone, before it begins anew."""
VAGUE = {dialect for dialect, kind in PLAIN.items() if script_of(kind).may_hang_up}
"""Dialects without a word for an opponent's leaving, and none for a game without a result."""
_LOOK = 0.25
"""Seconds between two looks at a pair."""
_RECENT = 1000
"""Courses of which some may be on."""
_RETURN = 0.1
"""Seconds until a client comes back to a node that does not let it in."""


class Member(Player):
    """One client. It bears to be told that its opponent has left."""

    def __init__(self, dialect: str, wish: Wish, partner: str, games: Sequence[Game], node: Node) -> None:
        super().__init__(dialect, wish, partner, games)
        self.node = node
        self.is_cut_off = False
        """Whether it was told that its opponent has left the game that was on."""
        self.winner: int | None = None
        """Whom it was told then to have won, as in `Game`; None where its dialect does not say."""
        self.is_done = False
        self.is_in = False
        """Whether it has heard anything yet."""
        self.heard_at = trio.current_time()
        self.free_at = 0.0
        """When a game of its was last over."""

    def __str__(self) -> str:
        return f"{super().__str__()} on {self.node}"

    @property
    def state(self) -> str:
        """How far it is."""
        return "gone" if self.is_done else str(self._place)

    @property
    def plays(self) -> bool:
        """Whether it waits for the end of a game."""
        return self.is_playing and not self.is_done and not self.is_cut_off

    @property
    def hears_of_leaving(self) -> bool:
        """Whether it is told of it when its opponent's node is lost."""
        return self.dialect not in VAGUE

    @property
    def is_host(self) -> bool:
        """Whether its node holds the game that is on: that of whoever had the first move at first."""
        return self.plays and bool(self._place.opens) == (len(self.results) % 2 == 0)

    def hear(self, message: bytes) -> bytes:
        """Take in a message; return what is to be sent. Raises OutOfStep."""
        if self.has_all or self.is_cut_off:
            return b""
        before = len(self.results)
        try:
            answer = super().hear(message)
        except OutOfStep:
            winners = self._leaving_told_by(message)
            if not winners:
                raise
            self.is_cut_off, answer = True, b""
            self.winner = winners.pop() if len(winners) == 1 else None
        if self.is_cut_off or len(self.results) > before:
            self.free_at = trio.current_time()
        return answer

    def _leaving_told_by(self, message: bytes) -> set[int]:
        """Return who may have won, where it says that somebody has left this game, at a board that can be."""
        if self.is_playing and not self.hears_of_leaving and message == b"NEW_GAME":
            return {0}  # droidcon 4.13: nothing was heard of the end
        discs = self._place.discs
        boards = range(max(0, discs - 2), discs + 2)  # its node may not know the latest two
        found = product(boards, (0, 1, 2)) if self.is_playing else ()
        return {winner for count, winner in found if self._fits(message, count, winner)}

    def _fits(self, message: bytes, discs: int, winner: int) -> bool:
        script = copy(self._script)
        script.game = Game(script.game.moves[:discs], winner, LEFT)
        step = script.advance(replace(self._place, discs=discs), message, self.wish.name)
        return step is not None and step.outcome is not None


@dataclass(eq=False, slots=True)
class Course:
    """Some games of two members."""

    table: str
    games: Sequence[Game]
    members: tuple[Member, Member]
    created: float = field(default_factory=trio.current_time)
    begun: float | None = None
    """When both had heard of a game."""

    @property
    def nodes(self) -> set[Node]:
        """One or two."""
        return {member.node for member in self.members}

    @property
    def is_done(self) -> bool:
        """Whether both members are."""
        return all(member.is_done for member in self.members)

    @property
    def heard_at(self) -> float:
        """When one of them last heard anything."""
        return max(member.heard_at for member in self.members)


class Load:
    """All pairs."""

    def __init__(self, token: str, seed: str, nodes: Sequence[Node], pause: float) -> None:
        """`token`, of letters and digits, is what all names begin with; `pause` is before each word."""
        self.courses: list[Course] = []
        """All that were begun."""
        self.stuck: list[str] = []
        self.troubles: list[str] = []
        """What servers should not have said or done."""
        self.is_over = False
        self._token = token
        self._seed = seed
        self._ways = [*product(nodes, nodes)]
        self._pause = pause
        self._nursery: trio.Nursery

    @property
    def live(self) -> Sequence[Course]:
        """Those that are on."""
        return [each for each in self.courses[-_RECENT:] if not each.is_done]

    @property
    def results(self) -> int:
        """How many results were told."""
        return sum(len(member.results) for each in self.courses for member in each.members)

    async def run(self, pairs: int) -> None:
        """Play until `is_over`."""
        async with trio.open_nursery() as self._nursery:
            for pair in range(pairs):
                self._nursery.start_soon(self._sit, pair)

    def meet(self, nodes: Sequence[Node]) -> Course:
        """Let one more pair come, to these nodes."""
        number = len(self.courses)
        one = self._course(f"m{number}", COUPLES[number % len(COUPLES)], (nodes[0], nodes[-1]))
        self._nursery.start_soon(self._go, one)
        return one

    async def _sit(self, pair: int) -> None:
        number = 0
        while not self.is_over:
            nodes = self._ways[(pair + number) % len(self._ways)]
            await self._go(self._course(f"p{pair}g{number}", COUPLES[pair % len(COUPLES)], nodes))
            number += 1

    async def _go(self, one: Course) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, one, nursery.cancel_scope)
            for member in one.members:
                nursery.start_soon(self._play, one, member)
        for member in one.members:
            member.is_done = True

    def _course(self, key: str, dialects: tuple[str, str], nodes: tuple[Node, Node]) -> Course:
        table = self._token + key
        games = course(f"{self._seed} {table}", is_left=True)[:-1]
        first, second = (
            Member(dialects[side], Wish(table + "ab"[side], table), table + "ba"[side], games, nodes[side])
            for side in (0, 1)
        )
        one = Course(table, games, (first, second))
        self.courses.append(one)
        return one

    async def _play(self, one: Course, member: Member) -> None:
        """Let a member play, or as much of it as its server lives to see."""
        while not (self.is_over or member.is_done):
            try:
                address = member.node.server.addresses[member.dialect]
                async with connected(address) as client:
                    await self._converse(one, member, address, client)
                member.is_done = True
            except (HungUp, Closed) as error:
                plays = member.plays
                if member.is_in:
                    member.is_done = True
                    if plays and member.node.is_up:
                        self.troubles.append(f"{member}: {error} in a game")
                else:
                    await trio.sleep(_RETURN)
            except OutOfStep as error:
                member.is_done = True
                self.troubles.append(f"{member}: {error}")

    async def _converse(self, one: Course, member: Member, address: Address, client: Client) -> None:
        resource, rest = member.resource, b""
        if resource is not None:
            rest = await client.shake(address.authority, address.resource(resource))
        answer = member.opening
        while not (member.has_all or member.is_cut_off):
            if answer:
                await trio.sleep(self._pause)
                await client.say(answer)
            rest += await client.heard()
            member.is_in, member.heard_at = True, trio.current_time()
            cut = member.cut(rest)
            rest = cut.rest
            answer = b"".join([cut.answer, *map(member.hear, cut.messages)])
            if one.begun is None and all(each.is_playing for each in one.members):
                one.begun = member.heard_at

    async def _watch(self, one: Course, scope: trio.CancelScope) -> None:
        """Let a course be over that does not go on."""
        alone_since: float | None = None
        while not one.is_done:
            await trio.sleep(_LOOK)
            now = trio.current_time()
            for member in one.members:
                if not member.node.is_up:
                    member.heard_at = now
            is_alone = any(member.is_done for member in one.members) or self.is_over
            if not is_alone or any(member.plays and member.hears_of_leaving for member in one.members):
                alone_since = None
            else:
                alone_since = alone_since or now
            if now - one.heard_at > STUCK:
                self.stuck.append(" and ".join(f"{each}, {each.state}" for each in one.members))
                scope.cancel()
            elif alone_since is not None and now - alone_since > GRACE:
                scope.cancel()
