"""All tournaments of a server: keeps their state, and decides what is added to their logs.

Pure. What it decides has an effect only after it was stored and read back, so nothing is announced before it
is stored, and a server that starts again knows the same. Only the node that pairs may decide.
"""

from collections.abc import Callable, Mapping, Sequence

from gateway.tournament.formats import Pairing
from gateway.tournament.log import COMPLETE, Entry, Known, Paired, TournamentNews
from gateway.tournament.table import TournamentTable
from gateway.tournament.tournament import Tournament


class Tournaments:
    """The tournaments of a server."""

    def __init__(self) -> None:
        self.tables: dict[str, TournamentTable] = {}
        """The tables of all tournaments, by their keys. The matchmaker uses the same mapping."""
        self.wake: Callable[[], object] = lambda: None
        """Called when something has happened at a table."""
        self.epoch = 0
        """How often the seats were forgotten."""
        self._unreadable: dict[str, tuple[int, Known]] = {}
        """The tournaments that this version cannot read: when they were added, and what was read of them."""

    def known(self, unix: float, wanted: str | None = None) -> Mapping[str, Known]:
        """Return what was read so far at a Unix time, by the keys of the tournaments.

        Of closed tournaments nothing more is read, except of the one with the key `wanted`.
        """
        readable = {
            key: COMPLETE if table.is_closed(unix) and key != wanted else table.tournament.known
            for key, table in self.tables.items()
        }
        return {**{key: known for key, (_, known) in self._unreadable.items()}, **readable}

    def take(self, news: Sequence[TournamentNews], now: float, epoch: int | None = None) -> dict[str, str]:
        """Add what was read. Tournaments without news are in `news`, too; others no longer exist.

        `epoch` was the value of that name when the reading began, if all results were stored by then and the
        matchmaker pairs all players; otherwise it is None. Only then the tables know which games are over,
        and may pair.

        Return the keys of tournaments that cannot be read, each once, with the reason. Their tables are
        ordinary ones.
        """
        unreadable = dict[str, str]()
        for key in self.tables.keys() - {each.key for each in news}:
            del self.tables[key]
        for each in news:
            table = self.tables.get(each.key)
            created, read = self._unreadable.get(each.key, (each.created, Known()))
            if created != each.created:
                del self._unreadable[each.key]
                continue
            if table is not None and table.tournament.created != each.created:
                del self.tables[each.key]  # another one of this name, which is read whole next time
                continue
            try:
                if table is None and each.key not in self._unreadable:
                    self.tables[each.key] = self._table_of(Tournament.of(each))
                elif table is None:
                    self._unreadable[each.key] = created, read.after(each)
                elif each.entries or each.games or table.awaits_results:
                    table.tournament.add(each)
                    table.changed(now)
            except Exception as error:  # of whatever kind, it must not stop the other tournaments
                self.tables.pop(each.key, None)
                self._unreadable[each.key] = each.created, Known().after(each)
                unreadable[each.key] = str(error) or repr(error)
        if epoch == self.epoch:
            for table in self.tables.values():
                table.allow_pairs()
        return unreadable

    def forget_seats(self) -> None:
        """Forget who sits at the tables, since a new matchmaker begins without players.

        The tables pair nobody until `take` is called with the new epoch.
        """
        self.epoch += 1
        for key, table in self.tables.items():
            table.tournament.schedule.release_all()
            self.tables[key] = self._table_of(table.tournament)

    def _table_of(self, tournament: Tournament) -> TournamentTable:
        return TournamentTable(tournament, self._wake)

    def _wake(self) -> None:
        self.wake()  # which may be set after the table was made

    def entries(
        self, table: TournamentTable, now: float, unix: float, *, is_paused: bool = False
    ) -> Sequence[Entry]:
        """Return what has to be added to a log, except the beginning and further pairings.

        `now` is the time of the hub's clock, `unix` that of the wall clock. With `is_paused` no game can
        begin, so no player is late for one.
        """
        tournament = table.tournament
        table.note_absences(now, is_paused=is_paused)
        entries: Sequence[Entry] = tournament.entering(table.here, table.arrived)
        entries = entries or tournament.withdrawals() or ([] if is_paused else table.walkovers(now))
        is_endless = tournament.stage.format == "ladder"  # there is always a series on
        if entries or is_paused or (table.is_busy and not is_endless):
            return entries
        forfeits = tournament.forfeits_of_withdrawn(unix)
        return [each for each in forfeits if not table.is_on(each.pairing)]

    def pairings(self, table: TournamentTable, found: Sequence[Pairing]) -> Sequence[Entry]:
        """Return the entry for the pairings that the format has found."""
        tournament = table.tournament
        if found:
            entries: list[Entry] = [Paired([(each.first, each.second, each.round) for each in found])]
        elif tournament.is_played and tournament.state == "running" and tournament.stage.format != "ladder":
            entries = [tournament.after_stage()]
        else:
            return []
        tournament.ask_again()  # another program may add an entry first, and then this one is not added
        return entries
