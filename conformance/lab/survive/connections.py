"""Does a player whose connection breaks during a game get its seat back, and does nobody else?

Pairs of nac4, arena and Droidcon clients play, at tables and by wish. In each game the connection of a player
breaks at a random moment, and the player comes back, with --nodes 2 to either node.

    after, asked           seconds until a player had its seat: since the break, and since it asked for it
    lost though back       games that a player lost although it came back in time
    taken by others        seats that strangers, or both of two connections, got
    told otherwise         results that players received and that are not stored, or the reverse
    kept though late       games that a player has not lost although it came too late, or said farewell
    refused                requests to come back that the server refused, or did not answer
    stuck                  pairs that received nothing for 20 s
    troubles               messages out of place, such as a board with other moves than those made so far;
                           hang-ups in a game; errors in a server's log; problems with the database
"""

import hashlib
import secrets
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from time import monotonic, time_ns

import trio

from conformance.arguments import Parser
from conformance.boards import CELLS
from conformance.dialects.script import LEFT, Closed, OutOfStep
from conformance.lab.bots import couple
from conformance.lab.client import HungUp
from conformance.lab.report import Row, counted, finish, in_folder, ms, percentile, some
from conformance.lab.servers import Gateway, Log, servers
from conformance.lab.survive.breaks import BEGINS, REPLAYING, Break, Pair, ReturningPlayer, can_be_unnoticed
from conformance.lab.survive.players import COUPLES, STUCK, Result, course
from conformance.lab.survive.verdict import ABORTED, STOPPED, complaints_about, stored_in
from conformance.lab.workers import LoadError, many_files, say
from conformance.launch import COMMAND

TEXT = "does a player whose connection breaks get its seat back, and does nobody else?"
DIALECTS = [couple for couple in COUPLES if {*couple} <= BEGINS.keys()]
"""The dialects of the pairs, assigned in turn: those whose players the laboratory lets come back."""
GAMES = 2
"""Games that two players play, each with a break."""
OPTIONS = (
    *("--rounds", str(GAMES), "--games-per-pair", "0", "--clock", "1000", "--idle", "1000"),
    *("--max-per-address", "0", "--connects-per-second", "0"),
)
REPLAYED = "replayed"
"""The reason, in an export, of games that are played again."""
KINDS = {
    "reset": "the connection ends with a TCP reset",
    "end": "the stream ends, without a farewell",
    "close": "the websocket is closed with another code than 1000",
    "silent": "all packets to the client are dropped, so the connection stays half-open",
    "rebooted": "the client's system has forgotten the connection, and resets it when the server sends",
    "moving": "a move, or a part of it, is on the way",
    "twice": "the player comes back with two connections at once",
    "stranger": "others ask for the seat, from another address or without the token",
    "both": "the connections of both players break",
    "again": "the connection breaks twice in a game; a Droidcon player then loses",
    "late": "the player comes back after the grace",
    "farewell": "the websocket is closed with the code 1000, or without a code; the player loses",
}
"""The kinds of breaks. The first five are the ways in which a connection can break."""
WAYS = tuple(KINDS)[:5]
NOTICED = WAYS[:3]
"""The ways that the server notices at once. The others are possible only with CAP_NET_ADMIN."""
LAST = ("again", "late", "farewell")
"""Kinds after which two players may play no further game."""
OF_LINES = {"close": "end", "farewell": "late"}
"""What happens to players without a websocket instead."""
UNNOTICED = 0.1
"""The least seconds until a player comes back whose connection seems to be there."""
LOST, TAKEN, OTHERWISE, KEPT = "lost though back", "taken by others", "told otherwise", "kept though late"
_LOOK = 0.5
_TOKENS = 4
"""One in this many pairs has protected names."""


def main(parser: Parser, argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    parser.count("--breaks", 500, "how many in all, at least")
    parser.count("--pairs", 40, "pairs that play at a time")
    parser.seconds("--grace", 4.0, "how long the server keeps a seat")
    parser.add_argument("--nodes", choices=("1", "2"), default="1", help="how many servers (1)")
    parser.only(KINDS)
    parser.report()
    parser.seed()
    options, wide = parser.parse_args(argv), list[Row]()
    print(f"seed {options.seed}", flush=True)
    rows, notes = in_folder("connections-", lambda folder: trio.run(survive, options, folder, wide))
    return finish("survive connections", rows, options, notes, wide=wide)


async def survive(
    options: Namespace, folder: Path, wide: list[Row], command: Sequence[str] = COMMAND
) -> tuple[list[Row], list[str]]:
    """Break connections, and compare what players received with what is stored.

    Returns the figures, and lines about problems; adds the figures of each kind of break to `wide`. Raises
    LoadError or ServerError, which may be in an ExceptionGroup.
    """
    token = f"x{time_ns() // 1000 % 10**12}"
    numbers = range(0, options.breaks, _TOKENS)
    tokens = {f"{token}n{number}{end}": secrets.token_urlsafe(16) for number in numbers for end in "ab"}
    hashes = {name: hashlib.sha256(each.encode()).hexdigest() for name, each in tokens.items()}
    players = folder / "players"
    players.write_text("".join(f"{name}\tsha256:{each}\n" for name, each in hashes.items()))
    words = [*OPTIONS, "--grace", f"{options.grace:g}", "--players", str(players)]
    logs = [Log(file=folder / f"log.{number}") for number in range(int(options.nodes))]
    with many_files():
        async with servers(logs, words, str(folder / "games.db"), command) as (nodes, place):
            load = Load(options, token, tokens, nodes)
            async with trio.open_nursery() as nursery:
                for _ in range(options.pairs):
                    nursery.start_soon(load.run)
            for node in nodes:
                _, status = await node.stop()
                load.troubles += [f"{node} ended with status {status}"] if status else []
                load.troubles += [f"{node}: {line}" for line in node.log.examples]
            stored = await stored_in(place, token)
            load.troubles += await complaints_about(place)
    troubles = {
        **verdict(load.pairs, stored),
        "refused": [each for pair in load.pairs for each in pair.refused],
        f"stuck for {STUCK:g} s": load.stuck,
        "troubles": load.troubles,
    }
    wide += [row for kind in KINDS for row in rows_of(kind, load.breaks)]
    results = sum(len(player.results) for pair in load.pairs for player in pair.players)
    rows = [
        counted("all", "breaks", len(load.breaks)),
        counted("all", "games stored", len(stored)),
        counted("all", "of these to be played again", sum(each.game.reason == REPLAYED for each in stored)),
        counted("all", "results told", results),
        *(counted("all", what, len(lines), 0) for what, lines in troubles.items()),
    ]
    return rows, [line for what, lines in troubles.items() for line in some(what, lines)]


def rows_of(kind: str, breaks: Sequence[tuple[str, Break]]) -> list[Row]:
    """Return the figures of a kind of break: how many, by dialect, and how soon players had their seats."""
    own = [(dialect, each) for dialect, each in breaks if each.kind == kind]
    back = [(each.back, each.asked) for _, each in own if each.back is not None]
    if not own:
        return []
    after, asked = [each for each, _ in back], [each for _, each in back]
    return [
        *(Row(kind, name, sum(dialect == name for dialect, _ in own), form=".0f") for name in BEGINS),
        Row(kind, "back", len(back), form=".0f"),
        Row(kind, "after, p50", percentile(after, 50), "s"),
        Row(kind, "after, p95", percentile(after, 95), "s"),
        Row(kind, "asked, p50", ms(asked, 50), "ms", form=".0f"),
        Row(kind, "asked, p95", ms(asked, 95), "ms", form=".0f"),
    ]


class Load:
    """All pairs of players, and what went wrong."""

    def __init__(
        self, options: Namespace, token: str, tokens: dict[str, str], nodes: Sequence[Gateway]
    ) -> None:
        self.pairs: list[Pair] = []
        self.stuck: list[str] = []
        self.troubles: list[str] = []
        self._options = options
        self._token = token
        self._tokens = tokens
        self._nodes = nodes
        self._lot = Random(options.seed)
        self._ways = WAYS if can_be_unnoticed() else NOTICED
        self._possible = [kind for kind in options.only if kind not in WAYS or kind in self._ways]
        self._kinds: list[str] = []
        if not self._possible:
            raise LoadError(f"{' and '.join(options.only)} require the capability CAP_NET_ADMIN")

    @property
    def breaks(self) -> list[tuple[str, Break]]:
        """All breaks so far, with the dialects of the players."""
        players = chain.from_iterable(pair.players for pair in self.pairs)
        return [
            (player.dialect, each) for player in players for each in player.breaks if each.since is not None
        ]

    async def run(self) -> None:
        """Let pairs play, one after the other, until there were enough breaks."""
        while len(self.breaks) < self._options.breaks:
            pair = self._pair(len(self.pairs))
            self.pairs.append(pair)
            if len(self.pairs) % 50 == 0:
                say(f"{len(self.breaks)} breaks, {len(self.troubles) + len(self.stuck)} troubles")
            try:
                async with trio.open_nursery() as pair.nursery:
                    pair.nursery.start_soon(self._watch, pair)
                    for player in pair.players:
                        pair.nursery.start_soon(self._live, pair, player)
            finally:
                for sock in pair.sockets:
                    sock.close()

    async def _live(self, pair: Pair, player: ReturningPlayer) -> None:
        try:
            await player.live()
        except (HungUp, Closed, OutOfStep) as error:
            self.troubles.append(f"{player} against {player.partner}: {error}")
            pair.nursery.cancel_scope.cancel()
        player.is_done = True
        if player.partner.is_done or player.partner.is_away or player.is_cut_off:
            pair.nursery.cancel_scope.cancel()

    async def _watch(self, pair: Pair) -> None:
        while monotonic() < max(player.heard_at for player in pair.players) + STUCK:  # noqa: ASYNC110
            await trio.sleep(_LOOK)
        self.stuck.append(" and ".join(f"{each}, {each.state}" for each in pair.players))
        pair.nursery.cancel_scope.cancel()

    def _pair(self, number: int) -> Pair:
        """Return the next pair, with a break in each game."""
        name, lot = f"{self._token}n{number}", Random(f"{self._options.seed} {number}")
        pair = Pair(name, self._nodes, course(f"{self._options.seed} {number}", is_left=False)[:GAMES], lot)
        wishes = couple(name, at_table=lot.random() < 0.5)
        one, other = (
            ReturningPlayer(
                dialect, replace(wish, token=self._tokens.get(wish.name)), wishes[1 - side].name, pair
            )
            for side, (dialect, wish) in enumerate(zip(DIALECTS[number % len(DIALECTS)], wishes, strict=True))
        )
        pair.players = one, other
        one.partner, other.partner = other, one
        while len(self._kinds) < GAMES:
            self._kinds += self._lot.sample(self._possible, len(self._possible))
        kinds, self._kinds = self._kinds[:GAMES], self._kinds[GAMES:]
        # A game that is lost is the last one.
        for game, kind in enumerate(sorted(kinds, key=lambda kind: kind in LAST)):
            player = lot.choice(pair.players)
            player.breaks += self._breaks(kind, game, player)
            if kind == "both":  # the partner's connection breaks because that of the player does
                [other_one] = self._breaks(kind, game, player.partner)
                player.partner.breaks.append(replace(other_one, discs=CELLS))
        return pair

    def _breaks(self, kind: str, game: int, player: ReturningPlayer) -> list[Break]:
        """Return the one or two breaks of a player in a game."""
        lot, grace, length = self._lot, self._options.grace, len(player.games[game].moves)
        of_lines = OF_LINES if player.dialect in REPLAYING else {}
        kind = of_lines.get(kind, kind)
        ways = {"farewell": ["close"], "late": NOTICED}.get(kind, [kind] if kind in WAYS else self._ways)
        # What follows a part of a frame is no close frame.
        ways = [of_lines.get(way, way) for way in ways if (kind, way) != ("moving", "close")]
        way = lot.choice(ways)
        # Only after a break that nothing else follows, the game may end while the player is away.
        last = length - 1 if kind in (*WAYS, "moving") else length - 4
        shortest = {"stranger": 0.3, "late": grace + 0.5}.get(kind, 0.0 if way in NOTICED else UNNOTICED)
        longest = grace + 1.5 if kind == "late" else 0.6 * grace
        delay = lot.choice((shortest, lot.uniform(shortest, longest)))
        one = Break(kind, way, game, lot.randint(0, last), delay, is_lost=kind in ("late", "farewell"))
        if kind != "again":
            return [one]
        is_lost = player.dialect in REPLAYING
        discs = lot.randint(2 if is_lost else one.discs, last)
        return [one, replace(one, way="reset", discs=discs, is_lost=is_lost)]


# The verdict.


def verdict(pairs: Sequence[Pair], stored: Sequence[Result]) -> dict[str, list[str]]:
    """Compare what players received with what is stored; return descriptions of problems, by kind."""
    found: dict[str, list[str]] = {LOST: [], TAKEN: [], OTHERWISE: [], KEPT: []}
    rows = dict[str, list[Result]]()
    for result in stored:
        rows.setdefault(result.first[:-1], []).append(result)
    for pair in pairs:
        _judge(pair, rows.pop(pair.name, []), found)
    found[OTHERWISE] += [f"no pair played {each}" for each in chain.from_iterable(rows.values())]
    return found


def _judge(pair: Pair, rows: Sequence[Result], found: dict[str, list[str]]) -> None:
    found[TAKEN] += pair.taken
    loser = next((player for player in pair.players if player.is_lost), None)
    known = "; ".join(map(str, rows)) or "nothing"
    for player in pair.players:
        told = [f"{player}: {each}, stored: {known}" for each in player.results if rows.count(each) != 1]
        found[OTHERWISE] += told
        if player.is_cut_off and loser is not player.partner:
            found[LOST].append(f"{player} was told so of {player.partner}; stored: {known}")
    losses = 0
    for row in rows:
        game, names = row.game, (row.first, row.second)
        is_begun = any(each.moves.startswith(game.moves) for each in pair.games)
        if game in pair.games:
            is_right = rows.count(row) == 1
        elif game.reason == LEFT:
            is_right = is_begun
            winner = names[game.winner - 1]
            losses += loser is not None and winner == loser.partner.wish.name
            if loser is None or winner == loser.wish.name:
                found[LOST].append(f"{row}, by {pair}")
        elif game.reason == REPLAYED:
            is_right = is_begun and not game.winner
        else:  # the two may have met again after their last game, or after one has left
            is_right = game.reason in (ABORTED, STOPPED) and not game.winner and len(game.moves) < 2
            losses += is_right and loser is not None
        if not is_right:
            found[OTHERWISE].append(f"{row}, by {pair}")
    if loser is not None and not (losses and loser.partner.is_cut_off):
        found[KEPT].append(f"{loser}; stored: {known}")
    breaks = [each for player in pair.players for each in player.breaks if player.dialect in REPLAYING]
    again = sum(row.game.reason == REPLAYED for row in rows)
    # If both players of a game come back, they may play it again together.
    least = len({each.game for each in breaks if each.back is not None and not each.may_be_over})
    if not least <= again <= sum(each.since is not None for each in breaks):
        found[OTHERWISE].append(f"{pair} came back to {least} games from their beginning; stored: {known}")
