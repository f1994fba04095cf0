"""A tournament in memory, as the database keeps it, and a hub whose players meet at its table."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.game.board import Side
from gateway.game.commands import HOUSE_PLAYERS
from gateway.game.ids import game_ids
from gateway.game.results import Finished, Scheduled
from gateway.matchmaking.standard import LobbyAndTables
from gateway.store.records import WORDS, GameRecord, record_of
from gateway.tournament.acts import ACTS, decide
from gateway.tournament.log import (
    COMPLETE,
    Awarded,
    Begun,
    Entered,
    Entry,
    Forbidden,
    Forfeited,
    Known,
    LoggedEntry,
    Paired,
    Replayed,
    TournamentNews,
    TournamentResult,
    Voided,
    written,
)
from gateway.tournament.pairings import BREAKS, UNDECIDED, PairingState
from gateway.tournament.report import described
from gateway.tournament.settings import Settings, parse
from gateway.tournament.table import TournamentTable
from gateway.tournament.testing import TESTS
from gateway.tournament.tournament import Tournament
from gateway.tournament.tournaments import Tournaments
from worlds.hub import World


def file_of(**settings: object) -> str:
    """Return the file of a tournament; a round robin called cup unless the settings say otherwise.

    No seat is kept for a player whose connection breaks.
    """
    values = {"name": "cup", "format": "round-robin", "grace": 0} | settings
    return "\n".join(f"{key.replace('_', '-')} = {_toml(value)}" for key, value in values.items())


def _toml(value: object) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{" + ", ".join(f"{json.dumps(key)} = {json.dumps(each)}" for key, each in value.items()) + "}"


class Stored:
    """A stored tournament. Its time, in milliseconds, passes by one with each thing that is stored."""

    def __init__(self, **settings: object) -> None:
        self.file = file_of(**settings)
        self.settings: Settings = parse(self.file)
        self.entries: list[LoggedEntry] = []
        self.games: list[TournamentResult] = []
        self.created = 0
        """When it was added, in milliseconds."""
        self.now = 0
        self._ids = game_ids(1)

    @classmethod
    def like(cls, other: "Stored") -> "Stored":
        """Return a copy, to which other things are added."""
        stored = cls.__new__(cls)
        stored.file, stored.settings = other.file, other.settings
        stored.created, stored.now = other.created, other.now
        stored.entries, stored.games = [*other.entries], [*other.games]
        stored._ids = game_ids(2)
        return stored

    def append(self, known: Known, entries: Sequence[Entry]) -> bool:
        """Add entries, if their writer knows the whole log and all games of the pairings that they forfeit.

        Otherwise return False, and add none.
        """
        forfeited = [entry.pairing for entry in entries if isinstance(entry, Forfeited)]
        return self.append_texts(known, [*map(written, entries)], forfeited)

    def append_texts(self, known: Known, texts: Sequence[str], pairings: Sequence[int]) -> bool:
        """Add the texts of entries, if their writer knows the whole log and all games of `pairings`.

        Otherwise return False, and add none.
        """
        latest = max((game.row for game in self.games if game.pairing in pairings), default=0)
        if known.entries != len(self.entries) or latest > known.row:
            return False
        self.now += 1
        self.entries += [LoggedEntry(self.now, each) for each in texts]
        return True

    def log(self, *entries: Entry) -> None:
        """Add entries to the log, whatever it has."""
        self.now += 1
        self.entries += [LoggedEntry(self.now, written(entry)) for entry in entries]

    def act(self, act: str, *, by: str = "nora", at: float | None = None, **given: str) -> Entry:
        """Log what an act of the director adds, at a time in seconds; return it. Raises ValueError."""
        now = self.now / 1000 if at is None else at
        decision = decide(self.read(), act, {"by": by, **given}, now, sorted(HOUSE_PLAYERS))
        self.sign(decision.entry, decision.by, decision.reason)
        return decision.entry

    def sign(self, entry: Entry, by: str = "nora", reason: str = "") -> None:
        """Log an entry of a person, whatever the log has."""
        self.now += 1
        self.entries.append(LoggedEntry(self.now, written(entry, by, reason)))

    def begin(self, *names: str, pairings: Sequence[tuple[int, int | None, int]] = ()) -> None:
        """Log the players, the beginning in this order, and pairings."""
        entered = [Entered(name, house=name in self.settings.house) for name in names]
        self.log(*entered, Begun([*range(len(names))]), Paired(pairings))

    def keep(self, record: GameRecord) -> None:
        """Store a game of the tournament."""
        place, (first, second) = record.scheduled, record.players
        assert place is not None
        result = TournamentResult(
            row=len(self.games) + 1,
            game=record.game,
            pairing=place.pairing,
            number=place.number,
            ended=record.ended,
            first=first.name,
            second=second.name,
            result=record.result,
            reason=WORDS[record.reason],
            thought=record.thought,
            culprit=place.culprit,
            fault=place.fault,
        )
        self.games.append(result)

    def play(
        self,
        pairing: int,
        number: int,
        winner: int | None = None,
        reason: str = "four",
        *,
        fault_of: int | None = None,
        thought: tuple[int, int] = (0, 0),
    ) -> None:
        """Store a game of a pairing, won by its first player (0), its second (1), or nobody.

        `fault_of` is the player whose fault ended it, `thought` the time of the two players.
        """
        tournament, swapped = self.read(), number % 2
        players = [tournament.entrants[each or 0].name for each in tournament.pairings[pairing].pairing[:2]]
        culprit: Side | None = None if fault_of is None else 1 if fault_of != swapped else 0
        self.now += 1
        result = TournamentResult(
            row=len(self.games) + 1,
            game=next(self._ids),
            pairing=pairing,
            number=number,
            ended=self.now,
            first=players[swapped],
            second=players[1 - swapped],
            result=0 if winner is None else 1 + (winner + swapped) % 2,
            reason=reason,
            thought=(thought[swapped], thought[1 - swapped]),
            culprit=culprit,
            fault=None if fault_of is None else "crash",
        )
        self.games.append(result)

    def news(self, known: Known | None = None) -> TournamentNews:
        """Return what was added after the known part, or all if it is None."""
        key = self.settings.key
        if known is None:
            return TournamentNews(key, self.file, [*self.entries], [*self.games], self.created)
        if known == COMPLETE:
            return TournamentNews(key, "", [], [], self.created)
        games = [game for game in self.games if game.row > known.row]
        return TournamentNews(key, "", self.entries[known.entries :], games, self.created)

    def read(self) -> Tournament:
        """Return the tournament, read whole."""
        return Tournament.of(self.news())


class Cup(World):
    """A hub with the table of a tournament, whose games are stored at once."""

    def __init__(
        self,
        stored: Stored,
        kind: type[LobbyAndTables] = LobbyAndTables,
        *,
        house_after: float = 5.0,
        run: int = 0,
        **terms: Any,
    ) -> None:
        self.stored = stored
        self.tournaments = Tournaments()
        self.epoch = stored.now / 1000
        """When the hub's clock was 0, in seconds of the store's time."""
        matchmaker = kind(random.Random(0), house_after=house_after, large_tables=self.tournaments.tables)
        super().__init__(matchmaker, run=run, **terms)

    @property
    def table(self) -> TournamentTable:
        return self.tournaments.tables[self.stored.settings.key]

    @property
    def here(self) -> list[str]:
        """The names of those who sit at the table."""
        return self.table.here

    def keep(self, finished: Finished) -> None:
        super().keep(finished)
        if finished.scheduled is not None:
            self.store(record_of(finished, self.epoch))

    def store(self, record: GameRecord) -> None:
        """Store a game of the tournament."""
        self.stored.keep(record)

    def read(self, *entries: Entry) -> None:
        """Let the server read what was added, and these entries besides."""
        if entries:
            self.stored.log(*entries)
        self.take(self.stored.news(self.tournaments.known(math.inf).get(self.stored.settings.key)))

    def take(self, news: TournamentNews) -> None:
        """Let the server take in what it has read."""
        assert self.tournaments.take([news], self.now, self.tournaments.epoch) == {}
        self.hub.settle(self.now)


@dataclass(eq=False)
class PlayedSeries:
    """A series that is on."""

    scheduled: Scheduled
    players: tuple[str, str]
    """The mover of the first game, and the other player."""
    seats: tuple[int, int]
    games: int
    played: int = 0
    is_on: bool = False
    """Whether a game is on."""

    @property
    def number(self) -> int:
        """The number of the game that is on, or of the next one."""
        return self.scheduled.first + self.played

    @property
    def movers(self) -> tuple[str, str]:
        return self.players if self.played % 2 == 0 else self.players[::-1]


class Played:
    """A tournament with a server and players of chance, without a hub.

    Whatever happens, it checks that no game is played that is over, and that nobody has two games at a time.
    """

    def __init__(self, rng: random.Random, names: Sequence[str], **settings: object) -> None:
        self.rng, self.names = rng, [*names]
        self.stored = Stored(**settings)
        self.tournaments = Tournaments()
        self.on: list[PlayedSeries] = []
        self.seats: dict[int, str] = {}
        self.begun: list[tuple[int, int]] = []
        """The pairings and numbers of all games in the order in which they began."""
        self._seat = 0
        self._ids = game_ids(3)
        self.read()

    @classmethod
    def drawn(cls, seed: int, **chosen: object) -> "Played":
        """Return a tournament of any kind."""
        rng = random.Random(seed)
        settings: dict[str, object] = {
            "format": rng.choice(["round-robin", "gauntlet", "swiss", "knockout", "ladder"]),
            "games": rng.choice([2, 2, 4]),
            "boards": rng.choice([0, 0, 1, 2]),
            "faults": rng.choice([1, 3, 1000]),
            "walkover": rng.choice([1, 5]),
            "rest": rng.choice([0, 3]),
            "break": rng.choice([0, 0, 4]),
            "extra": rng.choice([0, 1]),
            "house": rng.choice([[], ["random"]]),
            "entry-test": "random",
        } | chosen
        if rng.random() < 0.7:
            del settings["entry-test"]
        if settings["format"] in ("round-robin", "swiss"):
            settings["then"] = rng.choice(["knockout", "swiss", "round-robin"])
            if settings["format"] == "round-robin" and rng.random() < 0.5:
                settings["groups"] = 2
            settings["advance"] = rng.choice([0, 1, 2, 3] if "groups" in settings else [0, 2, 3])
            if rng.random() < 0.3:
                del settings["then"], settings["advance"]
        return cls(rng, [f"bot {number}" for number in range(rng.randint(2, 6))], **settings)

    @property
    def table(self) -> TournamentTable:
        return self.tournaments.tables[self.stored.settings.key]

    @property
    def unix(self) -> float:
        return self.stored.now / 1000

    # Players.

    def sit(self, name: str) -> int | None:
        """Let a player sit down, if it is admitted; return its seat."""
        if not self.table.admits(name):
            return None
        self._seat += 1
        self.seats[self._seat] = name
        self.table.sit(self._seat, name)
        self.table.wait(self._seat)
        return self._seat

    def rise(self, seat: int) -> None:
        """Let a player go; it loses a game that is on by a fault, or breaks it off."""
        for series in [each for each in self.on if seat in each.seats]:
            place = series.seats.index(seat)
            if series.is_on:
                culprit = place if series.played % 2 == 0 else 1 - place
                has_moved = self.rng.random() < 0.5
                self._store(
                    series, 2 - culprit if has_moved else 0, "left" if has_moved else "aborted", culprit
                )
            self._finish(series)
        del self.seats[seat]
        self.table.rise(seat)

    def seat_of(self, name: str) -> int | None:
        return next((seat for seat, each in self.seats.items() if each == name), None)

    def take_over(self) -> None:
        """Let another matchmaker take over: the players sit down anew, and the series that are on go on."""
        self.tournaments.forget_seats()
        seats = [*self.seats]
        self.rng.shuffle(seats)
        for seat in seats:
            self.table.sit(seat, self.seats[seat])
        for series in self.on:
            self.table.resume(series.scheduled)
        for seat in {*seats}.difference(*(each.seats for each in self.on)):
            self.table.wait(seat)

    def crash(self) -> None:
        """Let the server be killed: nobody is there any more, and the games that are on are lost."""
        self.on.clear()
        self.seats.clear()
        self.tournaments = Tournaments()
        self.read()

    # Games.

    def begin_series(self) -> None:
        """Begin all series that can begin."""
        for one, other, games, scheduled in self.table.pairs():
            players = self.seats[one], self.seats[other]
            assert not any({one, other} & {*each.seats} for each in self.on), "two games at a time"
            if scheduled.pairing < TESTS:
                state = self.table.tournament.pairings[scheduled.pairing]
                numbers = range(scheduled.first, scheduled.first + games)
                assert not state.points.keys() & {*numbers}, "a game that is over is played"
                names = [self.table.tournament.name_of(each) for each in state.players]
                assert [*players] == (names if scheduled.first % 2 == 0 else names[::-1])
                assert all(each in self.table.tournament.present for each in state.players)
            assert self.table.tournament.ended is None
            assert not self.table.tournament.is_paused or scheduled.pairing >= TESTS
            self.on.append(PlayedSeries(scheduled, players, (one, other), games))

    def begin_game(self, series: PlayedSeries) -> None:
        series.is_on = True
        self.begun.append((series.scheduled.pairing, series.number))
        self.table.began(series.scheduled)

    def end_game(
        self, series: PlayedSeries, result: int, reason: str = "four", culprit: Side | None = None
    ) -> None:
        """End the game that is on; the series goes on, or is over."""
        self._store(series, result, reason, culprit)
        if reason == "stopped" or series.played == series.games:
            self._finish(series)

    def play_all(self) -> None:
        """Play all series that are on to their ends, without faults."""
        for series in [*self.on]:
            while series in self.on:
                if not series.is_on:
                    self.begin_game(series)
                self.end_game(series, self.rng.randint(0, 2))

    def _store(self, series: PlayedSeries, result: int, reason: str, culprit: Side | None) -> None:
        movers, self.stored.now = series.movers, self.stored.now + 1
        fault = None if culprit is None else {"left": "crash", "aborted": "crash"}.get(reason, reason)
        self.stored.games.append(
            TournamentResult(
                row=len(self.stored.games) + 1,
                game=next(self._ids),
                pairing=series.scheduled.pairing,
                number=series.number,
                ended=self.stored.now,
                first=movers[0],
                second=movers[1],
                result=result,
                reason=reason,
                thought=(self.rng.randint(0, 99), self.rng.randint(0, 99)),
                culprit=culprit,
                fault=fault,
            )
        )
        series.is_on = False
        series.played += 1

    def _finish(self, series: PlayedSeries) -> None:
        self.on.remove(series)
        self.table.finished(series.scheduled)
        for seat in series.seats:
            self.table.wait(seat)

    # What is due.

    def read(self) -> None:
        known = self.tournaments.known(self.unix).get(self.stored.settings.key)
        assert self.tournaments.take([self.stored.news(known)], self.unix, self.tournaments.epoch) == {}

    def turn(self, acts: float = 0.0) -> bool:
        """Read, seat the server's own players, and add what is due; return whether something was due.

        With the probability `acts` the director is faster.
        """
        self.read()
        table, tournament = self.table, self.table.tournament
        self._seat_house_players()
        if tournament.state == "over":
            return False
        entries = [*self.tournaments.entries(table, self.unix, self.unix)]
        if not entries and tournament.is_to_begin(table.here, self.unix):
            entries = [tournament.beginning({}, table.seen(self.unix))]
        elif not entries and (question := tournament.question(self.unix)) is not None:
            entries = [*self.tournaments.pairings(table, question())]
        if entries and self.rng.random() < acts:
            self.act_by_chance()
        if entries and not self.stored.append(tournament.known, entries):
            tournament.ask_again()
        return bool(entries)

    def _seat_house_players(self) -> None:
        for name in self.table.tournament.house_players:
            if name not in self.table.here:
                self.sit(name)
        for name in ("random", "aima"):
            for _ in range(self.table.testers(name), self.table.testers_wanted(name)):
                if name not in self.table.tournament.house_players or name in self.table.here:
                    self.sit(name)
            for seat in [] if self.table.testers_wanted(name) else self.testers(name):
                self.rise(seat)

    def testers(self, name: str) -> list[int]:
        """Return the seats of the house players of this name that take no part."""
        return [seat for seat, each in self.seats.items() if each == name and seat not in self.table.seated()]

    def act(self, act: str, **given: str) -> bool:
        """Let the director act; return whether that was possible."""
        try:
            self.stored.act(act, **given)
        except ValueError:
            return False
        return True

    def act_by_chance(self) -> None:
        rng, tournament = self.rng, self.stored.read()
        names = [*self.names, "random", "late", "stranger"]
        pairing = rng.randint(1, max(1, len(tournament.pairings)))
        present = [tournament.name_of(each) for each in {*tournament.stage.players} & tournament.present]
        rng.shuffle(present)
        self.act(
            rng.choice([*sorted(ACTS.keys() - {"end"}), *["award", "void", "replay", "undo"] * 2]),
            player=rng.choice(names),
            other=rng.choice(names),
            house=rng.choice(["random", "aima"]),
            game=f"{pairing}.{rng.randint(1, tournament.settings.games)}",
            to=rng.choice([*names, "draw"]),
            text=rng.choice("abc"),
            pairs=", ".join(" - ".join(present[place : place + 2]) for place in range(0, len(present), 2)),
        )

    # Stories.

    def step(self, trouble: float = 0.0, acts: float = 0.0) -> None:
        """Let something happen; with a probability, something that goes wrong, or an act."""
        rng = self.rng
        if rng.random() < acts:
            self.act_by_chance()
        if rng.random() < trouble and self.seats:
            self.rise(rng.choice([*self.seats]))
        if rng.random() < trouble:
            self.stored.now += rng.choice([100, 1000, 5000])
        if rng.random() < trouble / 5:
            self.take_over()
        if rng.random() < trouble / 10:
            self.crash()
        for name in self.names:
            if self.seat_of(name) is None and rng.random() < 0.4:
                self.sit(name)
        for series in [*self.on]:
            if not series.is_on:
                self.begin_game(series)
            elif rng.random() < trouble:
                reason = rng.choice(["illegal", "time", "stopped", "aborted"])
                culprit = rng.choice((0, 1)) if reason in ("illegal", "time") else None
                self.end_game(series, 0 if culprit is None else 2 - culprit, reason, culprit)
            elif rng.random() < 0.7:
                result = rng.randint(0, 2)
                self.end_game(series, result, "four" if result else "full")
        self.stored.now += 50
        for _ in range(rng.randint(0, 2)):
            self.turn(acts)
            self.begin_series()

    def end(self, steps: int = 600) -> None:
        """Let everything go well until the tournament is over; a ladder is ended."""
        self.act("resume")
        self.act("start")
        for number in range(steps):
            self.stored.now += 1000
            self.step()
            self.turn()
            if self.stored.read().state == "open":
                self.act("start")
                self.names += [name for name in ("one more", "another one") if self.act("enter", player=name)]
            if number == 60 and self.stored.read().stage.format == "ladder":
                self.act("end")
            if self.table.tournament.state == "over" and not self.on:
                self.turn()
                return
        raise AssertionError("it does not end")

    def check_end(self) -> None:
        tournament = self.stored.read()
        assert tournament.ended is not None
        undone = [tournament.log[number].entry for number in tournament.undone]
        for number, state in enumerate(tournament.pairings):
            assert tournament.schedule.is_over(number) or tournament.ended.by_director
            if any(isinstance(each, Replayed) and each.pairing == number for each in undone):
                continue  # the replay may have been on
            annulled = {
                game
                for ruling in state.rulings
                if isinstance(ruling.entry, Replayed)
                for game in ruling.entry.annulled
            }
            numbers = [
                each.number
                for each in state.results
                if each.reason not in UNDECIDED and each.game not in annulled
            ]
            assert len({*numbers}) == len(numbers), "a game was played twice"
        self.check_points(tournament)

    def read_in_pieces(self) -> Tournament:
        """Return the tournament, read in pieces that end anywhere."""
        rng, tournament, known = self.rng, None, Known()
        whole = self.stored.news()
        while tournament is None or known != Known(len(whole.entries), len(whole.games)):
            entries = rng.randint(known.entries, min(len(whole.entries), known.entries + 9))
            row = rng.randint(known.row, min(len(whole.games), known.row + 9))
            part = whole._replace(
                entries=whole.entries[known.entries : entries], games=whole.games[known.row : row]
            )
            if tournament is None:
                tournament = Tournament.of(part)
            else:
                tournament.add(part)
            known = Known(entries, row)
            assert tournament.known == known
            if rng.random() < 0.5:
                described(tournament, self.unix)
            if rng.random() < 0.5:
                tournament.question(self.unix)
        return tournament

    def check_points(self, tournament: Tournament) -> None:
        """Compare the points of all pairings and players with those by the log and the games, naively."""
        totals = dict[int, float]()
        decided, annulled = dict[tuple[int, int], tuple[float, float]](), set[str]()
        for number, (_, (entry, _, _), _) in enumerate(tournament.log):
            if number not in tournament.undone:
                self._decide(tournament, entry, decided, annulled)
        for number, state in enumerate(tournament.pairings):
            first, second, _ = state.pairing
            if second is None:
                totals[first] = totals.get(first, 0) + tournament.settings.games
                continue
            points = [0.0, 0.0]
            for game in range(tournament.settings.games):
                found = decided.get((number, game)) or self._played(state, game, annulled)
                for side in (0, 1) if found is not None else ():
                    assert found is not None
                    points[side] += found[side]
            assert tournament.meeting(number).points == tuple(points)
            for player, of_player in zip(state.players, points, strict=True):
                if tournament.schedule.is_over(number):
                    totals[player] = totals.get(player, 0) + of_player
        found = dict[int, float]()
        for stage in range(len(tournament.stages)):
            for row in tournament.stage_standings(stage):
                found[row.player] = found.get(row.player, 0) + row.tie_breaks["game-points"]
        assert {player: total for player, total in found.items() if total} == {
            player: total for player, total in totals.items() if total
        }

    def _decide(
        self,
        tournament: Tournament,
        entry: Entry,
        decided: dict[tuple[int, int], tuple[float, float]],
        annulled: set[str],
    ) -> None:
        match entry:
            case Forfeited(pairing, games, absent):
                first, second = (float(each not in absent) for each in tournament.pairings[pairing].players)
                for game in games:
                    decided.setdefault((pairing, game), (first, second))
            case Awarded(pairing, game, winner):
                players = tournament.pairings[pairing].players
                first, second = (0.5 if winner is None else float(each == winner) for each in players)
                decided[pairing, game] = first, second
            case Voided(pairing, games):
                decided |= {(pairing, game): (0.0, 0.0) for game in games}
            case Forbidden(_, voided):
                decided |= {(pairing, game): (0.0, 0.0) for pairing, games in voided for game in games}
            case Replayed(pairing, games, ids):
                annulled.update(ids)
                for game in games:
                    decided.pop((pairing, game), None)

    def _played(self, state: PairingState, number: int, annulled: set[str]) -> tuple[float, float] | None:
        leavings = [0, 0]
        for game in state.results:
            if game.number != number or game.game in annulled:
                continue
            if game.reason not in UNDECIDED:
                first = {0: 0.5, 1: 1.0, 2: 0.0}[game.result]
            elif game.culprit is not None:
                leavings[game.culprit] += 1
                if leavings[game.culprit] < BREAKS:
                    continue
                first = float(game.culprit)
            else:
                continue
            return (first, 1 - first) if number % 2 == 0 else (1 - first, first)
        return None
