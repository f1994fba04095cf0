"""Every view of a gateway that is busy: its address, and a gateway that has something to show there."""

import json
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from urllib.request import urlopen

from game_records import drawn
from scripted_clients import DroidconClient, connected
from showcase import CAST, HOSTILE, fill, history, lost_on_time, matches, play_illegal
from tournament_news import KNOCKOUT, KNOCKOUT_GAMES, NAMES, SWISS, SWISS_GAMES, add, begun, played
from worlds.server import EVERY_PORT, Served, served
from worlds.tournaments import file_of

from gateway.game.events import Reason
from gateway.store.database import open_to_write
from gateway.store.records import GameRecord
from gateway.tournament.formats import berger
from gateway.tournament.log import Announced, Entered, Entry, Paired, StageBegun

BOARDS = 6
"""Games that are on."""
TOKEN = "sesame"
"""The operator's."""
SILENT, LONG = "9001", "9002"
"""The ids of a game that was lost by a silence, and of one that filled the board."""
LONG_NAME = "a-name-of-many-letters-without-a-blank"
GROUPS: list[Entry] = [
    *begun((*NAMES, HOSTILE, LONG_NAME)),
    Paired([(0, 3, 1), (1, 2, 1), (4, 0, 2)]),
    Announced("Lunch is at 12:30 in the hall; the next round begins at 13:15"),
    StageBegun([0, 1]),
    Paired([(0, 1, 1)]),
]
"""A tournament of two stages, with an announcement."""
CROWDS = {"fourteen": 14, "sixteen": 16, "crowd": 25}
"""Tournaments of so many players, each of whom has met each other one, by name."""


class View(NamedTuple):
    """A view: its address, and what has to be in sight in it at each size of the window."""

    path: str
    """It may have the name of a game in braces, one of those in `addresses`."""
    shown: tuple[str, ...] = ()
    """Selectors, each of whose first element that is drawn has to be in the window as a whole."""


TITLE = "main h1"
FIRST_ROW = ".standings tbody .player"
GAME = (TITLE, "#board svg", ".dock")
FOUND = (TITLE, ".found tbody .who")
BRACKET = ".bracket .match"
VIEWS = {
    "live": View("/", (TITLE, ".featured svg.board")),
    "live of a player": View("/?player=alice"),
    "nobody plays": View("/?player=nobody", (".nothing h2",)),
    "standings": View("/standings", (".standings tbody tr:nth-child(2) .player",)),
    "standings by side": View("/standings?form=side", (FIRST_ROW,)),
    "standings by reason": View("/standings?form=reason", (FIRST_ROW,)),
    "standings of 14": View("/standings?table=fourteen", (FIRST_ROW,)),
    "standings of 16": View("/standings?table=sixteen", (FIRST_ROW,)),
    "standings of 25": View("/standings?table=crowd", (FIRST_ROW,)),
    "standings of nobody": View("/standings?least=9999"),
    "games": View("/games", (".found tbody .who", ".found tbody .where")),
    "games that alice lost": View("/games?player=alice&result=lost&mistake=1", (".found tbody .where a",)),
    "no such games": View("/games?player=alice&opponent=nobody&reason=full&table=nowhere", (".nothing",)),
    "players found": View("/search?for=o", (".hits .name",)),
    "no player found": View("/search?for=negamaks", (".empty a",)),
    "player": View("/player/alice", (TITLE, ".figures")),
    "hostile player": View(f"/player/{quote(HOSTILE, safe='')}", (TITLE, ".figures")),
    "new player": View("/player/hannah", (TITLE,)),
    "game lost by an illegal move": View("/game/{illegal}", GAME),
    "game lost on time": View(f"/game/{SILENT}", GAME),
    "long game": View(f"/game/{LONG}", GAME),
    "game that is on": View("/game/{on}", GAME),
    "games of a hostile player": View(f"/games?player={quote(HOSTILE, safe='')}&since=week", FOUND),
    "games of a table": View("/games?table=crowd&page=3", FOUND),
    "play": View("/play", ("input[name=name]", ".house button")),
    "tournaments": View("/tournaments", (".standings tbody .name",)),
    "swiss": View("/tournament/cup", (TITLE, ".state")),
    "swiss of a player": View("/tournament/cup/player/bob", (TITLE, ".faults h2")),
    "cross-table": View("/tournament/cup?view=crosstable", (TITLE, ".crosstable tbody .player")),
    "cross-table of 14": View("/tournament/fourteen?view=crosstable", (".crosstable tbody .player",)),
    "cross-table of 16": View("/tournament/sixteen?view=crosstable", (".crosstable tbody .player",)),
    "cross-table of 25": View("/tournament/crowd?view=crosstable", (".crosstable tbody .player",)),
    "standings of a tournament": View("/tournament/crowd", (FIRST_ROW,)),
    "rounds of a tournament": View("/tournament/fourteen?view=pairs", (".pair",)),
    "faults": View("/tournament/cup?view=faults", (TITLE, ".by-kind .player")),
    "log of a tournament": View("/tournament/cup?view=log", (TITLE, ".log li")),
    "knockout": View("/tournament/ko", (TITLE, BRACKET)),
    "knockout of 16": View("/tournament/ko16", (TITLE, BRACKET)),
    "pairs": View("/tournament/ko?view=pairs", (TITLE, ".pair")),
    "groups": View("/tournament/groups?stage=1", (TITLE,)),
    "tournament before the beginning": View("/tournament/open", (TITLE,)),
    "missing": View("/game/nowhere", (TITLE,)),
}
BOARDS_OF_A_HALL = {
    "board": View("/board", tuple(f".boards > :nth-child({number}) svg.board" for number in range(1, 7))),
    "board of a tournament": View("/board?tournament=cup", (".ranking tbody tr",)),
    "board of many": View("/board?tournament=sixteen", (".ranking tbody tr:nth-child(10)",)),
    "board of a knockout": View("/board?tournament=ko", (".rounds .match",)),
    "board of 16": View("/board?tournament=ko16", (".rounds .match",)),
    "board before the beginning": View("/board?tournament=open"),
}
"""The views for a projector."""
ALL_VIEWS = VIEWS | BOARDS_OF_A_HALL


def crowd(size: int) -> list[str]:
    """Return so many names, the first of which are those of the showcase."""
    return [*(each.name for each in CAST), *(f"player-{number}" for number in range(13, size + 1))][:size]


def robin(size: int, lot: random.Random) -> tuple[list[Entry], list[GameRecord]]:
    """Return a round robin of a crowd, in which each pair has played its first game."""
    names, games = crowd(size), list[GameRecord]()
    pairs = [(*pair, number) for number, found in enumerate(berger(size), 1) for pair in found]
    ways = [
        (0, Reason.FOUR, None),
        (1, Reason.FOUR, None),
        (None, Reason.FULL, None),
        (0, Reason.ILLEGAL, "illegal"),
    ]
    for number, (one, two, _) in enumerate(pairs):
        winner, reason, fault = lot.choices(ways, [5, 3, 1, 1])[0]
        games.append(played(number, 0, (names[one], names[two]), winner, reason, fault))
    return [*begun(names), Paired(pairs)], games


def bracket(size: int) -> tuple[list[Entry], list[GameRecord]]:
    """Return a knockout of a crowd, in which all but the final is over."""
    names, entries, games = crowd(size), list[Entry](), list[GameRecord]()
    left, number, depth = [*range(size)], 0, 1
    while len(left) > 1:
        pairs = [(left[at], left[-1 - at]) for at in range(len(left) // 2)]
        entries.append(Paired([(one, two, depth) for one, two in pairs]))
        for one, two in pairs if len(left) > 2 else ():
            games.append(played(number, 0, (names[one], names[two])))
            games.append(played(number, 1, (names[two], names[one]), 1))
            number += 1
        left, depth = [one for one, _ in pairs], depth + 1
    return [*begun(names), *entries], games


@contextmanager
def busy(where: Path) -> Iterator[Served]:
    """Run a gateway with players, stored games, tournaments, and games that are on, for the block."""
    lot = random.Random(1)
    silent, evidence = lost_on_time(SILENT)
    long = drawn(
        "alice", HOSTILE, game=LONG, began=silent.began, ended=silent.began + 9_000, thought=(4_000, 3_900)
    )
    fill(where, [*history(lot, 60), silent, long], evidence)
    with closing(open_to_write(str(where))) as database:
        add(database, file_of(format="swiss", rounds=3), SWISS, SWISS_GAMES)
        add(database, file_of(name="KO", format="knockout"), KNOCKOUT, KNOCKOUT_GAMES)
        add(database, file_of(name="KO16", format="knockout"), *bracket(16))
        add(database, file_of(name="Groups", groups=2, then="knockout", advance=1), GROUPS)
        for name, size in CROWDS.items():
            add(database, file_of(name=name), *robin(size, lot))
        roster = {HOSTILE: "10a", LONG_NAME: "10b", **dict.fromkeys(NAMES, "10c")}
        add(database, file_of(name="Open", roster=roster), [*map(Entered, (HOSTILE, "ann"))])
    options = (
        "--clock",
        "600",
        "--rounds",
        "1",
        "--admin-token",
        TOKEN,
        "--audit",
        str(where.parent / "audit"),
    )
    with served(*EVERY_PORT, "--web", "0", "--db", str(where), *options, addresses=4) as gateway:
        play_illegal(gateway, paced=False)
        with matches(gateway, lot, BOARDS), connected(DroidconClient(gateway, "hannah", "@nobody")):
            yield gateway


def addresses(gateway: Served) -> dict[str, str]:
    """Return the ids of the games that the path of a view may name."""

    def first(query: str, key: str) -> str:
        with urlopen(f"http://127.0.0.1:{gateway.port('page')}/api/{query}") as answer:
            found: str = json.load(answer)["games"][0][key]
        return found

    illegal = "games?player=dropout&opponent=alice&reason=illegal&limit=1"
    return {"illegal": first(illegal, "id"), "on": first("live?most=1", "game")}
