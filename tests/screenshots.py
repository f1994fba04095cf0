"""Pictures of every view, of a server that is busy: `python tests/screenshots.py FOLDER [VIEW ...]`.

Each view is drawn light, dark and as on a phone, the projector as on one; `readme` are the two pictures that
the documents show. Needs Chromium and the extra `browser`.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from browsing import LOOKS, PROJECTOR, STILL, Windows, chromium, program
from scripted_clients import DroidconClient, connected
from showcase import HOSTILE, Match, fill, history, matches, play_illegal
from worlds.server import EVERY_PORT, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

SEED = 4
GAMES = 240
BOARDS = 28
WAITING = ("hannah", "negamax-3", "kolumbus", "gravity", "lehrer-2")
DESK = {"viewport": {"width": 1440, "height": 900}}
CARD = {"viewport": {"width": 1440, "height": 810}, **STILL}
SETTLING = 1.2
"""Seconds in which discs have fallen and what is asked for has come."""


class Shots:
    """Takes pictures into a folder."""

    def __init__(self, windows: Windows, folder: Path) -> None:
        self.windows = windows
        self._folder = folder

    def take(self, name: str, path: str, look: dict[str, Any], act: Callable[["Page"], None]) -> None:
        """Draw one picture, after `act` has done something to the page."""
        page = self.windows.open(path, **look)
        act(page)
        time.sleep(SETTLING)
        page.screenshot(path=self._folder / f"{name}.png")
        page.context.close()
        print(name)

    def shrink(self, name: str) -> None:
        """Let a picture have 128 colours, close to its own: a third of its size, and hardly to be seen."""
        from PIL import Image  # noqa: PLC0415  an extra

        path = self._folder / f"{name}.png"
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(128, kmeans=3).save(path, optimize=True)

    def in_all_looks(self, name: str, path: str, act: Callable[["Page"], None] = lambda _: None) -> None:
        """Draw a view light, dark and as on a phone."""
        for word, look in LOOKS.items():
            self.take(f"{name}-{word}", path, {**DESK, **STILL, **look}, act)


def main(folder: Path, views: list[str]) -> None:
    """Draw these views, or all."""
    path = program()
    if path is None:
        sys.exit("there is no Chromium here: apt-get install chromium")
    folder.mkdir(parents=True, exist_ok=True)
    lot = random.Random(SEED)
    with TemporaryDirectory() as place, chromium(path) as browser:
        where = Path(place) / "games.db"
        fill(where, history(lot, GAMES))
        with _busy(where, lot) as (gateway, games):
            windows = Windows(browser, f"http://127.0.0.1:{gateway.port('page')}")
            shots = Shots(windows, folder)
            for name, draw in VIEWS.items():
                if name in views or not views:
                    draw(shots, games)
            for complaint in windows.complaints:
                print("complaint:", complaint)


@contextmanager
def _busy(where: Path, lot: random.Random) -> Iterator[tuple[Served, list[Match]]]:
    """A server with games, and some who wait."""
    options = (*EVERY_PORT, "--web", "0", "--db", str(where), "--clock", "99", "--house", "random")
    with served(*options, "--house-after", "86400", addresses=4) as gateway:
        play_illegal(gateway, paced=True)
        waiting = [DroidconClient(gateway, name, "@nobody") for name in WAITING]
        with connected(*waiting), matches(gateway, lot, BOARDS) as games:
            yield gateway, games


def _play_on(page: "Page", games: list[Match]) -> None:
    """Let some games end, and bring all others nearer to it, while the page watches."""
    page.locator(".live-board svg").first.wait_for()
    for number, match in enumerate(games):
        while not match.is_over:
            match.step()
            if number % 9 != 1 and len(match.moves) - match.made < 9:
                break


def _address(shots: Shots, api: str, at: Callable[[Any], str]) -> str:
    """Return the address of a game that the API names."""
    page = shots.windows.open("about:blank")
    found = page.request.get(api).json()["games"][0]
    page.context.close()
    return f"/game/{at(found)}"


def _illegal(shots: Shots) -> str:
    """Return the address of the game that dropout lost by an illegal move."""
    query = "player=dropout&opponent=alice&reason=illegal&limit=1"
    return _address(shots, f"/api/games?{query}", itemgetter("id"))


def _board(shots: Shots, _: list[Match]) -> None:
    shots.take("board-games", "/board", PROJECTOR, lambda _: None)
    shots.take("board-standings", "/board", PROJECTOR, lambda _: time.sleep(13))


def _readme(shots: Shots, games: list[Match]) -> None:
    shots.take("live", "/", CARD, lambda page: _play_on(page, games))
    shots.take("game", _illegal(shots), CARD, lambda _: None)
    for name in ("live", "game"):
        shots.shrink(name)


def _view(name: str, path: str) -> Callable[[Shots, list[Match]], None]:
    return lambda shots, _: shots.in_all_looks(name, path)


PATHS = {
    "standings": "/standings",
    "player": "/player/alice",
    "player-hostile": f"/player/{quote(HOSTILE)}",
    "player-new": "/player/hannah",
    "play": "/play",
    "empty": "/?player=nobody",
    "missing": "/game/nowhere",
}
VIEWS: dict[str, Callable[[Shots, list[Match]], None]] = {
    "readme": _readme,
    "live": lambda shots, games: shots.in_all_looks("live", "/", lambda page: _play_on(page, games)),
    "game": lambda shots, _: shots.in_all_looks("game", _illegal(shots)),
    "on": lambda shots, _: shots.in_all_looks("on", _address(shots, "/api/live?most=1", itemgetter("game"))),
    "board": _board,
    **{name: _view(name, path) for name, path in PATHS.items()},
}

if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
