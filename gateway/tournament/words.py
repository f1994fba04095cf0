"""The entries of a tournament's log in words, for the page, for commands and for the server's log."""

from collections.abc import Sequence
from typing import Protocol, assert_never

from gateway.game.text import plural
from gateway.tournament.formats import Pairing
from gateway.tournament.log import (
    Announced,
    Awarded,
    Begun,
    Ended,
    Entered,
    Entry,
    Forbidden,
    Forfeited,
    NextSet,
    Paired,
    Paused,
    Replayed,
    RequestedTest,
    Resumed,
    Returned,
    StageBegun,
    StartRequested,
    Undone,
    Voided,
    Withdrawn,
)


class Names(Protocol):
    """What the words of an entry need to know about its tournament, before the entry is added."""

    def name_of(self, player: int) -> str:
        """Return the name of a player."""

    def pairing_of(self, pairing: int) -> Pairing:
        """Return a pairing."""

    def words_of(self, number: int) -> str:
        """Return the words of an entry of the log."""


def in_words(entry: Entry, names: Names) -> str:  # noqa: PLR0911, PLR0912  a branch for each entry
    """Return an entry as a sentence without a subject and without a full stop, such as "Withdrew alice"."""
    match entry:
        case Entered(name, house):
            return f"Added the house player {name}" if house else f"Entered {name}"
        case StartRequested():
            return "Asked to begin"
        case Begun(order):
            return f"Began with {plural(len(order), 'player')}"
        case Paired(pairings):
            rounds = {round for _, _, round in pairings}
            return f"Added {plural(len(pairings), 'pairing')} in {plural(len(rounds), 'round')}"
        case Forfeited(pairing, numbers, absent):
            count = plural(len(numbers), "game")
            return f"Forfeited {count} of pairing {pairing + 1}: {_list(absent, names)} did not come"
        case Withdrawn(player, why, may_return):
            # A person's reason stands beside the entry, as for other acts.
            return f"Withdrew {names.name_of(player)}" + (f": {why}" if may_return else "")
        case Returned(player):
            return f"Readmitted {names.name_of(player)}"
        case Paused():
            return "Paused"
        case Resumed():
            return "Resumed"
        case Awarded(pairing, number, winner):
            result = "as a draw" if winner is None else f"to {names.name_of(winner)}"
            return f"Awarded {game_in_words(pairing, [number], names)} {result}"
        case Voided(pairing, numbers):
            return f"Voided {game_in_words(pairing, numbers, names)}"
        case Replayed(pairing, numbers, _):
            return f"Replay of {game_in_words(pairing, numbers, names)}"
        case Forbidden(players, voided):
            games = sum(len(numbers) for _, numbers in voided)
            void = f", {plural(games, 'game')} void" if games else ""
            return f"Forbade {_list(players, names)}{void}"
        case NextSet(pairings):
            return f"Set the next round: {pairs_in_words(pairings, names)}"
        case Announced(text):
            return f"Announced: {text}" if text else "Ended the announcement"
        case RequestedTest(player, house):
            return f"Test game of {names.name_of(player)} against {house}"
        case StageBegun(order):
            return f"Began the second stage with {plural(len(order), 'player')}"
        case Undone(number):
            return f"Undid “{names.words_of(number)}”"
        case Ended():
            return "Ended"
        case _:
            assert_never(entry)


def game_in_words(pairing: int, numbers: Sequence[int], names: Names) -> str:
    """Return games of a pairing with the names of the players, such as "game 12.2 (alice and bob)"."""
    first, second, _ = names.pairing_of(pairing)
    players = _list([each for each in (first, second) if each is not None], names)
    games = ", ".join(f"{pairing + 1}.{number + 1}" for number in numbers)
    return f"{'game' if len(numbers) == 1 else 'games'} {games} ({players})"


def pairs_in_words(pairings: Sequence[tuple[int, int | None]], names: Names) -> str:
    """Return pairings in the form in which a person gives them, such as "alice - bob, erin"."""
    return ", ".join(
        " - ".join(names.name_of(each) for each in pair if each is not None) for pair in pairings
    )


def _list(players: Sequence[int], names: Names) -> str:
    return " and ".join(map(names.name_of, players))
