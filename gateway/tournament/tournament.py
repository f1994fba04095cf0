"""The state of a tournament: what its log and its stored games say, and what has to be added to the log.

Pure. The same log and games give the same state, whether a game is added before or after later entries. (The
store adds no forfeit to a log if a game of its pairing was stored meanwhile.) Does not know seats, and reads
no clock.
"""

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, assert_never

from gateway.game.commands import folded
from gateway.game.text import quoted
from gateway.tournament import formats
from gateway.tournament.formats import Meeting, Pairing, Slot
from gateway.tournament.ladder import Ladder
from gateway.tournament.log import (
    Announced,
    Awarded,
    Begun,
    Ended,
    Entered,
    Entry,
    Forbidden,
    Forfeited,
    Known,
    NextSet,
    Paired,
    Paused,
    Replayed,
    RequestedTest,
    Resumed,
    Returned,
    Signed,
    StageBegun,
    StartRequested,
    TournamentNews,
    TournamentResult,
    Undone,
    Voided,
    Withdrawn,
    parsed,
)
from gateway.tournament.pairings import Decided, PairingState, Ruling
from gateway.tournament.schedule import Schedule
from gateway.tournament.settings import DRAW, ROSTER, Settings, parse
from gateway.tournament.stages import Plan, Stage, bracket, further_pairings, ranked
from gateway.tournament.standings import Row
from gateway.tournament.testing import TESTS, PlayedTest, add_game
from gateway.tournament.words import in_words

REOPENING = 600.0
"""Seconds for which the director may undo the end of a tournament."""
MOST_BEFORE = 1_000
"""The most players that may enter before the beginning; some of them will have left by then."""


@dataclass(slots=True)
class Entrant:
    """A player that has entered."""

    name: str
    house: bool = False
    is_named: bool = False
    """Whether it takes part although it is not here: the file or the director has named it."""
    withdrawn: Withdrawn | None = None
    """Why the player takes part no more; None if it takes part."""
    left: int = 0
    """When it was withdrawn last, in milliseconds of Unix time."""
    back: int = 0
    """When it last returned. Earlier faults do not count for a withdrawal."""
    pairings: list[int] = field(default_factory=list)
    """The numbers of its pairings."""
    faults: dict[str, int] = field(default_factory=dict)
    """The number of its faults of each kind, by the words of `gateway.game.results.FAULT_WORDS`."""
    faults_in_a_row: int = 0
    """The number of its latest games that ended by a fault of its own."""


class Logged(NamedTuple):
    """An entry of the log as it is reported."""

    made: int
    """In milliseconds of Unix time."""
    signed: Signed
    words: str
    """The entry in words, with the names that the players had then."""

    @property
    def entry(self) -> Entry:
        """The entry."""
        return self.signed.entry


class Tournament:
    """One tournament."""

    def __init__(self, settings: Settings, created: int = 0) -> None:
        """`created` is when the tournament was added, in milliseconds of Unix time."""
        self.settings = settings
        self.created = created
        self.known = Known()
        """What was added so far."""
        self.log: list[Logged] = []
        """All entries."""
        self.undone: set[int] = set()
        """The numbers of the entries that have no effect any more."""
        self._roster = {folded(name): name for name in settings.roster}
        """The names of the roster, by the form in which spellings of a name are equal."""
        self._asked: object = None
        """The state for which further pairings were computed last."""
        self._reset()

    def _reset(self) -> None:
        """Return to the state before the first entry."""
        self.entrants: list[Entrant] = []
        self.pairings: list[PairingState] = []
        self.stages = [Stage(self.settings.format)]
        self.schedule = Schedule(self.settings.games)
        self.begun_at: int | None = None
        """When it began, in milliseconds of Unix time."""
        self.ended: Ended | None = None
        self.ended_at = 0
        """When it ended, in milliseconds of Unix time."""
        self.is_paused = False
        self.is_start_requested = False
        self.forbidden: set[frozenset[int]] = set()
        """The pairs of players that are not paired any more."""
        self.next_set: Sequence[tuple[int, int | None]] = ()
        """The pairings that the director has chosen for the next Swiss round."""
        self.announcement = ""
        self.has_awards = False
        """Whether the director has awarded any game."""
        self.tests: dict[int, PlayedTest] = {}
        """The test games, by the numbers of the tests."""
        self.tests_of: dict[str, dict[int, PlayedTest]] = {}
        """The same, by the names of the players."""
        self.last_test = 0
        """The highest number of a test; 0 before the first one."""
        self.requested: list[tuple[int, str, int]] = []
        """The tests that the director has asked for: the player, its opponent, and `RequestedTest.latest`."""
        self.latest = 0
        """When the latest game ended or the latest decision was made, in milliseconds of Unix time."""
        self._applied = Ladder(), 0
        """The ladder, and the number of pairings that were applied to it."""
        self._waiting: list[TournamentResult] = []
        """Stored games of pairings that are not known yet."""
        self._changed: set[int] = set()
        """The pairings to be counted again."""

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
    def stage(self) -> Stage:
        """The current stage."""
        return self.stages[-1]

    @property
    def present(self) -> set[int]:
        """The players that take part."""
        return {number for number, each in enumerate(self.entrants) if each.withdrawn is None}

    def rounds_of(self, stage: int) -> int:
        """Return the number of rounds of a Swiss stage."""
        players = len(self.stages[stage].players) or len(self.entrants)
        if stage == 0:
            players = self.settings.players or players
        return self.settings.rounds or math.ceil(math.log2(max(2, players)))

    @property
    def rounds(self) -> int:
        """The number of rounds of the current stage, if it is a Swiss one."""
        return self.rounds_of(len(self.stages) - 1)

    @property
    def house_players(self) -> list[str]:
        """The house players that take part."""
        return [each.name for each in self.entrants if each.house and each.withdrawn is None]

    def number_of(self, name: str) -> int | None:
        """Return the number of the player with this name; None if it has not entered."""
        return next((number for number, each in enumerate(self.entrants) if each.name == name), None)

    def name_of(self, player: int) -> str:
        """Return the name of a player."""
        return self.entrants[player].name

    def pairing_of(self, pairing: int) -> Pairing:
        """Return a pairing."""
        return self.pairings[pairing].pairing

    def words_of(self, number: int) -> str:
        """Return the words of an entry of the log."""
        return self.log[number].words

    def group_of(self, player: int) -> int | None:
        """Return the number of a player's group in the first stage; None without groups."""
        groups = self.stages[0].groups
        return next((number for number, group in enumerate(groups) if player in group), None)

    def group_of_name(self, name: str) -> str | None:
        """Return the name of a player's group; None without one.

        Unless groups were made at the beginning, it is the group in the roster.
        """
        if self.begun_at is None or not self.settings.groups:
            return self.settings.roster.get(self._roster.get(folded(name), "")) or None
        player = self.number_of(name)
        group = None if player is None else self.group_of(player)
        return None if group is None else self.group_name(group)

    def group_name(self, number: int) -> str:
        """Return the name of a group."""
        if self.settings.groups == ROSTER:
            return sorted({*self.settings.roster.values()})[number]
        return formats.group_name(number)

    def meeting(self, number: int) -> Meeting:
        """Return a pairing as formats and standings see it."""
        state = self.pairings[number]
        if state.pairing.second is None:
            return Meeting(state.pairing, is_over=True, points=(float(self.settings.games), 0.0))
        return Meeting(
            state.pairing,
            is_over=self.schedule.is_over(number),
            points=self.schedule.points(number),
            thought=state.thought,
            faults=state.faults,
        )

    def meetings(self, stage: int) -> list[Meeting]:
        """Return all pairings of a stage as formats and standings see them."""
        first = self.stages[stage].first
        end = self.stages[stage + 1].first if stage + 1 < len(self.stages) else len(self.pairings)
        return [self.meeting(number) for number in range(first, end)]

    def stage_standings(self, stage: int) -> list[Row]:
        """Return the standings of a stage, the best player first; of a ladder, in its order.

        With groups, the winners of all groups come first, then the second players, and so on.
        """
        found = self.stages[stage]
        if not found.groups:
            players = found.players if self.begun_at is not None else [*range(len(self.entrants))]
            rows = self._ranked(players, self.meetings(stage), is_knockout=found.format == "knockout")
            if found.format != "ladder" or self.begun_at is None:
                return rows
            order = self._ladder(self.schedule.unfinished()).order
            of_player = {row.player: row for row in rows}
            return [of_player[player]._replace(rank=place) for place, player in enumerate(order, 1)]
        rows = sorted(
            (row for group in self.group_standings() for row in group),
            key=lambda row: (row.rank, -row.points, row.player),
        )
        keys = [(row.rank, -row.points) for row in rows]
        return [row._replace(rank=keys.index(key) + 1) for row, key in zip(rows, keys, strict=True)]

    def group_standings(self) -> list[list[Row]]:
        """Return the standings of each group of the first stage."""
        meetings = self.meetings(0)
        return [
            self._ranked(group, [each for each in meetings if each.pairing.first in group], is_knockout=False)
            for group in self.stages[0].groups
        ]

    def standings(self) -> list[Row]:
        """Return the standings, the best player first.

        The players of the second stage come before those that do not play in it.
        """
        rows = self.stage_standings(0)
        if len(self.stages) == 1:
            return rows
        final = self.stage_standings(1)
        others = [row for row in rows if row.player not in self.stage.players]
        ranks = [row.rank for row in others]
        return [*final, *(row._replace(rank=len(final) + 1 + ranks.index(row.rank)) for row in others)]

    def _ranked(self, players: Sequence[int], meetings: Sequence[Meeting], *, is_knockout: bool) -> list[Row]:
        return ranked(players, meetings, self.settings.tie_breaks, is_knockout=is_knockout)

    def bracket(self, stage: int) -> list[list[Slot]]:
        """Return the slots of each round of a stage that is a knockout, from the first round to the final."""
        return bracket(self.stages[stage], self.present, self.meetings(stage), self.settings.extra)

    def out(self) -> set[int]:
        """Return the players that play no more: they are not in the second stage, or lost in a knockout."""
        stage = len(self.stages) - 1
        out = {*range(len(self.entrants))} - {*self.stage.players} if stage else set[int]()
        if self.stage.format == "knockout" and self.begun_at is not None:
            for slot in (each for slots in self.bracket(stage) for each in slots if each.winner is not None):
                out.update(player for player in slot[:2] if player not in (None, slot.winner))
        return out

    def admits(self, name: str) -> bool:
        """Whether a player of this name may take part, now or later."""
        if self.ended is not None:
            return False
        number = self.number_of(name)
        if number is not None:
            withdrawn = self.entrants[number].withdrawn
            return withdrawn is None or withdrawn.may_return
        if name.casefold() == DRAW:
            return False
        if self._roster:  # in which spellings of a name are one
            key = folded(name)
            if key not in self._roster or any(folded(each.name) == key for each in self.entrants):
                return False
        return (self.begun_at is None or self.settings.late) and self.fault_of_entry() is None

    def fault_of_entry(self) -> str | None:
        """Return why no further player can enter, also by the director; None if one can."""
        if len(self.stages) > 1:
            return "nobody enters the second stage"
        if self.begun_at is not None and self.settings.format == "knockout":
            return "nobody enters a knockout that has begun"
        most = MOST_BEFORE if self.begun_at is None else self.settings.most_players
        return None if len(self.entrants) < most else f"there are {most} players, and no more can enter"

    def has_passed(self, name: str) -> bool:
        """Whether a player has passed the test that the file demands, if it does."""
        tests = self.tests_of.get(name, {}).values()
        return not self.settings.entry_test or any(
            each.is_passed and each.house == self.settings.entry_test for each in tests
        )

    def is_tested(self, player: int, house: str, latest: int) -> bool:
        """Whether a test was played after that with the number `latest`."""
        tests = self.tests_of.get(self.entrants[player].name, {}).items()
        return any(number > latest and each.house == house and each.is_over for number, each in tests)

    def loser_by_award(self, pairing: int, number: int) -> str | None:
        """Return the name of the player that has lost a game by an award; None if there is none."""
        if pairing >= len(self.pairings):
            return None
        decision = self.pairings[pairing].decided.get(number)
        if not isinstance(decision, Awarded) or decision.winner is None:
            return None
        return next(self.name_of(each) for each in self.pairings[pairing].players if each != decision.winner)

    # What is added.

    def add(self, news: TournamentNews) -> None:
        """Add entries and games that were read. Raises ValueError if they do not fit."""
        is_stale = False
        for logged in news.entries:
            signed = parsed(logged.entry)
            self.log.append(Logged(logged.made, signed, in_words(signed.entry, self)))
            if not isinstance(signed.entry, Undone):
                self._apply(logged.made, signed)
            elif isinstance(self._undone(signed.entry.number), Entered):
                self._rebuild()  # the next one to enter gets its number
                is_stale = False
            else:
                is_stale = True
        if is_stale:
            self._rebuild()
        games = [*self._waiting, *news.games]
        self._waiting = []
        for game in games:
            if game.pairing >= TESTS:
                test = add_game(self.tests, game)
                self.tests_of.setdefault(test.player, {})[game.pairing] = test
                self.last_test = max(self.last_test, game.pairing)
            elif game.pairing >= len(self.pairings):
                self._waiting.append(game)
            elif self.pairings[game.pairing].pairing.second is not None:
                # Otherwise it is a game of another tournament, which had this name before.
                self.pairings[game.pairing].results.append(game)
                self._changed.add(game.pairing)
        self._recount()
        self.known = self.known.after(news)

    def _undone(self, number: int) -> Entry:
        """Note that an entry has no effect any more; return it."""
        if number in self.undone or not self.log[number].signed.by:
            raise ValueError(f"entry {number} of the log cannot be undone")
        self.undone.add(number)
        return self.log[number].entry

    def _rebuild(self) -> None:
        """Apply all entries once more, without those that are undone."""
        games = [game for state in self.pairings for game in state.results]
        tests = [game for each in self.tests.values() for game in each.stored]
        waiting = [*games, *tests, *self._waiting]
        self._reset()
        for place, (made, signed, _) in enumerate(self.log):
            if place not in self.undone and not isinstance(signed.entry, Undone):
                self._apply(made, signed)
        self._waiting = sorted(waiting, key=lambda game: game.row)

    def _apply(self, made: int, signed: Signed) -> None:  # noqa: PLR0912, PLR0915  a branch for each entry
        entry = signed.entry
        match entry:
            case Entered(name, house):
                named = {*self.settings.house, *self.settings.expected}
                known = self.number_of(name)
                if known is not None:  # the director has named a player that had entered, and may have left
                    self.entrants[known].is_named = True
                    return
                self.entrants.append(Entrant(name, house, is_named=bool(signed.by) or name in named))
                if self.begun_at is not None:
                    self._place(len(self.entrants) - 1)
            case StartRequested():
                self.is_start_requested = True
            case Begun(order):
                # From now on the players have other numbers, also those that have withdrawn.
                for player in range(len(self.entrants)):
                    self.schedule.restore(player)
                places = {number: place for place, number in enumerate(order)}
                self.entrants = [self.entrants[number] for number in order]
                self.requested = [
                    (places[player], house, latest)
                    for player, house, latest in self.requested
                    if player in places
                ]
                self.forbidden = {
                    frozenset(places[each] for each in pair)
                    for pair in self.forbidden
                    if pair <= places.keys()
                }
                self.begun_at = made
                self._applied = Ladder(len(order)), 0
                self.stage.players = [*range(len(order))]
                self.stage.groups = self._grouped()
                for player, entrant in enumerate(self.entrants):
                    if entrant.withdrawn is not None:
                        self.schedule.withdraw(player)
            case Paired(pairings):
                for first, second, round in pairings:
                    self._pair(Pairing(first, second, round), made)
                self.next_set = ()
                self.latest = max(self.latest, made)
            case Forfeited(pairing, _, absent):
                players = self.pairings[pairing].players
                if not {*players} & {*absent}:
                    raise ValueError("a game is forfeited, and neither player was absent")
                blamed = [player for player in absent if self.entrants[player].withdrawn is None]
                self._rule(pairing, entry, made, blamed)
            case Awarded(pairing) | Voided(pairing) | Replayed(pairing):
                self._rule(pairing, entry, made)
                self.has_awards |= isinstance(entry, Awarded)
            case Forbidden(players, voided):
                self.forbidden.add(frozenset(players))
                for pairing, numbers in voided:
                    self._rule(pairing, Voided(pairing, numbers), made)
            case Withdrawn(player):
                self.entrants[player].withdrawn, self.entrants[player].left = entry, made
                self.schedule.withdraw(player)
            case Returned(player):
                self.entrants[player].withdrawn, self.entrants[player].back = None, made
                self.schedule.restore(player)
                self._changed.update(self.entrants[player].pairings)
            case NextSet(pairings):
                self.next_set = pairings
            case Announced(text):
                self.announcement = text
            case RequestedTest(player, house, latest):
                self.requested.append((player, house, latest))
            case StageBegun(order):
                self.stages.append(Stage(self.settings.then, len(self.pairings), [*order]))
                self.latest = max(self.latest, made)
            case Paused():
                self.is_paused = True
            case Resumed():
                self.is_paused = False
            case Ended():
                self.ended, self.ended_at = entry, made
            case Undone():
                pass
            case _:
                assert_never(entry)

    def _grouped(self) -> list[list[int]]:
        """Return the groups of the first stage at its beginning."""
        if self.settings.groups == ROSTER:
            groups: list[list[int]] = [[] for _ in {*self.settings.roster.values()}]
        elif self.settings.groups:
            assert isinstance(self.settings.groups, int)
            # A group has two players at least.
            count = min(self.settings.groups, max(1, len(self.stage.players) // 2))
            return formats.split(self.stage.players, count)
        else:
            return []
        self.stage.groups = groups
        for player in sorted(self.stage.players, key=lambda player: self._group_in_roster(player) is None):
            self._put_into_group(player)
        return groups

    def _place(self, player: int) -> None:
        """Add a latecomer to the current stage."""
        self.stage.players.append(player)
        self._applied[0].add(player)
        if self.stage.groups:
            self._put_into_group(player)

    def _put_into_group(self, player: int) -> None:
        """Put a player into the group of the roster, or else into the first one of the smallest groups."""
        groups, group = self.stage.groups, self._group_in_roster(player)
        if self.settings.groups == ROSTER and group is not None:
            groups[sorted({*self.settings.roster.values()}).index(group)].append(player)
        else:  # in an empty group it would meet nobody
            min([each for each in groups if each] or groups, key=len).append(player)

    def _group_in_roster(self, player: int) -> str | None:
        return self.settings.roster.get(self._roster.get(folded(self.entrants[player].name), "")) or None

    def _pair(self, pairing: Pairing, made: int) -> None:
        number = len(self.pairings)
        self.pairings.append(PairingState(pairing, len(self.stages) - 1, made))
        # The schedule numbers pairings as this class does. A bye is a pairing that is over.
        second = pairing.first if pairing.second is None else pairing.second
        self.schedule.add([(pairing.first, second)])
        for player in self.pairings[number].players:
            self.entrants[player].pairings.append(number)
        self._changed.add(number)

    def _rule(self, pairing: int, entry: Decided | Replayed, made: int, blamed: Sequence[int] = ()) -> None:
        self.pairings[pairing].rulings.append(Ruling(entry, made, blamed))
        self._changed.add(pairing)

    def _recount(self) -> None:
        """Derive the state again of the pairings that have changed, and that of their players."""
        changed, self._changed = self._changed, set()
        if min(changed, default=math.inf) < self._applied[1]:
            self._applied = Ladder(len(self.entrants)), 0
        players = set[int]()
        for number in sorted(changed):
            state = self.pairings[number]
            state.recount(self.settings.games)
            self.schedule.recount(number, state.points)
            self.latest = max(self.latest, state.finished_at)
            players.update(state.players)
        for player in players:
            entrant = self.entrants[player]
            ends = [
                each
                for number in entrant.pairings
                for each in self.pairings[number].ends
                if each.player == player
            ]
            faults = [each for each in ends if each.fault is not None]
            faultless = max((each.at for each in ends if each.fault is None), default=-1)
            entrant.faults = {}
            for each in faults:
                assert each.fault is not None
                entrant.faults[each.fault] = entrant.faults.get(each.fault, 0) + 1
            entrant.faults_in_a_row = sum(each.at > faultless and each.at >= entrant.back for each in faults)

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
            if number is None and room > 0 and self.admits(name) and self.has_passed(name):
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
        the file or by the director.
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
        staying = [
            number
            for number, each in enumerate(self.entrants)
            if each.withdrawn is not None or each.is_named or each.name in here
        ]

        def precedence(number: int) -> tuple[bool, bool]:
            each = self.entrants[number]
            return each.withdrawn is not None, not each.is_named

        return sorted(sorted(staying, key=precedence)[: self.settings.most_players])

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

    def forfeits_of_withdrawn(self, now: float) -> list[Forfeited]:
        """Return forfeits of the players that have withdrawn, once nothing else can be played.

        Until then they may come back and play, for `walkover` seconds at least. On a ladder there is always
        something to be played, so there they have only these seconds. `now` is in seconds of Unix time.
        """
        is_endless = self.stage.format == "ladder"
        if self.state != "running" or (not is_endless and self.schedule.open_pairings()):
            return []
        entries = list[Forfeited]()
        for number in self.schedule.unfinished():
            players = self.pairings[number].players
            absent = [each for each in players if self.entrants[each].withdrawn is not None]
            if absent and all(self._is_gone(self.entrants[each], now) for each in absent):
                entries.append(self.forfeit(number, absent))
        return entries

    def _is_gone(self, entrant: Entrant, now: float) -> bool:
        return now >= entrant.left / 1000 + self.settings.walkover

    def forfeit(self, number: int, absent: Sequence[int]) -> Forfeited:
        """Return the entry that forfeits the rest of a pairing."""
        return Forfeited(number, self.unplayed(number), absent)

    def unplayed(self, number: int) -> list[int]:
        """Return the games of a pairing that are not over."""
        done = self.pairings[number].points
        return [each for each in range(self.settings.games) if each not in done]

    def break_ends(self) -> float | None:
        """Return when the break after a round or a stage ends, in seconds of Unix time.

        None before all that was paired is over, or if no round and no stage follows.
        """
        if not self.settings.break_ or self.ended is not None or not self.is_played:
            return None
        rounds = [each.pairing.round for each in self.pairings[self.stage.first :]]
        if not rounds:
            return None
        has_further_round = self.stage.format == "swiss" and max(rounds) < self.rounds
        has_further_stage = len(self.stages) == 1 and bool(self.settings.then)
        return self.latest / 1000 + self.settings.break_ if has_further_round or has_further_stage else None

    def question(self, now: float) -> Callable[[], Sequence[Pairing]] | None:
        """Return a function that computes further pairings, for another process.

        Return None if they were computed before for the present state, if the format cannot add any, or
        during a break. `now` is in seconds of Unix time. If the function returns none while all pairings are
        over, the stage is over.
        """
        is_played, stage = self.is_played, self.stage
        if stage.format == "ladder" and self.state == "running":
            return self._ladder_question(now)
        if self.state != "running" or (stage.format == "swiss" and not is_played):
            return None
        if now < (self.break_ends() or 0.0):
            return None
        # What the answer depends on, as far as it changes.
        progress = self.schedule.over if stage.format == "knockout" else len(self.pairings)
        state = self.present, {*self.forbidden}, [*stage.players], is_played, progress, self.next_set
        if state == self._asked:
            return None
        self._asked = state
        if stage.format == "swiss" and self.next_set:
            return partial(_as_it_is, self._chosen_round())
        plan = Plan(self.settings, self.rounds, stage, self.present, {*self.forbidden})
        return partial(further_pairings, plan, self.meetings(len(self.stages) - 1))

    def _ladder_question(self, now: float) -> Callable[[], Sequence[Pairing]] | None:
        unfinished = self.schedule.unfinished()
        playing = {player for number in unfinished for player in self.pairings[number].players}
        idle = self.present - playing
        rested = {
            player
            for player in idle
            if not self.entrants[player].pairings or now >= self._finished_at(player) + self.settings.rest
        }
        state = rested, {*self.forbidden}, len(self.pairings), len(unfinished)
        if state == self._asked or len(rested) < 2:
            return None
        self._asked = state
        return partial(_on_ladder, self._ladder(unfinished), rested, {*self.forbidden}, idle - rested)

    def _finished_at(self, player: int) -> float:
        return self.pairings[self.entrants[player].pairings[-1]].finished_at / 1000

    def _ladder(self, unfinished: Sequence[int]) -> Ladder:
        """Return the ladder as it is now.

        It follows from the pairings that are over, in their order. Of these, those before the first one that
        is not over are applied once for all.
        """
        ladder, applied = self._applied
        end = min(unfinished, default=len(self.pairings))
        for number in range(applied, end):
            self._climb(ladder, number)
        self._applied = ladder, max(applied, end)
        ladder = ladder.copy()
        for number in range(end, len(self.pairings)):
            if self.schedule.is_over(number):
                self._climb(ladder, number)
        playing = set[int]()
        for number in unfinished:
            # A game that is replayed may have left a player in a second pairing that is not over.
            if playing.isdisjoint(self._both(number)):
                ladder.pair(*self._both(number))
                playing.update(self._both(number))
        return ladder

    def _climb(self, ladder: Ladder, number: int) -> None:
        ladder.pair(*self._both(number))
        ladder.finish(*self._both(number), self.meeting(number).score)

    def _both(self, number: int) -> tuple[int, int]:
        first, second, _ = self.pairings[number].pairing
        assert second is not None
        return first, second

    def _chosen_round(self) -> list[Pairing]:
        """Return the pairings that the director has chosen, with a bye for each player that is left over."""
        rounds = [each.pairing.round for each in self.pairings[self.stage.first :]]
        number, free, pairings = max(rounds, default=0) + 1, self.present & {*self.stage.players}, []
        for pair in self.next_set:
            players = [each for each in pair if each in free]
            if frozenset(players) in self.forbidden:  # since the round was chosen
                continue
            free.difference_update(players)
            if players:
                pairings.append(Pairing(players[0], players[1] if len(players) == 2 else None, number))
        return [*pairings, *(Pairing(each, None, number) for each in sorted(free))]

    def ask_again(self) -> None:
        """Make `question` return a function again, since the answer to the latest one was lost."""
        self._asked = None

    def after_stage(self) -> Entry:
        """Return the entry with which the current stage ends: the next one begins, or all is over."""
        if len(self.stages) == 1 and self.settings.then:
            tables = self.group_standings() if self.stage.groups else [self.stage_standings(0)]
            is_bracket = self.settings.then == "knockout"
            meetings = self.meetings(0)
            order = formats.advancing(
                tables, self.settings.advance, self.present, meetings, is_bracket=is_bracket
            )
            if len(order) > 1:
                return StageBegun(order)
        return Ended()

    @property
    def is_played(self) -> bool:
        """Whether all pairings so far are over."""
        return self.schedule.over == len(self.pairings)

    def fault_of_start(self) -> str | None:
        """Return why the director cannot begin the tournament now; None if it can begin."""
        if self.ended is not None:
            return f"{quoted(self.settings.name)} is over"
        if self.begun_at is not None:
            return f"{quoted(self.settings.name)} has begun already"
        return formats.fault_of(self.settings.format, len(self.present), self.settings.rounds)


def _on_ladder(
    ladder: Ladder, free: Iterable[int], forbidden: Set[frozenset[int]], resting: Set[int]
) -> Sequence[Pairing]:
    return [Pairing(one, two) for one, two in ladder.next_pairings(free, forbidden, resting)]


def _as_it_is(pairings: Sequence[Pairing]) -> Sequence[Pairing]:
    return pairings
