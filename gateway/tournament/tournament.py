"""The state of a tournament: what its log and its stored games say, and what has to be added to the log.

Pure: the same log and games give the same state, whether a game is added before or after later entries. (The
store adds no forfeit to a log if a game of its pairing was stored meanwhile.) Does not know seats, and reads
no clock.
"""

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from gateway.game.text import quoted
from gateway.tournament import formats
from gateway.tournament.formats import Field, Meeting, Pairing
from gateway.tournament.log import (
    Begun,
    Ended,
    Entered,
    Entry,
    Forfeited,
    Known,
    LoggedEntry,
    Paired,
    Paused,
    Resumed,
    Returned,
    StartRequested,
    TournamentNews,
    TournamentResult,
    Withdrawn,
    parsed,
)
from gateway.tournament.schedule import Schedule
from gateway.tournament.settings import Settings, parse
from gateway.tournament.standings import Row, standings

UNDECIDED = ("aborted", "stopped", "replayed")
"""The words for reasons after which a game is played again."""
LEFT = "left"
BREAKS = 3
"""A player that has left a game so often before both had moved has lost it."""
MOST_BEFORE = 1_000
"""The most players that may enter before the beginning; some of them will have left by then."""


@dataclass(slots=True)
class Entrant:
    """A player that has entered."""

    name: str
    house: bool = False
    withdrawn: Withdrawn | None = None
    """Why the player takes part no more; None if it takes part."""
    faults: dict[str, int] = field(default_factory=dict)
    """The number of its faults of each kind, by the words of `gateway.game.results.FAULT_WORDS`."""
    fault_times: list[int] = field(default_factory=list)
    """When its games ended by a fault of its own, in milliseconds of Unix time."""
    faultless: int = -1
    """When the latest game ended without a fault of its own."""
    left: int = 0
    """When it was withdrawn last."""
    back: int = 0
    """When it last returned. Earlier faults do not count for a withdrawal."""

    @property
    def faults_in_a_row(self) -> int:
        """The number of its latest games that ended by a fault of its own."""
        return sum(at > self.faultless and at >= self.back for at in self.fault_times)

    def add_fault(self, word: str, at: int) -> None:
        """Count a fault, one of `gateway.game.results.FAULT_WORDS`."""
        self.faults[word] = self.faults.get(word, 0) + 1
        self.fault_times.append(at)


@dataclass(slots=True)
class PairingState:
    """A pairing, and its games so far."""

    pairing: Pairing
    games: dict[int, TournamentResult] = field(default_factory=dict)
    """The games with a result, by their numbers."""
    broken: list[TournamentResult] = field(default_factory=list)
    """Games without a result, which are played again, and second results of the same game."""
    forfeited: dict[int, Forfeited] = field(default_factory=dict)
    """The games that are not played, by their numbers."""
    thought: list[int] = field(default_factory=lambda: [0, 0])
    """The thinking time of each player in the games with a result, in milliseconds."""
    faults: list[int] = field(default_factory=lambda: [0, 0])
    """The number of faults of each player."""

    def broken_in(self, games: Iterable[int]) -> int:
        """Return how often games with these numbers were stored without a result."""
        numbers = {*games}
        return sum(each.number in numbers for each in self.broken)


class Tournament:
    """One tournament."""

    def __init__(self, settings: Settings, created: int = 0) -> None:
        """`created` is when the tournament was added, in milliseconds of Unix time."""
        self.settings = settings
        self.created = created
        self.entrants: list[Entrant] = []
        self.pairings: list[PairingState] = []
        self.schedule = Schedule(settings.games)
        self.begun_at: int | None = None
        """When it began, in milliseconds of Unix time."""
        self.ended: Ended | None = None
        self.is_paused = False
        self.is_start_requested = False
        self.known = Known()
        """What was added so far."""
        self.log: list[tuple[int, Entry]] = []
        """All entries, each with its time in milliseconds of Unix time."""
        self._asked: object = None
        """The state for which further pairings were computed last."""
        self._waiting: list[TournamentResult] = []
        """Stored games of pairings that are not known yet."""

    @classmethod
    def of(cls, news: TournamentNews) -> "Tournament":
        """Return a tournament that was read whole. Raises ValueError if this version cannot read it."""
        try:
            tournament = cls(parse(news.settings), news.created)
            tournament.add(news)
        except (ArithmeticError, LookupError, TypeError) as error:
            raise ValueError(str(error) or repr(error)) from error
        return tournament

    # What is known.

    @property
    def state(self) -> str:
        """Open, running, paused or over."""
        if self.ended is not None:
            return "over"
        if self.begun_at is None:
            return "open"
        return "paused" if self.is_paused else "running"

    @property
    def field(self) -> Field:
        """The players, for a format."""
        present = {number for number, each in enumerate(self.entrants) if each.withdrawn is None}
        return Field(len(self.entrants), present)

    @property
    def rounds(self) -> int:
        """The number of Swiss rounds."""
        players = max(2, self.settings.players or len(self.entrants))
        return self.settings.rounds or math.ceil(math.log2(players))

    def number_of(self, name: str) -> int | None:
        """Return the number of the player with this name; None if it has not entered."""
        return next((number for number, each in enumerate(self.entrants) if each.name == name), None)

    def meeting(self, number: int) -> Meeting:
        """Return a pairing as formats and standings see it."""
        state = self.pairings[number]
        if state.pairing.second is None:
            return Meeting(state.pairing, is_over=True, points=(float(self.settings.games), 0.0))
        return Meeting(
            state.pairing,
            is_over=self.schedule.is_over(number),
            points=self.schedule.points(number),
            thought=(state.thought[0], state.thought[1]),
            faults=(state.faults[0], state.faults[1]),
        )

    def meetings(self) -> list[Meeting]:
        """Return all pairings as formats and standings see them."""
        return [self.meeting(number) for number in range(len(self.pairings))]

    def standings(self) -> list[Row]:
        """Return the standings, the best player first."""
        is_knockout = self.settings.format == "knockout"
        return standings(self.field, self.meetings(), self.settings.tie_breaks, is_knockout=is_knockout)

    def admits(self, name: str) -> bool:
        """Whether a player of this name may take part, now or later."""
        if self.ended is not None:
            return False
        number = self.number_of(name)
        if number is not None:
            withdrawn = self.entrants[number].withdrawn
            return withdrawn is None or withdrawn.may_return
        if self.begun_at is None:
            return len(self.entrants) < MOST_BEFORE
        may_enter = self.settings.late and self.settings.format != "knockout"
        return may_enter and len(self.entrants) < self.settings.most_players

    # What is added.

    def add(self, news: TournamentNews) -> None:
        """Add entries and games that were read. Raises ValueError if they do not fit."""
        for entry in news.entries:
            self._enter(entry)
        games = [*self._waiting, *news.games]
        self._waiting = []
        for game in games:
            if game.pairing < len(self.pairings):
                self._count(game)
            else:
                self._waiting.append(game)
        self.known = self.known.after(news)

    def _enter(self, logged: LoggedEntry) -> None:
        entry = parsed(logged.entry)
        self.log.append((logged.made, entry))
        match entry:
            case Entered(name, house):
                self.entrants.append(Entrant(name, house))
            case StartRequested():
                self.is_start_requested = True
            case Begun(order):
                # From now on the players have other numbers, also those that have withdrawn.
                for player in range(len(self.entrants)):
                    self.schedule.restore(player)
                self.entrants = [self.entrants[number] for number in order]
                self.begun_at = logged.made
                for player, entrant in enumerate(self.entrants):
                    if entrant.withdrawn is not None:
                        self.schedule.withdraw(player)
            case Paired(pairings):
                for first, second, round in pairings:
                    self._pair(Pairing(first, second, round))
            case Forfeited():
                self._forfeit(entry, logged.made)
            case Withdrawn(player):
                self.entrants[player].withdrawn, self.entrants[player].left = entry, logged.made
                self.schedule.withdraw(player)
            case Returned(player):
                self.entrants[player].withdrawn, self.entrants[player].back = None, logged.made
                self.schedule.restore(player)
            case Paused():
                self.is_paused = True
            case Resumed():
                self.is_paused = False
            case Ended():
                self.ended = entry
            case _:
                assert_never(entry)

    def _pair(self, pairing: Pairing) -> None:
        self.pairings.append(PairingState(pairing))
        # The schedule numbers pairings as this class does. A bye is a pairing that is over.
        second = pairing.first if pairing.second is None else pairing.second
        self.schedule.add([(pairing.first, second)])
        if pairing.second is None:
            for number in range(self.settings.games):
                self.schedule.count(len(self.pairings) - 1, number, 0.0, 0.0)

    def _forfeit(self, entry: Forfeited, made: int) -> None:
        state = self.pairings[entry.pairing]
        players = state.pairing.first, state.pairing.second
        points = [float(player not in entry.absent) for player in players]
        if sum(points) == 2:
            raise ValueError("a game is forfeited, and neither player was absent")
        for number in entry.games:
            if number in state.games or number in state.forfeited:
                continue
            state.forfeited[number] = entry
            self.schedule.count(entry.pairing, number, points[0], sum(points))
        for player in entry.absent:
            if self.entrants[player].withdrawn is None:
                self.entrants[player].add_fault("walkover", made)
                state.faults[players.index(player)] += 1

    def _count(self, game: TournamentResult) -> None:
        state = self.pairings[game.pairing]
        first, second, _ = state.pairing
        if second is None:
            return  # a game of another tournament, which had this name before
        state.broken = [each for each in state.broken if each.game != game.game]  # stored again with a result
        # The first mover of a game with an even number is the first player of the pairing.
        movers = (first, second) if game.number % 2 == 0 else (second, first)
        is_first = game.number not in state.games and game.number not in state.forfeited
        for side, player in enumerate(movers):
            entrant, number = self.entrants[player], (side + game.number) % 2
            if game.culprit == side and game.fault is not None:
                entrant.add_fault(game.fault, game.ended)
                state.faults[number] += 1
            elif game.reason not in UNDECIDED:
                entrant.faultless = max(entrant.faultless, game.ended)
            if is_first and game.reason not in UNDECIDED:
                state.thought[number] += game.thought[side]
        if game.culprit is not None and is_first and game.reason in UNDECIDED:
            again = [
                each for each in state.broken if (each.number, each.culprit) == (game.number, game.culprit)
            ]
            if len(again) + 1 >= BREAKS:  # otherwise a player that always leaves at once would never lose
                game = game._replace(result=2 - game.culprit, reason=LEFT)
        if game.reason in UNDECIDED or not is_first or game.number >= self.settings.games:
            state.broken.append(game)
            return
        state.games[game.number] = game
        points = {0: 0.5, 1: 1.0, 2: 0.0}[game.result]
        self.schedule.count(game.pairing, game.number, points if movers[0] == first else 1 - points)

    # What has to be added. All of it depends on who is here, which the caller knows.

    def entering(self, here: Iterable[str], arrived: Container[str]) -> list[Entry]:
        """Return the entries for players who sit at the table and do not take part.

        `arrived` has those who sat down after they had been withdrawn.
        """
        if self.ended is not None:
            return []
        entries = list[Entry]()
        known = {each.name: number for number, each in enumerate(self.entrants)}
        if self.begun_at is None:
            entries += [Entered(name, house=True) for name in self.settings.house if name not in known]
            entries += [Entered(name) for name in self.settings.expected if name not in known]
            known |= {entry.name: -1 for entry in entries if isinstance(entry, Entered)}
        room = (MOST_BEFORE if self.begun_at is None else self.settings.most_players) - len(known)
        for name in here:
            number = known.get(name)
            if number is None and room > 0 and self.admits(name):
                entries.append(Entered(name))
                room -= 1
            elif number is not None and number >= 0:
                withdrawn = self.entrants[number].withdrawn
                if withdrawn is not None and withdrawn.may_return and name in arrived:
                    entries.append(Returned(number))
        return entries

    def is_to_begin(self, here: Container[str], now: float) -> bool:
        """Whether the tournament has to begin, at `now` in seconds of Unix time."""
        taking_part = [each for each in self._staying(here) if self.entrants[each].withdrawn is None]
        if self.begun_at is not None or self.ended is not None or len(taking_part) < 2:
            return False
        if self.is_start_requested:
            return True
        if self.settings.start is not None:
            return now >= self.settings.start
        players = sum(self.entrants[each].name in here for each in taking_part)
        return self.settings.players is not None and players >= self.settings.players

    def beginning(self, ratings: Mapping[str, float], here: Container[str]) -> Begun:
        """Return the entry with which the tournament begins, with the seeds by the file or by ratings.

        Of the players that entered, those take part that are `here`, or were a moment ago, or are named in
        the file.
        """
        seeds = self.settings.seeds or ()
        names = [each.name for each in self.entrants]

        def place(number: int) -> tuple[int, float, int]:
            name = names[number]
            if name in seeds:
                return seeds.index(name), 0.0, number
            return len(seeds), -ratings.get(name, 0.0), number

        return Begun(sorted(self._staying(here), key=place))

    def _staying(self, here: Container[str]) -> list[int]:
        """Return the players that take part if the tournament begins now, and those that were withdrawn."""
        named = {*self.settings.house, *self.settings.expected}
        staying = [
            number
            for number, each in enumerate(self.entrants)
            if each.withdrawn is not None or each.name in named or each.name in here
        ]
        return staying[: self.settings.most_players]

    def withdrawals(self) -> list[Entry]:
        """Return the entries for players that had too many faults in a row."""
        most = self.settings.faults
        if self.state != "running":
            return []
        return [
            Withdrawn(number, f"{most} faults in a row", may_return=True)
            for number, each in enumerate(self.entrants)
            if each.withdrawn is None and each.faults_in_a_row >= most
        ]

    def forfeits_of_withdrawn(self, now: float) -> list[Entry]:
        """Return forfeits of the players that have withdrawn, once nothing else can be played.

        Until then they may come back and play, for `walkover` seconds at least. `now` is in seconds of Unix
        time.
        """
        if self.state != "running" or self.schedule.open_pairings():
            return []
        entries = list[Entry]()
        for number, state in enumerate(self.pairings):
            if self.schedule.is_over(number):
                continue
            players = [each for each in (state.pairing.first, state.pairing.second) if each is not None]
            absent = [each for each in players if self.entrants[each].withdrawn is not None]
            if all(self._is_gone(self.entrants[each], now) for each in absent):
                entries.append(self.forfeit(number, absent))
        return entries

    def _is_gone(self, entrant: Entrant, now: float) -> bool:
        withdrawn = entrant.withdrawn
        is_for_good = withdrawn is not None and not withdrawn.may_return
        return is_for_good or now >= entrant.left / 1000 + self.settings.walkover

    def forfeit(self, number: int, absent: Sequence[int]) -> Forfeited:
        """Return the entry that forfeits the rest of a pairing."""
        state = self.pairings[number]
        done = state.games.keys() | state.forfeited.keys()
        rest = [each for each in range(self.settings.games) if each not in done]
        return Forfeited(number, rest, absent)

    def question(self) -> Callable[[], Sequence[Pairing]] | None:
        """Return a function that computes further pairings, for another process.

        Return None if they were computed before for the present state, or if the format cannot add any. If
        the function returns none while all pairings are over, the tournament is over.
        """
        is_played, form = self.is_played, self.settings.format
        if self.state != "running" or (form == "swiss" and not is_played):
            return None
        # What the answer depends on, as far as it changes.
        state = self.field, is_played, self.schedule.over if form == "knockout" else len(self.pairings)
        if state == self._asked:
            return None
        self._asked = state
        return partial(further_pairings, self.settings, self.rounds, self.field, self.meetings())

    def ask_again(self) -> None:
        """Make `question` return a function again, since the answer to the latest one was lost."""
        self._asked = None

    @property
    def is_played(self) -> bool:
        """Whether all pairings so far are over."""
        return self.schedule.over == len(self.pairings)

    def fault_of_start(self) -> str | None:
        """Return why the organiser cannot begin the tournament now; None if it can begin."""
        if self.ended is not None:
            return f"{quoted(self.settings.name)} is over"
        if self.begun_at is not None:
            return f"{quoted(self.settings.name)} has begun already"
        players = len(self.field.present)
        return formats.fault_of(self.settings.format, players, self.settings.rounds)


def further_pairings(
    settings: Settings, rounds: int, field: Field, meetings: Sequence[Meeting]
) -> Sequence[Pairing]:
    """Return the pairings that the format adds; `rounds` is the number of Swiss rounds.

    A Swiss round of `MOST_PLAYERS` players may take a second.
    """
    match settings.format:
        case "round-robin":
            form = formats.round_robin(settings.cycles)
        case "gauntlet":
            form = formats.gauntlet(settings.cycles)
        case "swiss":
            form = formats.swiss(rounds)
        case _:
            form = formats.knockout(settings.extra)
    return form(field, meetings)
