"""The acts of the director of a tournament: what a person may decide, and the entries that follow.

Pure. Commands, the API and the page use the same acts. An act is a function from the tournament and the
parameters of a request to an entry for the log; it raises ValueError, in one line that says what to do, if
it is not possible now.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from gateway.game.commands import HOUSE_PLAYERS, LONGEST_NAME, is_house_name
from gateway.game.ids import typed
from gateway.game.text import did_you_mean, is_visible, plural, quoted
from gateway.tournament.log import (
    Announced,
    Awarded,
    Ended,
    Entered,
    Entry,
    Forbidden,
    Forfeited,
    NextSet,
    Paused,
    Replayed,
    RequestedTest,
    Resumed,
    Returned,
    StartRequested,
    Undone,
    Voided,
    Withdrawn,
)
from gateway.tournament.settings import DRAW
from gateway.tournament.tournament import REOPENING, Tournament
from gateway.tournament.words import game_in_words

LONGEST_LINE = 200
"""The most characters of an announcement and of a reason."""
LONGEST_SIGNATURE = 64
"""The most characters of the name of the person who decides."""
NOBODY = "admin"
"""The name that is logged if a person gives none."""

Parameters: TypeAlias = Mapping[str, str]
"""The parameters of a request by name. No value is empty."""


class Act(NamedTuple):
    """What a director can do: its parameters, and the entry that follows."""

    parameters: tuple[str, ...]
    """The names of its parameters. All are required but those in `OPTIONAL`."""
    entry: Callable[[Tournament, Parameters, float], Entry]
    """Returns the entry for parameters that are complete, at a time in seconds of Unix time."""
    help: str


OPTIONAL = frozenset({"text", "number"})
"""The parameters that may be missing."""
_HOUSE = {"house": "player", "test": "house"}
"""For each act on a house player, the parameter with its name."""


class Decision(NamedTuple):
    """An entry for the log, and what its writer has to know."""

    entry: Entry
    by: str
    reason: str
    pairings: Sequence[int]
    """The pairings whose games the entry depends on. If one of these games was stored since the tournament
    was read, the act has to be decided again."""


def decide(
    tournament: Tournament, act: str, given: Parameters, now: float, house: Collection[str]
) -> Decision:
    """Return what an act adds to the log at `now`, in seconds of Unix time. Raises ValueError.

    Beside the parameters of the act `given` may have `by`, the name of the person, and `why`, the reason.
    `house` are the names of the house players that are installed.
    """
    if act not in ACTS:
        raise ValueError(f"there is no act {quoted(act)}{did_you_mean(act, ACTS)}")
    for name in ACTS[act].parameters:
        if name not in given and name not in OPTIONAL:
            raise ValueError(f"the parameter {name} is missing")
    by = _line(given.get("by", ""), LONGEST_SIGNATURE, "the name of the person who decides") or NOBODY
    reason = _line(given.get("why", ""), LONGEST_LINE, "a reason")
    name = quoted(tournament.settings.name)
    if tournament.ended is not None and act not in AFTER_THE_END:
        raise ValueError(f"the tournament {name} is over")
    if act in _HOUSE and (player := given[_HOUSE[act]]) not in house:
        missing = "is not installed" if player in HOUSE_PLAYERS else "is no player of the server"
        raise ValueError(f"{quoted(player)} {missing}; possible: {', '.join(house)}")
    entry = ACTS[act].entry(tournament, given, now)
    pairings: Sequence[int] = ()
    match entry:
        case Awarded(pairing) | Voided(pairing) | Replayed(pairing):
            pairings = [pairing]
        case Forbidden(_, voided):
            pairings = [pairing for pairing, _ in voided]
    return Decision(entry, by, reason, pairings)


def audit_words(act: str, name: str, given: Parameters) -> list[str]:
    """Return what the audit log says about an act: the tournament, the parameters, who decided, and why."""
    own = [given[each] for each in ACTS[act].parameters if each in given]
    return [name, *own, *(f"{each}: {given[each]}" for each in ("by", "why") if each in given)]


# The tournament.


def _start(tournament: Tournament, given: Parameters, now: float) -> Entry:
    fault = tournament.fault_of_start()
    if fault is None and tournament.is_start_requested:
        fault = "the start was requested before; it begins as soon as two players are here"
    elif fault is not None and tournament.begun_at is None:
        fault = f"{fault}; {plural(len(tournament.entrants), 'player')} entered so far"
    if fault is not None:
        raise ValueError(fault)
    return StartRequested()


def _pause(tournament: Tournament, given: Parameters, now: float) -> Entry:
    if tournament.is_paused:
        raise ValueError(f"{quoted(tournament.settings.name)} is paused already")
    return Paused()


def _resume(tournament: Tournament, given: Parameters, now: float) -> Entry:
    if not tournament.is_paused:
        raise ValueError(f"{quoted(tournament.settings.name)} is not paused")
    return Resumed()


def _end(tournament: Tournament, given: Parameters, now: float) -> Entry:
    return Ended(by_director=True)


# Players.


def _withdraw(tournament: Tournament, given: Parameters, now: float) -> Entry:
    player = _player(tournament, given["player"])
    withdrawn = tournament.entrants[player].withdrawn
    if withdrawn is not None and not withdrawn.may_return:
        raise ValueError(f"{quoted(given['player'])} is withdrawn already")
    return Withdrawn(player, given.get("why", "").strip() or "by the director")


def _readmit(tournament: Tournament, given: Parameters, now: float) -> Entry:
    player = _player(tournament, given["player"])
    if tournament.entrants[player].withdrawn is None:
        raise ValueError(f"{quoted(given['player'])} is not withdrawn")
    return Returned(player)


def _enter(tournament: Tournament, given: Parameters, now: float) -> Entry:
    name = _line(given["player"], LONGEST_NAME, "a name")
    if is_house_name(name):
        raise ValueError(f"{quoted(name)} is the name of a player of the server; the act house adds those")
    if not name:
        raise ValueError("the name is empty")
    return _entered(tournament, name, house=False)


def _house(tournament: Tournament, given: Parameters, now: float) -> Entry:
    return _entered(tournament, given["player"], house=True)


def _entered(tournament: Tournament, name: str, *, house: bool) -> Entry:
    number = tournament.number_of(name)
    known = None if number is None else tournament.entrants[number]
    if known is not None and known.withdrawn is not None:
        raise ValueError(f"{quoted(name)} is withdrawn; the act readmit takes that back")
    if known is not None and (known.is_named or tournament.begun_at is not None):
        raise ValueError(f"{quoted(name)} takes part already")
    fault = tournament.fault_of_entry()
    named = sum(each.is_named and each.withdrawn is None for each in tournament.entrants)
    if tournament.begun_at is None and named >= tournament.settings.most_players:
        fault = f"{named} players will take part, and no more can"
    if name.casefold() == DRAW:
        fault = "that is the word for a draw"
    if fault is not None:
        raise ValueError(f"{quoted(name)} cannot enter: {fault}")
    return Entered(name, house)


def _test(tournament: Tournament, given: Parameters, now: float) -> Entry:
    player = _player(tournament, given["player"])
    if tournament.entrants[player].house:
        raise ValueError(f"{quoted(given['player'])} is a player of the server itself")
    if tournament.entrants[player].withdrawn is not None:
        raise ValueError(f"{quoted(given['player'])} is withdrawn")
    return RequestedTest(player, given["house"], tournament.last_test)


def _player(tournament: Tournament, name: str) -> int:
    number = tournament.number_of(name)
    if number is None:
        similar = did_you_mean(name, [each.name for each in tournament.entrants])
        raise ValueError(f"{quoted(name)} takes no part in {quoted(tournament.settings.name)}{similar}")
    return number


# Games.


def _award(tournament: Tournament, given: Parameters, now: float) -> Entry:
    pairing, number = _game(tournament, given["game"])
    _check_open(tournament, pairing)
    if given["to"] == DRAW:
        return Awarded(pairing, number, None)
    winner = _player(tournament, given["to"])
    if winner not in tournament.pairings[pairing].players:
        raise ValueError(f"{quoted(given['to'])} has no part in {_named(tournament, pairing, number)}")
    return Awarded(pairing, number, winner)


def _void(tournament: Tournament, given: Parameters, now: float) -> Entry:
    pairing, number = _game(tournament, given["game"])
    _check_open(tournament, pairing)
    if isinstance(tournament.pairings[pairing].decided.get(number), Voided):
        raise ValueError(f"{_named(tournament, pairing, number)} is void already")
    return Voided(pairing, [number])


def _replay(tournament: Tournament, given: Parameters, now: float) -> Entry:
    pairing, number = _game(tournament, given["game"])
    _check_open(tournament, pairing)
    state = tournament.pairings[pairing]
    if state.stage < len(tournament.stages) - 1:
        raise ValueError(
            f"{_named(tournament, pairing, number)} belongs to the first stage, which is over; "
            "award it or make it void"
        )
    if number not in state.points:
        raise ValueError(f"{_named(tournament, pairing, number)} is not over, so nothing can be replaced")
    return Replayed(pairing, [number], sorted(state.stored([number])))


def _forbid(tournament: Tournament, given: Parameters, now: float) -> Entry:
    one, other = _player(tournament, given["player"]), _player(tournament, given["other"])
    if one == other:
        raise ValueError("give two players")
    if frozenset((one, other)) in tournament.forbidden:
        raise ValueError(f"{quoted(given['player'])} and {quoted(given['other'])} are forbidden already")
    if tournament.stage.format == "knockout":
        raise ValueError("a knockout pairs by its bracket; award the games of the two instead")
    voided = [
        (number, tournament.unplayed(number))
        for number in tournament.schedule.unfinished()
        if {*tournament.pairings[number].players} == {one, other}
    ]
    return Forbidden([one, other], voided)


def _next(tournament: Tournament, given: Parameters, now: float) -> Entry:
    stage = tournament.stage
    if stage.format != "swiss":
        raise ValueError(f"only the rounds of a Swiss tournament can be set, not those of a {stage.format}")
    rounds = [each.pairing.round for each in tournament.pairings[stage.first :]]
    if max(rounds, default=0) >= tournament.rounds:
        raise ValueError(f"no round follows: there are {tournament.rounds}")
    if tournament.begun_at is None:
        raise ValueError("the tournament has not begun; the seeds decide the first round")
    pairs, seen = list[tuple[int, int | None]](), set[int]()
    for names in _pairs(tournament, given["pairs"]):
        players = [_player(tournament, name) for name in names]
        for player in players:
            if tournament.entrants[player].withdrawn is not None:
                raise ValueError(f"{quoted(tournament.name_of(player))} is withdrawn")
            if player not in stage.players:
                raise ValueError(f"{quoted(tournament.name_of(player))} does not play in this stage")
            if player in seen:
                raise ValueError(f"{quoted(tournament.name_of(player))} is there twice")
            seen.add(player)
        pairs.append((players[0], players[1] if len(players) == 2 else None))
    missing = sorted((tournament.present & {*stage.players}) - seen)
    if missing:
        listed = ", ".join(quoted(tournament.name_of(each)) for each in missing[:5])
        raise ValueError(f"missing: {listed}; a name alone, without a second one, has a bye")
    return NextSet(pairs)


def _pairs(tournament: Tournament, text: str) -> list[list[str]]:
    """Return the names in pairs such as "alice - bob, erin".

    Since a name may contain a comma, JSON is possible, too: [["alice", "bob"], ["erin"]].
    """
    if not text.startswith("[["):
        return [_names(tournament, part.strip()) for part in text.split(",")]
    try:
        pairs = json.loads(text)
        if all(
            isinstance(pair, list) and len(pair) in (1, 2) and all(isinstance(name, str) for name in pair)
            for pair in pairs
        ):
            return [[*pair] for pair in pairs]
    except (TypeError, ValueError, RecursionError):
        pass
    raise ValueError('the pairs are not JSON such as [["alice", "bob"], ["erin"]]')


def _names(tournament: Tournament, part: str) -> list[str]:
    """Return the one or two names in a part such as "alice - bob"; a name may contain " - " itself."""
    words = part.split(" - ")
    if tournament.number_of(part) is None:
        for place in range(1, len(words)):
            one, other = " - ".join(words[:place]), " - ".join(words[place:])
            if tournament.number_of(one) is not None and tournament.number_of(other) is not None:
                return [one, other]
        if len(words) == 2:
            return words
    return [part]


def _game(tournament: Tournament, text: str) -> tuple[int, int]:
    """Return the numbers of a pairing and of its game, from a game's id or from PAIRING.GAME."""
    pairing, dot, number = text.partition(".")
    if dot and pairing.isdecimal() and number.isdecimal() and len(text) < 12:
        place = int(pairing) - 1, int(number) - 1
        if not 0 <= place[0] < len(tournament.pairings):
            raise ValueError(f"there is no pairing {pairing}; there are {len(tournament.pairings)}")
        if tournament.pairings[place[0]].pairing.second is None:
            raise ValueError(f"pairing {pairing} is a bye, which has no games")
        if not 0 <= place[1] < tournament.settings.games:
            raise ValueError(f"pairing {pairing} has {tournament.settings.games} games, and no game {number}")
        return place
    sought = typed(text)
    for pairing_number, state in enumerate(tournament.pairings):
        for game in state.results:
            if game.game == sought:
                return pairing_number, game.number
    raise ValueError(
        f"no game {quoted(text)} is stored for this tournament; "
        "a game that is on, or was not played, is called PAIRING.GAME, such as 12.2"
    )


def _check_open(tournament: Tournament, pairing: int) -> None:
    """Raise ValueError if another match of a knockout was paired after this one and because of it."""
    state = tournament.pairings[pairing]
    if tournament.stages[state.stage].format != "knockout":
        return
    for later in tournament.pairings[pairing + 1 :]:
        players = {*later.players} & {*state.players}
        if later.pairing.round > state.pairing.round and players:  # a knockout is the last stage
            name = quoted(tournament.name_of(min(players)))
            raise ValueError(f"{name} has been paired for round {later.pairing.round} since")


def _named(tournament: Tournament, pairing: int, number: int) -> str:
    return game_in_words(pairing, [number], tournament)


# Announcements, and taking back.


def _announce(tournament: Tournament, given: Parameters, now: float) -> Entry:
    text = _line(given.get("text", ""), LONGEST_LINE, "an announcement")
    if text == tournament.announcement:
        raise ValueError("that is announced already" if text else "nothing is announced")
    return Announced(text)


def _undo(tournament: Tournament, given: Parameters, now: float) -> Entry:
    number = undoable(tournament, now)
    if number is None:
        raise ValueError("nothing can be undone: there is no act, or something was built on the last one")
    if "number" in given and given["number"] != str(number + 1):
        raise ValueError(f"the last act is {quoted(tournament.words_of(number))} now, entry {number + 1}")
    return Undone(number)


def undoable(tournament: Tournament, now: float) -> int | None:
    """Return the number of the last act of a person in the log, from 0, if it can be undone at `now`.

    It cannot if an entry of the server or a game depends on it. Entries about other players do not.
    """
    later = list[Entry]()
    for number in reversed(range(len(tournament.log))):
        made, (entry, by, _), _ = tournament.log[number]
        if number in tournament.undone or isinstance(entry, Undone):
            continue
        if not by:
            later.append(entry)
            continue
        is_late = isinstance(entry, Ended) and now > made / 1000 + REOPENING
        is_used = any(_depends(tournament, each, entry) for each in later)
        return None if is_late or is_used or _has_later_game(tournament, entry, made) else number
    return None


def _depends(tournament: Tournament, later: Entry, act: Entry) -> bool:
    """Whether the server might not have added this later entry without the act."""
    match act:
        case Announced() | Paused() | Resumed() | RequestedTest():
            return False
        case Entered() | StartRequested():  # further players would get other numbers
            return True
    if isinstance(later, Entered):
        return False
    if not isinstance(later, Withdrawn | Returned | Forfeited):
        return True
    return bool(_concerned(tournament, later) & _concerned(tournament, act))


def _concerned(tournament: Tournament, entry: Entry) -> set[int]:
    """Return the players that an entry is about; all players if it is about none in particular."""
    match entry:
        case Withdrawn(player) | Returned(player):
            return {player}
        case Forfeited(pairing) | Awarded(pairing) | Voided(pairing) | Replayed(pairing):
            return {*tournament.pairings[pairing].players}
        case Forbidden(players):
            return {*players}
    return {*range(len(tournament.entrants))}


def _has_later_game(tournament: Tournament, act: Entry, made: int) -> bool:
    """Whether the games of a replay were played again, or an awarded game has ended since the award."""
    match act:
        case Replayed(pairing, numbers, annulled):
            return bool(tournament.pairings[pairing].stored(numbers) - {*annulled})
        case Awarded(pairing, number, _):
            results = tournament.pairings[pairing].results
            return any(game.number == number and game.ended >= made for game in results)
    return False


def _line(text: str, most: int, what: str) -> str:
    text = text.strip()
    if len(text) > most or not all(map(is_visible, text)):
        raise ValueError(f"{what} is one line of up to {most} visible characters")
    return text


AFTER_THE_END = frozenset({"award", "void", "announce", "undo"})
"""The acts that are possible when the tournament is over."""
ACTS: Mapping[str, Act] = {
    "start": Act((), _start, "begin it now, with the players that have entered"),
    "pause": Act((), _pause, "begin no further games; those that are on are finished"),
    "resume": Act((), _resume, "go on after a pause"),
    "end": Act((), _end, "end it early; games that are on are finished and count"),
    "withdraw": Act(("player",), _withdraw, "take a player out; it cannot come back by itself"),
    "readmit": Act(("player",), _readmit, "let a player take part again that was withdrawn"),
    "enter": Act(("player",), _enter, "let a player take part, also late or without a test"),
    "house": Act(("player",), _house, "let a player of the server take part"),
    "award": Act(("game", "to"), _award, "decide a game: its winner, or a draw"),
    "void": Act(("game",), _void, "make a game count for neither player"),
    "replay": Act(("game",), _replay, "have a game that is over played again"),
    "forbid": Act(("player", "other"), _forbid, "pair two players no more; their open games are void"),
    "next": Act(("pairs",), _next, "set the next Swiss round"),
    "announce": Act(("text",), _announce, "show a line on all views of the tournament"),
    "test": Act(("player", "house"), _test, "have a player play two test games"),
    "undo": Act(("number",), _undo, "take back the last act, if nothing was built on it"),
}
"""The acts by their names."""
