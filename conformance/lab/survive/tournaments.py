"""Does a tournament go on and lose nothing, whenever its server or a node is killed?

Bots of all dialects sit down at the table of a tournament, play random columns, and come back whatever
happens. Tournaments of all formats are played one after the other. Directors send acts of all kinds, also two
at once, by the API and by commands. Meanwhile the server, or one of two nodes, is killed at random moments
and started again, until it was killed --kills times in all. At the end the results that bots received are
compared with the stored ones, and the answers that directors received with the log and the audit logs.

    told and not stored    results that bots received, and that are not in the database, or differ there
    told otherwise         results of the tournament that the database had before a kill, and not after it
    counted twice          games with a result that were played again, but not by an act
    acts in another order  acts that the log has before an act that was answered before they were sent
    reported otherwise     parts of the servers' reports that differ from the database
    read otherwise         the same for a tournament that was read in many parts, as a server does
    points                 players whose points differ if they are counted without the gateway's code
    idle                   the part of the time in which a board had no game, with a board for each two bots
"""

import random
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, time

import trio

from adapters.client.contract import Flooded, PeerGone, WireError
from adapters.client.dial import Endpoint
from adapters.client.talk import AnyDialogue, Asked, Entry, Over, Refused, Result, Spent
from adapters.dialects import DIALECTS
from conformance.arguments import Parser
from conformance.lab.bots import EVERY, script_of
from conformance.lab.report import Row, counted, finish, in_folder, some
from conformance.lab.servers import Gateway, Log, servers, until
from conformance.lab.survive.directors import Directors, differences, options_of, recount
from conformance.lab.workers import LoadError, say
from conformance.launch import COMMAND
from gateway.game.board import COLUMNS, Side
from gateway.game.events import Reason
from gateway.store import tournaments
from gateway.store.database import open_to_read, open_to_write
from gateway.store.games import Filter, every
from gateway.store.records import GameRecord
from gateway.tournament.acts import ACTS
from gateway.tournament.log import Known, TournamentNews, TournamentResult
from gateway.tournament.report import described
from gateway.tournament.settings import FORMATS, parse
from gateway.tournament.tournament import Tournament

TEXT = "does a tournament go on, and lose nothing, whenever its server or a node is killed?"
OPTIONS = ("--max-per-address", "0", "--connects-per-second", "0")
EXPECTED = (
    "players hear of results that only the journal has",
    "the database has failed",
    "the process that serves the web has ended",
    "tournaments wait, since something they need fails",
)
"""Errors that a server may log when a node or a process of a server is killed."""
NAME = "Cup"
PARTS = {
    **{form: f'format = "{form}"' for form in FORMATS},
    "groups": 'format = "round-robin"\ngroups = 2\nthen = "knockout"\nadvance = 2',
}
"""The tournaments, and their settings."""
DIRECTORS = ("nora", "otto")
LATE = 2
"""Bots that take part only if a director lets them."""
LIMIT = 900.0
"""Seconds within which a tournament has to end."""
AGAIN = 0.05
"""Seconds before a bot tries again to connect."""
UP = 2.0
"""The longest time from a start of the server until it is killed, in seconds."""
DURING = 0.05
"""The longest time from an act until the server is killed during it, in seconds."""
_TELLING = {Result.WON, Result.LOST, Result.DRAWN}


# Bots.


@dataclass(frozen=True, slots=True)
class Told:
    """A result that a bot received."""

    name: str
    side: Side | None
    moves: str
    """The moves that the bot knows; the last two may be missing."""
    result: Result
    has_no_word: bool
    """Whether the dialect cannot say that a game has no winner, and tells an aborted game as won."""

    def is_of(self, game: GameRecord) -> bool:
        """Whether this can be the result of a stored game."""
        if self.has_no_word and game.reason is Reason.ABORTED and self.result is Result.WON:
            return game.moves.startswith(self.moves)
        return any(
            game.players[side].name == self.name
            and self.result is {None: Result.DRAWN, side: Result.WON}.get(game.winner, Result.LOST)
            and game.moves.startswith(self.moves)
            and len(game.moves) <= len(self.moves) + 2
            for side in ((0, 1) if self.side is None else (self.side,))
        )


@dataclass(slots=True)
class Bot:
    """One bot, which plays random columns."""

    name: str
    dialect: str
    address: Callable[[str], Endpoint]
    """Returns where a server listens for a dialect now."""
    table: str
    lot: random.Random
    hangs_up: float = 0.0
    """The probability with which it hangs up instead of a move."""
    told: list[Told] = field(default_factory=list)

    async def run(self) -> None:
        """Play until cancelled."""
        [dialect] = [each for each in DIALECTS if each.name == self.dialect]
        while True:
            try:
                entry = Entry(self.address(self.dialect), self.name, table=self.table)
                async with dialect.open_dialogue(entry) as dialogue:
                    await self._play(dialogue)
            except* (OSError, PeerGone, Refused, Flooded, WireError):
                pass  # it comes back
            await trio.sleep(AGAIN)

    async def _play(self, dialogue: AnyDialogue) -> None:
        await dialogue.hello()
        while True:
            news = await dialogue.hear()
            for item in news:
                if isinstance(item, Over) and item.result in _TELLING:
                    moves = "".join(map(str, item.board.moves))
                    has_no_word = script_of(EVERY[self.dialect]).wins_aborted
                    told = Told(self.name, item.side, moves, item.result, has_no_word)
                    self.told.append(told)
                elif isinstance(item, Asked):
                    if self.lot.random() < self.hangs_up:
                        return
                    await dialogue.move(self.lot.choice([*filter(item.board.has_room, range(COLUMNS))]))
            if Spent() in news:
                return
            if any(isinstance(item, Over) for item in news):
                await dialogue.again()


def bots_of(
    count: int,
    address: Callable[[str], Endpoint],
    lot: random.Random,
    table: str = NAME,
    hangs_up: float = 0.0,
) -> list[Bot]:
    """Return so many bots, of all dialects with tables in turn."""
    names = [each.name for each in DIALECTS if each.has_places]
    return [
        Bot(f"bot{number:02}", names[number % len(names)], address, table, lot, hangs_up)
        for number in range(count)
    ]


# What is stored.


@dataclass(slots=True)
class Stored:
    """A tournament in a database, and what was seen of it."""

    place: str
    """The file of the database, or its URL."""
    key: str
    in_parts: Tournament
    """The tournament as it was read bit by bit."""
    seen: dict[int, TournamentResult] = field(default_factory=dict)
    """All games that the database had at any time, by their rows."""
    otherwise: list[str] = field(default_factory=list)
    """Descriptions of results that were no longer in the database, or that had changed."""

    @classmethod
    def added(cls, place: str, settings: str) -> "Stored":
        """Add a tournament to a database."""
        database, key = open_to_write(place), parse(settings).key
        try:
            with database.writing() as connection:
                tournaments.create(connection, key, settings)
        finally:
            database.close()
        found = cls(place, key, Tournament(parse(settings)))
        found.in_parts = Tournament.of(found.news())
        return found

    def news(self, known: Known | None = None) -> TournamentNews:
        """Read the tournament, or what was added after the known part."""
        database = open_to_read(self.place)
        try:
            with database.reading() as connection:
                [news] = tournaments.news(connection, {} if known is None else {self.key: known}, self.key)
        finally:
            database.close()
        return news

    def look(self) -> Tournament:
        """Read the tournament, and compare it with what was seen before."""
        news = self.news()
        self.in_parts.add(self.news(self.in_parts.known))
        found = {result.row: result for result in news.games}
        for row, result in self.seen.items():
            if found.get(row) != result:
                self.otherwise.append(f"{result}, then {found.get(row)}")
        self.seen = found
        return Tournament.of(news)

    def games(self) -> list[GameRecord]:
        """Return all stored games."""
        database = open_to_read(self.place)
        try:
            return [game for game in every(database.reading, Filter()) if game.table == NAME]
        finally:
            database.close()


def lost(bots: Sequence[Bot], games: Sequence[GameRecord]) -> list[Told]:
    """Return the results that bots received and that are not stored."""
    by_name: dict[str, list[GameRecord]] = {}
    for game in games:
        for player in game.players:
            by_name.setdefault(player.name, []).append(game)
    return [told for bot in bots for told in bot.told if not any(map(told.is_of, by_name.get(bot.name, ())))]


# The command.


def main(parser: Parser, argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    parser.add_argument("--kills", type=int, default=50, metavar="N", help="how often in all (50); 0: never")
    parser.add_argument("--acts", type=int, default=300, metavar="N", help="acts of directors in all (300)")
    parser.count("--bots", 8, "bots at the table")
    parser.count("--games", 20, "games of each pairing, an even number")
    parser.add_argument("--rounds", type=int, metavar="N", help="Swiss rounds")
    parser.add_argument(
        "--hang-ups", type=float, default=0.001, metavar="SHARE", help="moves left out (0.001)"
    )
    parser.add_argument("--nodes", choices=("1", "2"), default="1", help="how many servers (1)")
    parser.only(dict.fromkeys(PARTS, ""))
    parser.report()
    parser.seed()
    options = parser.parse_args(argv)
    rows, notes = in_folder("tournaments-", lambda folder: trio.run(survive, options, folder))
    return finish("survive tournaments", rows, options, notes)


async def survive(
    options: Namespace, folder: Path, command: Sequence[str] = COMMAND
) -> tuple[list[Row], list[str]]:
    """Play tournaments of all formats; return the figures, and lines about problems.

    Raises LoadError, and ServerError within an exception group.
    """
    rows, notes, did = list[Row](), list[str](), Counter[str]()
    # Nodes log at a lower level that they are linked.
    log_level = [] if options.nodes == "2" else ["--log-level", "warning"]
    for number, form in enumerate(options.only):
        done = options.kills * number // len(options.only)
        kills = options.kills * (number + 1) // len(options.only) - done
        own = folder / str(number)
        own.mkdir()
        logs = [Log(expected=EXPECTED) for _ in range(int(options.nodes))]
        words = [*OPTIONS, *options_of(own), *log_level]
        async with servers(logs, words, str(own / "games.db"), command) as (gateways, place):
            more, lines, acts = await _played(options, form, gateways, place, kills, own)
        rows += more
        notes += lines
        did += acts
    return [*rows, *(counted("acts done", act, did[act]) for act in ACTS)], notes


async def _kill(
    times: int, stored: Stored, gateways: Sequence[Gateway], directors: Directors, lot: random.Random
) -> int:
    """Kill servers and their child processes so often, or until the tournament ends; return how often."""
    for done in range(times):
        if stored.look().ended is not None:
            return done
        await trio.sleep(lot.uniform(0, UP))
        if lot.random() < 0.5:  # during an act
            with trio.move_on_after(UP):
                await directors.asked.wait()
            await trio.sleep(lot.uniform(0, DURING))
        victim = lot.choice(gateways)
        if lot.random() < 0.25:
            victim.kill_child(lot)
            continue
        await victim.kill(with_children=lot.random() < 0.5)
        stored.look()
        await victim.start()
    return times


async def _played(
    options: Namespace, form: str, gateways: Sequence[Gateway], place: str, kills: int, folder: Path
) -> tuple[list[Row], list[str], Counter[str]]:
    lot = random.Random(f"{options.seed} {form}")
    rounds = f"rounds = {options.rounds}\n" if form == "swiss" and options.rounds else ""
    stored = Stored.added(
        place,
        f'name = "{NAME}"\n{PARTS[form]}\ngames = {options.games}\nwalkover = 20\nlate = false\n'
        f"break = 1\nrest = 1\n{rounds}",
    )

    def address(dialect: str) -> Endpoint:
        up = [each for each in gateways if each.is_up] or gateways
        found = lot.choice(up).addresses[dialect]
        return Endpoint(found.host, found.port)

    bots = bots_of(options.bots + LATE, address, lot, hangs_up=options.hang_ups)
    names = [bot.name for bot in bots]
    directors = Directors(NAME, place, stored.look, gateways, folder, lot, names)
    acts, is_over = options.acts // len(options.only), False
    async with trio.open_nursery() as nursery:
        for bot in bots[: options.bots]:
            nursery.start_soon(bot.run)
        if not await until(lambda: len(stored.look().entrants) >= options.bots, LIMIT):
            raise LoadError(f"the bots of the {form} have not entered within {LIMIT:g} s")
        if not await directors.until("start", lambda found: bool(found.pairings), LIMIT):
            raise LoadError(f"the {form} has not begun within {LIMIT:g} s")
        begun = monotonic()
        for bot in bots[options.bots :]:
            nursery.start_soon(bot.run)
        async with trio.open_nursery() as acting:
            for director in DIRECTORS:
                acting.start_soon(directors.run, director, acts)
            done = await _kill(kills, stored, gateways, directors, lot)
        if await directors.until("resume", lambda found: not found.is_paused, LIMIT):
            if form == "ladder":
                due = stored.look().schedule.unfinished()
                is_over = await until(lambda: not {*due} & {*stored.look().schedule.unfinished()}, LIMIT)
                is_over &= await directors.until("end", lambda found: found.ended is not None, LIMIT)
            else:
                is_over = await until(lambda: stored.look().ended is not None, LIMIT)
        nursery.cancel_scope.cancel()
    seconds = monotonic() - begun
    reported = await directors.reported_otherwise(stored.look)
    for each in gateways:
        await each.stop()
    say(f"{form}: {done} kills, {len(directors.sent)} acts, {seconds:.0f} s")
    tournament, games = stored.look(), stored.games()
    counts, report = recount(stored.news(), options.games), described(tournament, time())
    troubles: dict[str, Sequence[object]] = {
        "told and not stored": lost(bots, games),
        "told otherwise": stored.otherwise,
        "counted twice": counts.twice,
        **directors.troubles(tournament),
        "reported otherwise": reported,
        "read otherwise": differences(described(stored.in_parts, time()), report),
        "points": counts.differences(report),
        "errors in the log": [line for each in gateways for line in each.log.examples],
        "tournaments that have not ended": [] if is_over else [tournament.state],
    }
    played = sum(game.ended - game.began for game in games) / 1000
    faults = Counter[str]()
    for entrant in tournament.entrants:
        faults.update(entrant.faults)
    rows = [
        counted(form, "kills", done),
        counted(form, "acts done", sum(each.is_done is True for each in directors.sent)),
        counted(form, "acts refused", sum(each.is_done is False for each in directors.sent)),
        counted(form, "acts without an answer", sum(each.is_done is None for each in directors.sent)),
        counted(form, "of these in the log", directors.unanswered(tournament)),
        counted(form, "games that count", sum(len(each.games) for each in tournament.pairings)),
        counted(form, "games played again", sum(len(each.broken) for each in tournament.pairings)),
        counted(form, "games forfeited", sum(len(each.forfeited) for each in tournament.pairings)),
        counted(form, "results told", sum(len(bot.told) for bot in bots)),
        *(counted(form, f"faults: {kind}", number) for kind, number in sorted(faults.items())),
        Row(form, "seconds", seconds, "s", form=".0f"),
        Row(form, "idle", 100 * (1 - played / (seconds * (options.bots // 2))), "%", form=".0f"),
        *(counted(form, what, len(lines), 0) for what, lines in troubles.items()),
    ]
    notes = [line for what, lines in troubles.items() for line in some(f"{form}: {what}", lines)]
    return rows, notes, Counter(each.act for each in directors.sent if each.is_done)
