"""The view of the director over a real server: each act is done, and is in the log and in the audit file."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import Windows, expect
from empty_database import open_empty
from scripted_clients import Nac4Client, connected, play_out
from tournament_news import add
from worlds.server import EVERY_PORT, Served, served
from worlds.tournaments import file_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

TOKEN = "sesame"
WON = (0, 1, 0, 1, 0, 1, 0)

AUDITED = [
    ("house", "random", "by: nora", "why: odd number"),
    ("start", "by: nora"),
    ("announce", "Lunch until 13:00", "by: nora"),
    ("announce", "by: nora"),
    ("award", "1.1", "ann", "by: nora", "why: a stall"),
    ("void", "1.2", "by: nora"),
    ("undo", "10", "by: nora"),
    ("replay", "1.2", "by: nora", "why: a cable"),
    ("enter", "zoe", "by: nora", "why: a late train"),
    ("withdraw", "zoe", "by: nora", "why: did not come"),
    ("next", '[["ann","random"],["bob"]]', "by: nora"),
    ("pause", "by: nora"),
    ("resume", "by: nora"),
    ("end", "by: nora", "why: fire alarm"),
    ("award", "1.3", "bob", "by: nora"),
]
"""The acts, their parameters, who decided and why."""


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, browser: object, audit: Path) -> Iterator[Served]:
    """A gateway with a tournament that begins when its director says so."""
    where = tmp_path_factory.mktemp("directing") / "games.db"
    with closing(open_empty(where)) as database:
        add(database, file_of(name="Cup", format="swiss", rounds=3, games=4))
    options = ("--web", "0", "--db", str(where), "--admin-token", TOKEN, "--audit", str(audit))
    with served(*EVERY_PORT, *options, addresses=4) as gateway:
        yield gateway


class Director:
    """A person at the view."""

    def __init__(self, page: "Page") -> None:
        self.page = page

    def press(self, words: str) -> None:
        self.page.get_by_role("button", name=re.compile(f"^{re.escape(words)}")).click()

    def open(self, words: str, mark: str | None = None) -> "Locator":
        """Return the form that a button opens, when one player is marked, or none."""
        for box in self.page.locator("tbody").get_by_role("checkbox", checked=True).all():
            box.uncheck()
        if mark is not None:
            self.page.get_by_label(f"Mark {mark}", exact=True).check()
        self.press(words)
        return self.page.locator("form.asks")

    def send(self, words: str, why: str) -> None:
        """Send the form that is open, with a reason."""
        form = self.page.locator("form.asks")
        form.get_by_label("Why").fill(why)
        form.get_by_role("button", name=words, exact=True).click()
        expect(form).to_have_count(0)

    def sees(self, entry: str, by: str = "nora") -> None:
        """Wait until this is in the log."""
        logged = self.page.locator(".logged li").filter(has_text=entry)
        expect(logged.locator(".by")).to_have_text(by)


def begin(director: Director) -> None:
    """Start, which needs a third player, and announce a line."""
    page = director.page
    expect(page.locator(".counts")).to_have_text("2 here")
    director.press("Start")
    trouble = "2 players can play 1 Swiss round without meeting twice, not 3; 2 players entered so far."
    expect(page.get_by_role("alert").filter(has_text=trouble)).to_be_visible()
    director.open("Add a house player").get_by_label("House player").select_option("random")
    director.send("Add random", "odd number")
    director.sees("Added the house player random. “odd number”")
    director.press("Start")
    director.sees("Began with 3 players", "server")
    expect(page.locator("h1")).to_have_text("Round 1 of 3 is on")
    page.get_by_label("Announcement").fill("Lunch until 13:00")
    director.press("Announce")
    director.sees("Announced: Lunch until 13:00")
    expect(page.get_by_label("Announcement")).to_have_value("")
    director.press("End it")
    director.sees("Ended the announcement")


def decide_games(director: Director, ann: Nac4Client, bob: Nac4Client) -> None:
    """Award the game that is on, which ends it; make the next one void, take that back, and replay it."""
    on = director.page.locator("tbody").get_by_role("link")
    expect(on).to_have_text(["game 1.1", "game 1.1"])
    director.open("Award a game", "ann")
    director.send("Award it to ann", "a stall")
    director.sees("Awarded game 1.1 (ann and bob) to ann. “a stall”")
    ann.finish()
    bob.finish()
    play_out(bob, ann, WON)
    expect(on).to_have_text(["game 1.3", "game 1.3"])

    def choose() -> "Locator":
        form = director.open("Void or replay", "bob")
        form.get_by_label("game 1.3 against ann (round 1): on").uncheck()
        form.get_by_label("game 1.2 against ann (round 1): bob won").check()
        return form

    choose()
    director.send("Void 1 game", "")
    director.sees("Voided game 1.2 (ann and bob)")
    director.press("Undo “Voided game 1.2")
    director.sees("Undid “Voided game 1.2 (ann and bob)”")
    choose().get_by_label("They are").select_option("replay")
    director.send("Play 1 game again", "a cable")
    director.sees("Replay of game 1.2 (ann and bob). “a cable”")


def follow_a_game(director: Director, ann: Nac4Client, bob: Nac4Client) -> None:
    """Keep a form open while the game that is chosen in it ends."""
    form = director.open("Award a game", "ann")
    chosen = form.get_by_role("combobox", name="Game", exact=True).locator("option:checked")
    expect(chosen).to_have_text(re.compile(r"^game 1\.3 against .*bob.* \(round 1\): on$"))
    play_out(ann, bob, WON)
    expect(chosen).to_have_text(re.compile("ended, .*ann.* won$"))
    expect(form.locator(".follows")).to_contain_text("This replaces the result: ann won.")
    form.get_by_role("button", name="Cancel").click()


def change_players(director: Director) -> None:
    """Enter a player late, withdraw it, and set the pairs of the next round."""
    page = director.page
    director.open("Enter a player late").get_by_label("The name").fill("zoe")
    director.send("Enter zoe", "a late train")
    director.sees("Entered zoe. “a late train”")
    expect(page.locator(".counts")).to_have_text("3 here · 1 not here")
    director.open("Withdraw", "zoe")
    director.send("Withdraw", "did not come")
    director.sees("Withdrew zoe. “did not come”")
    director.open("Set the next round").get_by_label("Pair 1, second").select_option("random")
    director.send("Set the round", "")
    director.sees("Set the next round: ann - random, bob")
    expect(page.locator(".progress")).to_contain_text("set by hand")


def end(director: Director) -> None:
    """Pause, resume and end, and award a game after that."""
    title = director.page.locator("h1")
    director.press("Pause")
    expect(title).to_have_text("Round 1 of 3 is paused")
    director.sees("Paused")
    director.press("Resume")
    expect(title).to_have_text("Round 1 of 3 is on")
    director.sees("Resumed")
    director.open("End the tournament").get_by_label("Type the tournament").fill("Cup")
    director.send("End the tournament", "fire alarm")
    expect(title).to_have_text("It was ended early")
    director.sees("Ended. “fire alarm”")
    form = director.open("Award a game", "ann")
    form.get_by_role("combobox", name="Game", exact=True).select_option("1.3")
    form.get_by_label("Award it to").select_option("other")
    director.send("Award it to bob", "")
    director.sees("Awarded game 1.3 (ann and bob) to bob")


def test_each_act_is_done_logged_and_audited(gateway: Served, windows: Windows, audit: Path) -> None:
    windows.expect("409")
    page = windows.open("about:blank")
    page.add_init_script("localStorage.setItem('director', 'nora')")
    page.goto(f"/tournament/cup/director#{TOKEN}")
    director = Director(page)
    ann, bob = Nac4Client(gateway, "ann", "Cup"), Nac4Client(gateway, "bob", "Cup")
    with connected(ann, bob):
        begin(director)
        decide_games(director, ann, bob)
        follow_a_game(director, ann, bob)
        change_players(director)
        end(director)
    lines = [line.split("\t")[1:] for line in audit.read_text().splitlines()]
    assert {(user, origin, name) for user, _, origin, name, *_ in lines} == {("admin", "127.0.0.1", "Cup")}
    assert [(act.removeprefix("tournament "), *rest) for _, act, _, _, *rest in lines] == AUDITED
