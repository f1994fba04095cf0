"""Tournaments of any bots that fail in any way, on a server that is killed at any moment."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from worlds.hub import DRAWN, FIRST_WINS, MANNERS, SECOND_WINS, Client
from worlds.tournaments import Cup, Stored

from gateway.game.commands import AtTable
from gateway.game.events import Ended
from gateway.game.manners import Afterwards, Manners
from gateway.game.results import Scheduled
from gateway.matchmaking.matchmaker import Match, Pair
from gateway.matchmaking.standard import LobbyAndTables
from gateway.store.records import GameRecord
from gateway.tournament.formats import Pairing
from gateway.tournament.log import (
    Entry,
    Forfeited,
    Known,
    Paused,
    Resumed,
    Returned,
    StartRequested,
    TournamentNews,
    Withdrawn,
)
from gateway.tournament.report import described
from gateway.tournament.tournament import Entrant, Tournament

TABLE = AtTable("cup")
SCRIPTS = [FIRST_WINS, FIRST_WINS, SECOND_WINS, SECOND_WINS, DRAWN]


@dataclass(eq=False)
class Bot:
    """A bot, which comes back under its name for as long as it does not give up."""

    name: str
    manners: Manners
    comes: int = 0
    """The step of the story in which it comes first."""
    client: Client | None = None
    has_given_up: bool = False
    sat: int = 0
    """When it last took a seat at the table, in moments of the story."""
    played: int = 0
    """When its latest series began."""

    @property
    def is_here(self) -> bool:
        return self.client is not None and not self.client.gone


class Watched(LobbyAndTables):
    """Tells of each game of the tournament that begins."""

    on_game: Callable[[Scheduled, int], object]

    def began(self, match: Match, game: int, **_: object) -> None:
        super().began(match, game)
        if isinstance(match, Pair) and match.scheduled is not None:
            self.on_game(match.scheduled, game)


class Server(Cup):
    """One run of a server, which is killed at its end."""

    def __init__(self, story: "Story", run: int) -> None:
        self.story = story
        super().__init__(story.stored, Watched, run=run, clock=4.0, penalty=1.0, idle=6.0, rejoin=3.0)
        assert isinstance(self.hub.matchmaker, Watched)
        self.hub.matchmaker.on_game = story.game_begins
        self.read()

    def store(self, record: GameRecord) -> None:
        self.story.game_ends(record)

    def take(self, news: TournamentNews) -> None:
        super().take(news)
        self.story.announce(self.table.tournament)


class Plan(NamedTuple):
    """How a story goes."""

    settings: dict[str, object]
    bots: Sequence[Bot]
    trouble: float
    """How often anything goes wrong."""
    steps: int
    """The steps in which things go wrong."""
    rng: random.Random


@dataclass
class Story:
    """A tournament from its beginning to its end, and what has been announced of it."""

    plan: Plan
    step: int = 0
    runs: int = 0
    unstored: list[GameRecord] = field(default_factory=list)
    """Games that wait for the store."""
    journal: list[GameRecord] = field(default_factory=list)
    """Games of a lost server, which may be stored at any time, or never."""
    late: set[tuple[int, int]] = field(default_factory=set)
    """The games with a result in the journal."""
    announced: dict[tuple[int, int], object] = field(default_factory=dict)
    """What was made of each game of each pairing: the id of the game that counts, or who forfeited it."""
    paired: list[Pairing] = field(default_factory=list)
    """All pairings that have been announced."""
    newest: Known = field(default_factory=Known)
    """The latest state that has been announced."""
    moment: int = 0
    """Passes with each series that begins, and with each bot that sits down."""

    def __post_init__(self) -> None:
        self.stored = Stored(**self.plan.settings)
        self.rng = self.plan.rng
        self.server = Server(self, 0)
        self.decisions = self.direct()

    # What goes wrong.

    def goes_wrong(self, weight: float = 1.0) -> bool:
        return self.rng.random() < weight * self.plan.trouble

    def kill(self) -> None:
        """Kill the server without a warning; what was not stored is lost, or left in a journal."""
        for record in self.unstored:
            self.lose(record)
        self.unstored.clear()
        self.runs += 1
        for bot in self.plan.bots:
            bot.client = None
        self.stored.now += 100
        self.server = Server(self, self.runs)
        self.decisions = self.direct()

    def lose(self, record: GameRecord) -> None:
        """Lose a game: for ever, or into a journal."""
        if self.rng.random() < 0.5:
            assert record.scheduled is not None
            self.journal.append(record)
            self.late.add(record.scheduled[:2])

    # Games.

    def game_begins(self, scheduled: Scheduled, game: int) -> None:
        tournament, number = self.stored.read(), scheduled.first + game - 1
        assert scheduled.pairing < len(tournament.pairings), "its pairing was not stored"
        state = tournament.pairings[scheduled.pairing]
        if (scheduled.pairing, number) not in self.late:
            assert number not in state.games, "a game with a result is played again"
            assert number not in state.forfeited, "a forfeited game is played"
        assert 0 <= number < tournament.settings.games
        assert game <= 2, "it cannot be paused for long"
        known = self.server.table.tournament
        if game == 1:
            assert known.state == "running"
            players = known.pairings[scheduled.pairing].pairing[:2]
            assert all(each in known.present for each in players), "a withdrawn bot plays"
            self.moment += 1
            for bot in self.plan.bots:
                if known.number_of(bot.name) in players:
                    bot.played = self.moment

    def game_ends(self, record: GameRecord) -> None:
        assert record.scheduled is not None
        pairing, number = record.scheduled[:2]
        tournament = self.stored.read()
        first, second, _ = tournament.pairings[pairing].pairing
        assert second is not None
        movers = (first, second) if number % 2 == 0 else (second, first)
        assert [each.name for each in record.players] == [tournament.entrants[each].name for each in movers]
        if self.goes_wrong(0.2):
            self.lose(record)
        else:
            self.unstored.append(record)

    # The service, as it works; it may be interrupted after each `yield`.

    def direct(self) -> Iterator[None]:
        """Read, decide and append for ever."""
        server, tournaments = self.server, self.server.tournaments
        while True:
            for record in self.unstored:
                self.stored.keep(record)
            self.unstored.clear()
            news = self.stored.news(tournaments.known(math.inf)["cup"])
            yield
            server.take(news)
            yield
            table, tournament = server.table, server.table.tournament
            known = tournament.known
            entries = (
                [*tournaments.entries(table, server.now, self.stored.now / 1000)]
                if tournament.state != "over"
                else []
            )
            if not entries and tournament.is_to_begin(table.here, 0.0):
                ratings = {each.name: self.rng.random() for each in tournament.entrants}
                entries = [tournament.beginning(ratings, table.seen(server.now))]
            elif not entries and (question := tournament.question(0.0)) is not None:
                yield
                entries = [*tournaments.pairings(table, question())]
            yield
            if self.goes_wrong(0.3):
                tournament.ask_again()  # the store cannot be written
            elif entries and self.append(known, entries):
                self.note_returns(tournament, entries)
            yield

    def append(self, known: Known, entries: Sequence[Entry]) -> bool:
        self.stored.now = max(self.stored.now, round(1000 * (self.server.epoch + self.server.now)))
        return self.stored.append(known, entries)

    def note_returns(self, tournament: Tournament, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, Returned):
                name = tournament.entrants[entry.player].name
                [bot] = [each for each in self.plan.bots if each.name == name]
                assert bot.sat > bot.played, "it did not sit down anew"

    def organise(self) -> None:
        """Let the director use a command."""
        tournament = self.stored.read()
        commands: list[Entry] = [Resumed() if tournament.is_paused else Paused()]
        if tournament.fault_of_start() is None:
            commands.append(StartRequested())
        present = tournament.present
        if len(present) > 2:
            commands.append(Withdrawn(self.rng.choice([*present]), "by the director"))
        if tournament.ended is None:
            self.append(tournament.known, [self.rng.choice(commands)])

    # What has been announced.

    def announce(self, tournament: Tournament) -> None:
        """Compare what is announced now with all that was announced, by this run or an earlier one."""
        pairings = [each.pairing for each in tournament.pairings]
        both = len(min(pairings, self.paired, key=len))
        assert pairings[:both] == self.paired[:both]
        self.paired = max(pairings, self.paired, key=len)
        for pairing, state in enumerate(tournament.pairings):
            assert not state.games.keys() & state.forfeited.keys(), "a game counts twice"
            made = {number: game.game for number, game in state.games.items()}
            made_up = {number: tuple(each.absent) for number, each in state.forfeited.items()}
            for number, each in {**made, **made_up}.items():
                before = self.announced.setdefault((pairing, number), each)
                assert before == each, "it was announced otherwise"
            if tournament.known >= self.newest:
                assert tournament.meeting(pairing).points == self.points(tournament, pairing)
                numbers = {number for where, number in self.announced if where == pairing}
                assert numbers == {*made, *made_up}, "what was announced is forgotten"
        self.newest = max(self.newest, tournament.known)

    def points(self, tournament: Tournament, pairing: int) -> tuple[float, float]:
        """Return the points of a pairing by what was announced, naively."""
        first, second, _ = tournament.pairings[pairing].pairing
        if second is None:
            return float(tournament.settings.games), 0.0  # a bye
        totals = [0.0, 0.0]
        by_id = {game.game: game for game in self.stored.games}
        for (where, number), made in self.announced.items():
            if where != pairing:
                continue
            if isinstance(made, tuple):
                totals[0] += first not in made
                totals[1] += second not in made
            else:
                assert isinstance(made, str)
                game = by_id[made]
                for side in (0, 1):
                    mover = (side + number) % 2
                    if game.reason == "aborted":  # the third time by the same player
                        totals[side] += game.culprit != mover
                    else:
                        totals[side] += 0.5 if game.result == 0 else float(game.result - 1 == mover)
        return totals[0], totals[1]

    # The bots.

    def connect(self, bot: Bot) -> None:
        """Let a bot come back; an earlier connection of its own that is lost makes room for it."""
        old, table = bot.client, self.server.table
        was_here = bot.name in table.here
        bot.client = self.server.player(bot.manners, bot.name, TABLE, "192.0.2.7")
        if old is not None and not old.gone and old.probes:
            was_here = False
            old.leave()
        if not bot.is_here or bot.name not in table.here:
            bot.client.leave()
        elif not was_here:
            self.sits_down(bot)

    def sits_down(self, bot: Bot) -> None:
        self.moment += 1
        bot.sat = self.moment

    def act(self, bot: Bot) -> None:
        """Let a bot do what it has to do, or something that goes wrong."""
        client = bot.client
        if not bot.is_here or client is None or not client.is_reachable:
            is_due = self.step >= bot.comes and not bot.has_given_up
            if is_due and self.rng.random() < 0.5:
                self.connect(bot)
        elif self.goes_wrong(0.1) and self.stored.read().begun_at is not None:
            bot.has_given_up = self.rng.random() < 0.3
            client.leave()
        elif self.goes_wrong(0.1):
            client.is_reachable = False
        elif client.request is not None:
            game, board = client.request.game, client.request.board
            client.hand()
            if self.goes_wrong(0.2):
                client.play(9)
            elif not self.goes_wrong(0.2):  # else it thinks for too long, perhaps
                client.play(int(random.Random(game).choice(SCRIPTS)[len(board.moves)]))
        elif bot.manners.afterwards is Afterwards.STEP_OUT and client.heard[-1:] == client.all(Ended)[-1:]:
            was_here = bot.name in self.server.table.here
            client.enter(TABLE, bot.name)
            if not was_here and bot.name in self.server.table.here:
                self.sits_down(bot)

    # Time.

    def pass_time(self, seconds: float) -> None:
        server = self.server
        until = server.now + seconds
        while server.now < until:
            server.now = min(until, server.now + 0.25)
            for seat in server.hub.tick(server.now):
                server.hub.flag(seat, server.now)
        self.stored.now = max(self.stored.now, round(1000 * (server.epoch + server.now)))

    def go_wrong(self) -> None:
        """Take one step in which anything may go wrong."""
        self.step += 1
        for _ in range(self.rng.randint(1, 12)):
            self.act(self.rng.choice(self.plan.bots))
        for _ in range(self.rng.randint(0, 6)):
            next(self.decisions)
            if self.rng.random() < 0.5:
                self.announce(self.stored.read())  # as the page does, which reads the store itself
            if self.journal and self.goes_wrong(0.3):
                self.stored.keep(self.journal.pop())
        if self.rng.random() < 0.3:
            self.pass_time(self.rng.choice([0.25, 1.0, 4.0]))
        if self.goes_wrong(0.2):
            self.organise()
        if self.goes_wrong(0.2):
            self.kill()
        playing = [bot.client for bot in self.plan.bots if bot.client is not None and bot.client.plays]
        if playing and self.goes_wrong(0.1):
            client = self.rng.choice(playing)
            self.server.hub.lose(client.seat, self.server.now)  # as if it was on another node
            client.leave()

    def end(self) -> None:
        """Let everything go well until the tournament is over."""
        self.plan = self.plan._replace(trouble=0.0)
        names = {each.name for each in self.stored.read().entrants if _may_play(each)}
        remaining = [bot for bot in self.plan.bots if bot.name in names]
        if remaining and all(bot.has_given_up for bot in remaining):
            remaining[0].has_given_up = False  # absences do not count while all are absent
        for _ in range(2_000):
            self.step += 1
            for _ in range(2):
                for bot in self.plan.bots:
                    self.act(bot)
            for _ in range(6):
                next(self.decisions)
            tournament = self.stored.read()
            if tournament.is_paused:
                self.append(tournament.known, [Resumed()])
            elif tournament.fault_of_start() is None:
                self.append(tournament.known, [StartRequested()])
            if self.server.table.tournament.state == "over":
                return
            is_asked = any(bot.client is not None and bot.client.request for bot in self.plan.bots)
            self.pass_time(0.25 if is_asked else 1.0)
        raise AssertionError("it does not end")

    def check_end(self) -> None:
        known, read = self.server.table.tournament, self.stored.read()
        assert described(known, 0.0) == described(read, 0.0)
        assert known.known == read.known == Known(len(self.stored.entries), len(self.stored.games))
        for number in range(len(read.pairings)):
            assert read.meeting(number).is_over
        forfeits = [each.entry for each in read.log if isinstance(each.entry, Forfeited)]
        assert all(each.games for each in forfeits)


def _may_play(entrant: Entrant) -> bool:
    return entrant.withdrawn is None or entrant.withdrawn.may_return


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    bots = [
        Bot(
            name=f"bot {number}",
            manners=replace(MANNERS[draw(st.sampled_from([*MANNERS]))], clocked=draw(st.booleans())),
            comes=draw(st.sampled_from([0, 0, 0, 20])),
        )
        for number in range(draw(st.integers(2, 8)))
    ]
    settings: dict[str, object] = {
        "format": draw(st.sampled_from(["round-robin", "gauntlet", "swiss", "knockout"])),
        "games": draw(st.sampled_from([2, 4])),
        "boards": draw(st.sampled_from([0, 1, 2])),
        "faults": draw(st.sampled_from([3, 1, 2, 1000])),
        "walkover": draw(st.sampled_from([5, 1, 1, 30])),
    }
    if draw(st.booleans()):
        settings["players"] = max(2, sum(not each.comes for each in bots))
    trouble = draw(st.sampled_from([0.0, 0.05, 0.2, 0.5]))
    rng = random.Random(draw(st.integers(0, 2**32)))
    return Plan(settings, bots, trouble, draw(st.sampled_from([0, 30, 100, 200])), rng)


@given(plans())
def test_tournament_ends_and_nothing_is_lost_or_announced_otherwise(plan: Plan) -> None:
    story = Story(plan)
    for _ in range(plan.steps):
        story.go_wrong()
    story.end()
    story.check_end()
