"""The page of a tournament that is directed: the real views, over answers of the API that a test writes."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote

import trio
from empty_database import open_empty
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from tournament_news import add
from worlds.tournaments import file_of

from adapters.web.application import Application
from adapters.web.health import Health
from adapters.web.link import Condition
from adapters.web.live.live import Live
from adapters.web.perfect import Perfect, Scores
from adapters.web.server import Web
from adapters.web.site import Front, Site

Json: TypeAlias = dict[str, Any]

TOKEN = "sesame"
CUP = "Autumn cup"
MADE = 1_764_424_000_000
"""Milliseconds of Unix time."""
FRONTS = (
    Front("nac4", "nac4", "N", "ws", 8080),
    Front("arena", "c4-arena", "A", "ws", 8001),
    Front("droidcon", "Droidcon", "D", "", 4242),
)
PLAYERS = (
    ("negamax-9", "arena"), ("alice", "nac4"), ("aimafast", "house"), ("BluePanda", "droidcon"),
    ("kolumbus_v2_final", "nac4"), ("dropout", "droidcon"), ("lehrer-bot", "droidcon"),
    ("bot مرحبا", "arena"), ("四目並べ", "arena"), ("zug-zwang", "nac4"), ("Ωmega", "arena"),
    ("hannah", "droidcon"), ("minmax42", "nac4"), ("tower-of-hanoi", "droidcon"),
    ("sloth", "nac4"), ("gravity", "arena"),
)  # fmt: skip
PAIRS = (
    (0, 1, 2), (2, 4, 2), (6, 8, 2), (9, 10, 1), (11, 12, 1), (14, 15, 2), (3, 7, 0), (5, 13, 0),
)  # fmt: skip
"""The pairs of the round by the numbers of their players, and the game that is on; 0 for none."""


def logged(number: int, by: str | None, words: str, why: str, act: str = "award") -> Json:
    """Return an entry of the log."""
    made = MADE + 60_000 * number
    return {"number": number, "made": made, "by": by, "act": act, "words": words, "why": why, "undone": False}


def answer() -> Json:
    """Return what the server says of a Swiss tournament in which a game needs a decision."""
    names = [name for name, _ in PLAYERS]
    kinds = dict(PLAYERS)
    players: dict[str, Json] = {
        name: {
            "name": name,
            "kind": kinds[name],
            "house": kinds[name] == "house",
            "state": "waits",
            **dict.fromkeys(("since", "for", "of", "against", "game", "pairing", "number")),
            "faults": 0,
            "in_a_row": 0,
            "most": 3,
        }
        for name in names
    }
    pairings: list[Json] = []
    for place, (first, second, number) in enumerate(PAIRS):
        both, pairing = [names[first], names[second]], 41 + place
        is_over = not number
        games = [
            {"number": each, "game": f"{1100 + 2 * place + each}", "first": both[(each - 1) % 2], "winner": 1}
            for each in range(1, 3 if is_over else number)
        ]
        pairings.append({
            "number": pairing, "stage": 1, "group": None, "round": 6, "players": both, "points": [0, 0],
            "state": "over" if is_over else "waiting", "games": games, "voided": [], "awarded": [],
            "forfeits": [],
        })  # fmt: skip
        for name, other in (both, both[::-1]) if number else ():
            players[name] |= {"state": "plays", "against": other, "pairing": pairing, "number": number}
            players[name]["game"] = f"{1230 + 2 * place + number}"
    players["dropout"] |= {"state": "away", "for": 12, "of": 30, "faults": 1, "in_a_row": 1}
    players["lehrer-bot"] |= {"faults": 2, "in_a_row": 1}
    players["zug-zwang"] |= {"faults": 1}
    players["tower-of-hanoi"] |= {"state": "withdrawn", "faults": 3, "in_a_row": 3}
    log = [
        logged(number, "nora", f"Award of game {1000 + number} to alice", "walkover")
        for number in range(1, 19)
    ]
    log += [
        logged(19, "nora", "Award of game 1162 to alice", "walkover"),
        logged(20, "nora", "Forbade hannah \N{EN DASH} sloth", "same author", "forbid"),
        logged(21, "nora", "Replay of game 1181", "the server, a cable", "replay"),
        logged(22, None, "Withdrew tower-of-hanoi: 3 faults in a row", "", "withdraw"),
        logged(23, "nora", "Added random", "odd number", "house"),
    ]
    stall = "lehrer-bot answers pings but has not moved for 41 s; its clock has 4 s"
    need = {
        "game": "1236", "pairing": 43, "number": 2, "players": ["lehrer-bot", "四目並べ"],
        "who": "lehrer-bot", "other": "四目並べ", "why": "stall", "seconds": 41, "words": stall,
    }  # fmt: skip
    withdrawn = {"tower-of-hanoi": "3 faults in a row"}
    standings = [
        {"rank": rank, "name": name, "group": None, "withdrawn": withdrawn.get(name)}
        for rank, name in enumerate(names, 1)
    ]
    stage = {
        "number": 1, "format": "swiss", "round": 6, "rounds": 9, "groups": [], "standings": standings,
        "bracket": None,
    }  # fmt: skip
    report = {
        "name": CUP, "format": "swiss", "state": "running", "ended_early": False, "round": 6, "rounds": 9,
        "stage": 1, "stages": [stage], "missing": [],
        "settings": {"games": 2, "players": None, "start": None, "roster": {}},
        "standings": standings, "pairings": pairings, "byes": [], "announcement": None,
        "next": {"stage": 1, "round": 7, "at": None, "about": MADE, "waits_for": [41]}, "next_set": [],
        "forbidden": [["hannah", "sloth"]], "log": log, "undo": log[-1], "tests": [],
    }  # fmt: skip
    house = ["perfect", "random"]
    return {
        "report": report, "players": [*players.values()], "needs": [need],
        "house": house, "testers": ["aimafast", *house],
    }  # fmt: skip


class Desk:
    """The director's API: says what a test wants, and keeps what it was asked to do."""

    def __init__(self) -> None:
        self.answer = answer()
        self.acts: list[tuple[str, dict[str, str]]] = []
        """The acts, with their parameters, that came with the right token."""
        self.refusal: tuple[int, str] | None = None
        """The status and the text with which the acts are refused."""
        self.is_away = False
        """Whether nothing is answered."""
        self.port = 0
        self.go_on = threading.Event()
        """Acts are answered once it is set."""
        self.go_on.set()

    async def serve(self, application: Application, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI); those that are not for the director are the application's."""
        path = scope.get("raw_path", b"").decode()
        parts = [unquote(part) for part in path.split("/")]
        if parts[1:3] != ["api", "tournaments"] or len(parts) != 5 or parts[4] == "standings.csv":
            await application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if self.is_away:
            response = JSONResponse({"error": "the server does not answer"}, 503)
        elif headers.get(b"authorization") != f"Bearer {TOKEN}".encode():
            response = JSONResponse({"error": "this needs the admin token"}, 403)
        elif parts[3].casefold() != self.answer["report"]["name"].casefold():
            response = JSONResponse({"error": "there is no such tournament"}, 404)
        elif scope["method"] == "GET":
            response = JSONResponse(self.answer)
        else:
            self.acts.append(
                (parts[4], dict(parse_qsl(scope["query_string"].decode(), keep_blank_values=True)))
            )
            await trio.to_thread.run_sync(self.go_on.wait)
            status, text = self.refusal or (200, "")
            response = JSONResponse({"error": text} if text else {"done": "Done"}, status)
        await response(scope, receive, send)


@contextmanager
def directed(folder: Path, name: str = CUP) -> Iterator[Desk]:
    """Serve the page of a tournament while the context lasts."""
    desk, is_ready = Desk(), threading.Event()
    desk.answer["report"]["name"] = name
    ends = list[tuple[trio.lowlevel.TrioToken, trio.CancelScope]]()

    async def condition() -> Condition:
        return Condition(1, 0, False)

    async def nothing(*_: object) -> None:
        pass

    async def scores(_: str) -> Scores:
        return {}

    async def serve() -> None:
        site = Site(database, Live("test", nothing), FRONTS, perfect=Perfect(scores), evaluations=None)
        application = Application(site, Health(condition, nothing), None)

        async def answered(scope: Scope, receive: Receive, send: Send) -> None:
            await desk.serve(application, scope, receive, send)

        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        desk.port = listener.socket.getsockname()[1]
        with trio.CancelScope() as scope:
            ends.append((trio.lowlevel.current_trio_token(), scope))
            is_ready.set()
            await trio.serve_listeners(Web(answered).serve, [listener])

    def run() -> None:
        try:
            trio.run(serve)
        finally:
            is_ready.set()  # also if it could not begin

    with closing(open_empty(folder / "games.db")) as database:
        add(database, file_of(name=name, format="swiss", rounds=9))
        thread = threading.Thread(target=run)
        thread.start()
        is_ready.wait()
        try:
            yield desk
        finally:
            desk.go_on.set()
            for token, scope in ends:
                token.run_sync_soon(scope.cancel)
            thread.join()
