"""A database with games in it, and a client of the application that needs no sockets."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import trio
from empty_database import open_empty
from game_records import numbered, packed, rows

from adapters.web.admin import Admin
from adapters.web.application import Application
from adapters.web.health import Health
from adapters.web.link import Condition
from adapters.web.live.evaluations import Evaluations
from adapters.web.live.live import Live
from adapters.web.perfect import Perfect
from adapters.web.site import Front
from adapters.web.site import Site as Shown
from gateway.game.evaluation import Scores
from gateway.game.events import Objection, Spoken
from gateway.game.facts import GameStarted
from gateway.server.acts import Parameters
from gateway.store import analyses, games, storing
from gateway.store.database import Database
from gateway.store.evidence import recorded
from gateway.store.records import Cleared, Enclosure, GameRecord, Solved

TOKEN = "sesame"
HTML = {"accept": "text/html"}
"""Headers of a browser."""
NASTY = [
    "a/b",
    "..",
    "a?b#c%d",
    '"}],<script>',
    "\0\x1b\r\n",
    "ünï ☃ \N{PILE OF POO}",
    "\u2028",
    "a+b c",
    "?",
    "\\",
]
"""Names that somebody may have chosen to break something."""


FRONTS = (
    Front("nac4", "nac4", "N", "ws", 8080),
    Front("arena", "c4-arena", "A", "ws", 8001),
    Front("droidcon", "Droidcon", "D", "", 4242),
)
"""Where the dialects are, of a server that there is not."""

Said: TypeAlias = Sequence[Spoken]


def said(text: str) -> Said:
    """Return an exchange in which a client said so."""
    return ((0.005, "in", text, Objection.UNREADABLE), (0.006, "out", "no", None))


def keep(database: Database, games: Sequence[GameRecord], both: tuple[Said, Said] | None = None) -> None:
    """Store games, each with the same evidence, numbered on from those that are there."""
    with database.writing() as connection:
        there = connection.exec_driver_sql("SELECT count(*) FROM games").scalar_one()
        records = numbered(games, there + 1)
        storing.store(connection, rows(records))
        for side, lines in enumerate(both or ()):
            evidence = recorded(lines)
            storing.enclose(connection, packed([Enclosure(each.game, side, evidence) for each in records]))


def analyse(site: "Site", game: int, values: Sequence[int]) -> None:
    """Store an analysis in which each position of a game is worth so much to the side to move."""
    with site.database.writing() as connection:
        moves = games.one(connection, str(game)).moves
        scores: list[Scores] = []
        for number, value in enumerate(values):
            following = values[number + 1] if number + 1 < len(values) else -value
            played = {int(moves[number]): -following} if number < len(moves) else {}
            scores.append({2: value, 6: value, **played})
        analyses.store(connection, [(Solved(str(game), moves, analyses.packed(scores)), scores)])


class Idle:
    """A server where nothing waits to be stored."""

    waiting = 0
    behind = False

    async def condition(self) -> Condition:
        return Condition(1, self.waiting, self.behind)


class Site:
    """The application over a database of its own."""

    def __init__(self, directory: Path, *, token: str | None = TOKEN) -> None:
        self.database = open_empty(directory / "games.db")
        self.queue = Idle()
        self.probes = 0
        self.refused = 0
        self.acts: list[tuple[str, Parameters]] = []
        self.came_of_it: Mapping[str, str] = {"": '{"kicked": 1}'}
        self.admin = (
            None
            if token is None
            else Admin(token, self.clear, self.act, str(directory / "audit"), refused=self.refuse)
        )
        self.health = Health(self.queue.condition, self.probe)
        self.on: list[bytes] = []
        """What is on, as the server would tell it: facts, as `gateway.game.fact_encoding` writes them."""
        self.is_silent = False
        """Whether the server tells nothing to those who watch."""
        self.asked: list[int] = []
        """The numbers of its requests to be told what is on, 0 for no more."""
        self.live = Live("test", self.watch)
        self.worth: Scores | Exception = dict.fromkeys(range(7), 0)
        """What a solver would say of every position, or what goes wrong there."""
        self.analysed: list[Solved] = []
        """What was found for whole games, to be stored with them."""
        perfect = Perfect(self.work_out, self.keep)
        self.shown = Shown(
            self.database,
            self.live,
            FRONTS,
            ("random", "aimafast"),
            perfect=perfect,
            evaluations=Evaluations(self.evaluate, perfect.asking, self.is_secret),
        )
        self.application = Application(self.shown, self.health, self.admin)

    def show(self, **about: Any) -> None:
        """Let the server be another one, as `about` says."""
        self.shown = replace(self.shown, **about)
        self.application = Application(self.shown, self.health, self.admin)

    def refuse(self) -> None:
        self.refused += 1

    async def clear(self, given_up: trio.Event) -> Cleared:
        with self.database.writing() as connection:
            return storing.clear(connection)

    async def act(self, what: str, about: Parameters) -> Mapping[str, str]:
        """Carry out an act of the operator's, as the server would."""
        self.acts.append((what, dict(about)))
        return self.came_of_it

    async def watch(self, number: int) -> None:
        """Tell what is on, as the server does when somebody watches."""
        self.asked.append(number)
        if number and not self.is_silent:
            self.live.begin(number)
            self.tell(*self.on)
            self.live.complete()

    def tell(self, *facts: bytes) -> None:
        """Tell what happens, as the server does."""
        self.live.hear(facts)

    async def work_out(self, columns: str) -> Scores:
        if isinstance(self.worth, Exception):
            raise self.worth
        return self.worth

    async def evaluate(self, columns: str) -> int:
        return max((await self.work_out(columns)).values())

    async def is_secret(self, started: GameStarted) -> bool:
        return self.shown.hides_winning(started)

    async def keep(self, solved: Solved) -> None:
        self.analysed.append(solved)

    async def probe(self) -> None:
        self.probes += 1
        self.database.probe()

    @asynccontextmanager
    async def client(self, host: str = "127.0.0.1") -> AsyncIterator[httpx.AsyncClient]:
        """Give a client of the application, at the address `host`; what is on can be watched meanwhile."""
        transport = httpx.ASGITransport(self.application, client=(host, 4242))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.live.run)
            async with httpx.AsyncClient(transport=transport, base_url="http://site") as client:
                yield client
            nursery.cancel_scope.cancel()


class Seen(HTMLParser):
    """What a browser makes of a page: the elements, and the texts in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [about[attribute] or "" for _, about in self.elements if attribute in about]

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    @property
    def attributes(self) -> set[str]:
        return {each for _, about in self.elements for each in about}


def unkept(directory: Path) -> Site:
    """Return the application of a server that keeps no results."""
    site = Site(directory)
    site.database.close()
    site.show(database=None)
    return site


async def shown(site: Site, path: str, status: int = 200) -> str:
    """Return a page as a browser gets it."""
    async with site.client() as client:
        response: httpx.Response = await client.get(path, headers=HTML)
    assert response.status_code == status, response.text
    return response.text
