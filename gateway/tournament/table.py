"""The table of a tournament: who sits there, who waits, and which games are being played.

Pure. Implements `gateway.matchmaking.tables.LargeTable`. Does not know where the tournament is stored: new
entries and results come from `gateway.tournament.tournaments`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gateway.game.commands import is_house_name
from gateway.game.results import Scheduled
from gateway.tournament.log import Forfeited
from gateway.tournament.testing import GAMES, MOST, MOST_OF_PLAYER, TESTS
from gateway.tournament.tournament import REOPENING, Tournament

RECENT = 5.0
"""Seconds. A player that left the table so shortly before the beginning still takes part."""
PATIENCE = 10.0
"""Seconds to wait for the results of a series that is over. A game whose result has not come by then, since
its node was lost, is played again."""
MOST_TESTERS = 8
"""The most tests that are played at the same time against house players of the same name."""


@dataclass(slots=True)
class _Series:
    """A series of games of one pairing."""

    games: range
    """The numbers of the games that the series is to play."""
    stored: int | None
    """How many games with these numbers were stored when the series began; None if that is not known."""
    begun: int = 0
    """The number of games that have begun."""
    is_over: bool = False
    noted: float | None = None
    """When it was noticed that the series is over."""


@dataclass(slots=True)
class _TestSeries:
    """The two games of a test."""

    player: str
    house: str
    """The names of both players; empty if another matchmaker began the series."""
    noted: float | None = None
    """When it was noticed that the series is over."""
    is_over: bool = False


class TournamentTable:
    """The table of one tournament."""

    def __init__(self, tournament: Tournament, wake: Callable[[], object]) -> None:
        """`wake` is called when something has happened after which an entry may be due."""
        self.tournament = tournament
        self.is_stirred = False
        """Whether a pair may have become possible since the latest call of `pairs`."""
        self._wake = wake
        self._seats: dict[int, str] = {}
        """The name of the player on each seat."""
        self._waiting: dict[str, int] = {}
        """The seats that wait for an opponent, by name."""
        self._series: dict[tuple[int, int], _Series] = {}
        """The series that are on, or whose results were not all read, by their pairings and first games."""
        self._playing: set[int] = set()
        """The pairings of the series that are on."""
        self._away: dict[str, float] = {}
        """Since when each absent player is absent, by the hub's clock."""
        self._arrived: set[str] = set()
        """The players at the table that have sat down since their latest game."""
        self._held: dict[int, list[str]] = {}
        """Pairings that are not started, since a forfeit of them is being stored, with the absent players."""
        self._seen: dict[str, float] = {}
        """When each player of the last `RECENT` seconds was at the table last, by the hub's clock."""
        self._unread: list[Scheduled] = []
        """Series of pairings that were not read yet."""
        self._testers: dict[int, str] = {}
        """The seats of the house players that are here for tests only, and their names."""
        self._free_testers: dict[int, str] = {}
        """Those that wait."""
        self._tests: dict[int, _TestSeries] = {}
        """The tests that are on, or whose results were not read, by their numbers."""
        self._may_pair = False

    @property
    def key(self) -> str:
        """The casefolded name."""
        return self.tournament.settings.key

    @property
    def name(self) -> str:
        """The name of the tournament."""
        return self.tournament.settings.name

    @property
    def grace(self) -> float:
        """Seconds for which a seat is kept during a game for a player whose connection broke."""
        return self.tournament.settings.grace

    @property
    def here(self) -> list[str]:
        """The names of the players at the table, in the order in which they sat down."""
        return [*dict.fromkeys(self._seats.values())]

    @property
    def arrived(self) -> frozenset[str]:
        """The players at the table that have sat down since their latest game. Of these, the withdrawn ones
        return.
        """
        return frozenset(self._arrived)

    # Calls of the matchmaker: see `LargeTable`.

    def admits(self, name: str) -> bool:
        """Whether a player of this name may sit down: it may take part, and does not sit there yet."""
        if is_house_name(name) and self._sits_for_tests(name):
            return self.testers_wanted(name) > self.testers(name)
        return name not in self._seats.values() and self.tournament.admits(name)

    def _sits_for_tests(self, name: str) -> bool:
        """Whether the next house player of this name to sit down is here only for tests."""
        return name in self._seats.values() or name not in self.tournament.house_players

    def seated(self) -> list[int]:
        """Return the seats at the table."""
        return [*self._seats]

    def sit(self, seat: int, name: str) -> None:
        """Seat a player."""
        if is_house_name(name) and self._sits_for_tests(name):
            self._testers[seat] = name
            return
        self._seats[seat] = name
        self._arrived.add(name)
        self._away.pop(name, None)
        self._wake()

    def rise(self, seat: int) -> None:
        """Free a seat."""
        self._testers.pop(seat, None)
        self._free_testers.pop(seat, None)
        name = self._seats.pop(seat, None)
        if name is not None and self._waiting.get(name) == seat:
            del self._waiting[name]
        if name is not None and name not in self._seats.values():
            self._arrived.discard(name)
        self._wake()

    def wait(self, seat: int) -> None:
        """Record that the player on a seat waits for an opponent."""
        if seat in self._seats:
            self._waiting[self._seats[seat]] = seat
            self.is_stirred = True
        elif seat in self._testers:
            self._free_testers[seat] = self._testers[seat]
            self.is_stirred = True

    def pairs(self) -> Iterator[tuple[int, int, int, Scheduled]]:
        """Yield the series that can begin: the seats of the first and second mover, the number of games, and
        which games they are."""
        self.is_stirred = False
        if self._may_pair and self.tournament.state == "running" and len(self._waiting) > 1:
            yield from self._pairs()
        if self._may_pair and not self.is_over and self._free_testers:
            yield from self._test_pairs()

    def _pairs(self) -> Iterator[tuple[int, int, int, Scheduled]]:
        tournament = self.tournament
        entrants, boards = tournament.entrants, tournament.settings.boards
        waiting = {number for number, each in enumerate(entrants) if each.name in self._waiting}
        for number in tournament.schedule.unfinished():
            state = tournament.pairings[number]
            first, second, _ = state.pairing
            if first not in waiting or second not in waiting:
                continue  # decided first, since there may be thousands of pairings
            if boards and len(self._playing) >= boards:
                return
            if number in self._playing or number in self._held or not tournament.schedule.is_open(number):
                continue
            assert second is not None
            seats = [self._waiting.get(entrants[player].name) for player in (first, second)]
            if seats[0] is None or seats[1] is None:
                continue
            games = tournament.schedule.take_series(number)
            if not games:
                continue  # the rest is played again if its results do not come
            self._series[number, games[0]] = _Series(games, len(state.stored(games)))
            self._playing.add(number)
            for player in (first, second):
                del self._waiting[entrants[player].name]
                self._arrived.discard(entrants[player].name)
            one, other = seats if games[0] % 2 == 0 else seats[::-1]
            assert one is not None
            assert other is not None
            rated, created = tournament.settings.rated, tournament.created
            yield one, other, len(games), Scheduled(number, games[0], rated, created, self.grace)

    def _test_pairs(self) -> Iterator[tuple[int, int, int, Scheduled]]:
        for player, house in self._due_tests():
            seat = self._waiting.get(player)
            tester = next((seat for seat, name in self._free_testers.items() if name == house), None)
            if seat is None or tester is None:
                continue
            number = max([TESTS - 1, self.tournament.last_test, *self._tests]) + 1
            self._tests[number] = _TestSeries(player, house)
            del self._waiting[player], self._free_testers[tester]
            self._arrived.discard(player)
            yield seat, tester, GAMES, Scheduled(number, 0, False, self.tournament.created, self.grace)

    def _due_tests(self) -> list[tuple[str, str]]:
        """Return the waiting players that have to play a test, each with its opponent."""
        tournament, due = self.tournament, list[tuple[str, str]]()
        demanded, tested = tournament.settings.entry_test, {each.player for each in self._tests.values()}
        # A pause is a good time for the other tests.
        if demanded and not tournament.is_paused and len(tournament.tests) < MOST:
            entered = {each.name for each in tournament.entrants}
            for name in self._waiting:
                if name in entered or name in tested or not tournament.admits(name):
                    continue
                tests = tournament.tests_of.get(name, {})
                is_over = bool(tests) and tests[max(tests)].is_over
                is_due = name in self._arrived or not is_over
                if is_due and len(tests) < MOST_OF_PLAYER and not tournament.has_passed(name):
                    due.append((name, demanded))
        for player, house, latest in tournament.requested:
            entrant = tournament.entrants[player]
            is_free = entrant.name in self._waiting and entrant.name not in tested
            if is_free and entrant.withdrawn is None and not tournament.is_tested(player, house, latest):
                due.append((entrant.name, house))
        return due

    def began(self, scheduled: Scheduled) -> None:
        """Count a game of a series that has begun."""
        series = self._series.get(scheduled[:2])
        if series is not None:
            series.begun += 1

    def finished(self, scheduled: Scheduled) -> None:
        """Record that a series is over, or was not started."""
        if scheduled.pairing in self._tests:
            self._tests[scheduled.pairing].is_over = True
            self._wake()
        series = self._series.get(scheduled[:2])
        if series is None or series.is_over:
            return
        self._playing.discard(scheduled.pairing)
        series.is_over = True
        if not series.begun:
            self._release(scheduled[:2])
        self._wake()

    def resume(self, scheduled: Scheduled) -> None:
        """Record a series that is on, and was begun under another matchmaker.

        Its earlier games may not be read yet, so it is not known which results will still come.
        A game that this tournament does not have is ignored: another node has named it.
        """
        number, first, _, created, _ = scheduled
        is_ours = created == self.tournament.created
        is_possible = number >= 0 and first in range(self.tournament.settings.games)
        if not is_ours or not is_possible or (number, first) in self._series:
            return
        if number >= TESTS:
            self._tests.setdefault(number, _TestSeries("", ""))
            return
        if number >= len(self.tournament.pairings):
            self._unread.append(scheduled)
            return
        games = range(first, first + 2 - first % 2)  # one of them at least; perhaps both
        self.tournament.schedule.reserve(number, games)
        self._series[number, first] = _Series(games, stored=None, begun=1)
        self._playing.add(number)

    # Calls of `gateway.tournament.tournaments`.

    def changed(self, now: float) -> None:
        """Take into account that entries or results were added to the tournament."""
        unread, self._unread = self._unread, []
        for scheduled in unread:
            self.resume(scheduled)
        for key, series in [*self._series.items()]:
            # An entry may have made the tournament count anew, without knowing what is being played.
            self.tournament.schedule.reserve(key[0], series.games)
            if not series.is_over:
                continue
            series.noted = now if series.noted is None else series.noted
            state = self.tournament.pairings[key[0]]
            if series.stored is None:
                is_complete = all(game in state.points for game in series.games)
            else:
                is_complete = len(state.stored(series.games)) - series.stored >= series.begun
            if is_complete or now >= series.noted + PATIENCE:
                self._release(key)
        for number, test in [*self._tests.items()]:
            played = self.tournament.tests.get(number)
            if test.is_over:
                test.noted = now if test.noted is None else test.noted
                if (played is not None and played.is_over) or now >= test.noted + PATIENCE:
                    del self._tests[number]
        for number, absent in self._held.items():
            if self.tournament.schedule.is_over(number):  # the next walkover is due as long after this one
                self._away.update(dict.fromkeys(absent, now))
        self._held.clear()
        self.is_stirred = True

    def allow_pairs(self) -> None:
        """Let `pairs` yield, since the tournament knows all results that were stored before."""
        self.is_stirred |= not self._may_pair
        self._may_pair = True

    @property
    def is_busy(self) -> bool:
        """Whether a series is on, or its results have not come yet."""
        return bool(self._series or self._unread)

    def is_on(self, pairing: int) -> bool:
        """Whether a series of a pairing is on, or its results have not come yet."""
        return any(number == pairing for number, _ in self._series)

    @property
    def is_over(self) -> bool:
        """Whether the tournament is over."""
        return self.tournament.ended is not None

    @property
    def awaits_results(self) -> bool:
        """Whether results of series that are over have not come yet."""
        series, tests = self._series.values(), self._tests.values()
        return any(each.is_over for each in series) or any(each.is_over for each in tests)

    def is_closed(self, unix: float) -> bool:
        """Whether nothing more is added to the tournament that this table has to know, at a Unix time."""
        return self.is_over and not self.is_busy and unix > self.tournament.ended_at / 1000 + REOPENING

    def testers_wanted(self, name: str) -> int:
        """Return how many house players of this name are wanted for tests."""
        on = [each.house for each in self._tests.values() if not each.is_over]
        due = [house for _, house in self._due_tests()]
        return min(MOST_TESTERS, (on + due).count(name)) if self.tournament.state != "over" else 0

    def testers(self, name: str) -> int:
        """Return how many house players of this name are here for tests."""
        return [*self._testers.values()].count(name)

    def presence(self, name: str) -> str:
        """Return whether a player plays, waits or is absent, as far as this table knows."""
        if name not in self._seats.values():
            return "absent"
        is_tested = any(each.player == name and not each.is_over for each in self._tests.values())
        is_on = is_tested or any(
            name == self.tournament.name_of(player)
            for number in self._playing
            for player in self.tournament.pairings[number].players
        )
        return "plays" if is_on else "waits"

    def absent_since(self, name: str) -> float | None:
        """Return since when a player is absent, by the hub's clock; None if that does not count."""
        return self._away.get(name)

    def note_absences(self, now: float, *, is_paused: bool = False) -> None:
        """Record who is absent at `now`, by the hub's clock.

        Only players with a pairing that is not over are missing. Absences do not count during a pause, nor
        while all of several clients are absent: then the network has failed, or the server has just been
        started.
        """
        here = {*self._seats.values()}
        recent = {name: at for name, at in self._seen.items() if at >= now - RECENT}
        self._seen = recent | dict.fromkeys(here, now)
        clients = [each for each in self.tournament.entrants if not each.house and each.withdrawn is None]
        is_outage = len(clients) > 1 and not any(each.name in here for each in clients)
        is_running = self.tournament.state == "running" and not is_paused and not is_outage
        for entrant in self.tournament.entrants:
            is_absent = is_running and entrant.withdrawn is None and entrant.name not in here
            if not is_absent or not any(map(self.tournament.schedule.is_open, entrant.pairings)):
                self._away.pop(entrant.name, None)
            else:
                self._away.setdefault(entrant.name, now)

    def seen(self, now: float) -> set[str]:
        """Return the players that were at the table within the last `RECENT` seconds."""
        limit = now - RECENT
        return {*self._seats.values(), *(name for name, at in self._seen.items() if at >= limit)}

    def walkovers(self, now: float) -> list[Forfeited]:
        """Return forfeits of players that were absent for too long, at most one for each, and hold these
        pairings until `changed` is called.

        A player is only due for a pairing whose other player is here, or was absent for too long, too.
        """
        tournament = self.tournament
        if self._held:  # these forfeits could not be stored, and are decided again
            self._held.clear()
            self.is_stirred = True
        if tournament.state != "running":
            return []
        limit, here = tournament.settings.walkover, {*self._seats.values()}
        late = {
            number
            for number, each in enumerate(tournament.entrants)
            if each.name in self._away and now >= self._away[each.name] + limit
        }
        entries = list[Forfeited]()
        for number in tournament.schedule.open_pairings() if late else ():
            first, second, _ = tournament.pairings[number].pairing
            assert second is not None
            absent = [player for player in (first, second) if player in late]
            others = {first, second} - {*absent}
            is_due = absent and all(tournament.entrants[each].name in here for each in others)
            if not is_due or number in self._held or self.is_on(number):
                continue
            late.difference_update(absent)
            self._held[number] = [tournament.entrants[player].name for player in absent]
            entries.append(tournament.forfeit(number, absent))
        return entries

    def _release(self, key: tuple[int, int]) -> None:
        series, number = self._series.pop(key), key[0]
        done = self.tournament.pairings[number].points
        self.tournament.schedule.release(number, [each for each in series.games if each not in done])
        self.is_stirred = True
