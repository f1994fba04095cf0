"""The view of the director, over answers that a test writes: what it shows, sends and keeps."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from browsing import LOOKS, PHONE, Windows, expect
from directing import CUP, TOKEN, Desk, directed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser

HOME = f"/tournament/{quote(CUP)}"
NARROW = {"viewport": {"width": 1366, "height": 768}}


@pytest.fixture
def desk(tmp_path: Path, browser: "Browser") -> Iterator[Desk]:
    with directed(tmp_path) as desk:
        yield desk


@pytest.fixture
def windows(browser: "Browser", desk: Desk) -> Iterator[Windows]:
    windows = Windows(browser, f"http://127.0.0.1:{desk.port}")
    yield windows
    windows.close()


def opened(windows: Windows, name: str | None = "nora", home: str = HOME, **look: object) -> "Page":
    """Return the view, in a browser that knows the person's name, if there is one."""
    page = windows.open("about:blank", **(NARROW | look))
    if name is not None:
        page.add_init_script(f"localStorage.setItem('director', '{name}')")
    page.goto(f"{home}/director#{TOKEN}")
    expect(page.locator("tbody tr").first).to_be_visible()
    return page


def row(page: "Page", name: str) -> "Locator":
    return page.locator("tbody tr").filter(has=page.get_by_label(f"Mark {name}", exact=True))


def press(page: "Page", name: str) -> None:
    page.get_by_role("button", name=re.compile(f"^{re.escape(name)}")).first.click()


# The token.


def test_token_leaves_the_address_at_once_and_stays_in_the_tab(windows: Windows) -> None:
    page = opened(windows)
    assert page.evaluate("location.href").endswith("/director")
    assert page.evaluate("Object.values(sessionStorage)") == [TOKEN]
    assert TOKEN not in page.content()
    assert TOKEN not in page.evaluate("JSON.stringify(localStorage)")
    page.reload()
    expect(page.locator("h1")).to_have_text("Round 6 of 9 is on")


def test_without_a_token_the_view_is_the_tournament_s_own(windows: Windows) -> None:
    page = windows.open(f"{HOME}/director")
    page.wait_for_url(f"**{HOME}")
    expect(page.locator("h1")).to_have_text(CUP)
    assert "irector" not in page.inner_text("body")


def test_without_scripts_the_view_is_the_tournament_s_own(windows: Windows) -> None:
    page = windows.open(f"{HOME}/director", java_script_enabled=False)
    page.wait_for_url(f"**{HOME}")


def test_refused_token_is_forgotten_and_another_one_can_be_tried(windows: Windows) -> None:
    windows.expect("403")
    page = windows.open(f"{HOME}/director#wrong")
    expect(page.locator("h1:visible")).to_have_text("The server refused your token")
    expect(page.locator("main")).to_contain_text("c4gateway.token")
    expect(page.get_by_role("link", name=CUP)).to_have_attribute("href", HOME)
    assert page.evaluate("Object.values(sessionStorage)") == [""]
    page.get_by_label("Admin token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.locator("h1:visible")).to_have_text("Round 6 of 9 is on")


@pytest.mark.usefixtures("long")
def test_tournament_may_have_any_name(windows: Windows, tmp_path: Path, browser: "Browser") -> None:
    (tmp_path / "other").mkdir()
    with directed(tmp_path / "other", "a/b ☃ <i>") as desk:
        others = Windows(browser, f"http://127.0.0.1:{desk.port}")
        page = opened(others, home=f"/tournament/{quote('a/b ☃ <i>', safe='')}")
        press(page, "Pause")
        expect(page.get_by_role("status")).to_have_text("Done.")
        others.close()
    assert desk.acts == [("pause", {"by": "nora", "why": ""})]


# What it shows.


def test_players_have_their_state_opponent_and_faults(windows: Windows) -> None:
    page = opened(windows)
    expect(page.locator(".counts")).to_have_text("14 here · 1 away · 1 withdrawn")
    expect(row(page, "negamax-9")).to_contain_text("✓ here, plays")
    expect(row(page, "negamax-9").get_by_role("link", name="game 41.2")).to_have_attribute(
        "href", "/game/1232"
    )
    expect(row(page, "BluePanda")).to_contain_text("pair is over")
    expect(row(page, "dropout")).to_contain_text(re.compile("◌ away 1[2-9] s of 30"))
    expect(row(page, "tower-of-hanoi")).to_contain_text("✕ withdrawn")
    expect(row(page, "tower-of-hanoi").locator(".against")).to_have_text("3 faults in a row")
    expect(row(page, "lehrer-bot").locator(".faults")).to_have_text("✕ 2")
    expect(row(page, "lehrer-bot").locator(".in-a-row")).to_have_text("1 of 3")


@pytest.mark.usefixtures("long")
def test_rows_beyond_the_window_are_shown_on_request(windows: Windows) -> None:
    page = opened(windows)
    shown = page.locator("tbody tr:visible")
    assert shown.count() < 16
    page.get_by_role("button", name=re.compile("Show .* more")).click()
    expect(shown).to_have_count(16)


@pytest.mark.usefixtures("long")
def test_missing_players_are_first_only_on_request(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("negamax-9")
    page.get_by_role("button", name="1 away").click()
    expect(first).to_contain_text("dropout")
    desk.answer["players"][5] |= {"state": "waits", "for": None, "of": None}
    expect(page.locator(".counts")).to_have_text("15 here · 1 withdrawn")
    expect(first).to_contain_text("dropout")


@pytest.mark.usefixtures("long")
def test_log_says_when_who_what_and_why_and_is_whole_on_request(windows: Windows) -> None:
    page = opened(windows)
    entries = page.locator(".logged ol li")
    expect(entries.first).to_contain_text("nora")
    expect(entries.first).to_contain_text("Added random. “odd number”")
    expect(entries.nth(1)).to_contain_text("server")
    expect(entries.nth(1)).to_contain_text("Withdrew tower-of-hanoi: 3 faults in a row")
    page.get_by_role("button", name="All 23 entries").click()
    expect(entries).to_have_count(23)


@pytest.mark.usefixtures("long")
def test_lost_connection_is_said_and_ends(windows: Windows, desk: Desk) -> None:
    windows.expect("503")
    page = opened(windows)
    desk.is_away = True
    expect(page.locator(".connection")).to_have_text("connecting again")
    desk.is_away = False
    expect(page.locator(".connection")).to_have_text("connected")


# What it sends.


def test_name_is_asked_once_and_sent_with_each_act(windows: Windows, desk: Desk) -> None:
    page = opened(windows, name=None)
    press(page, "Pause")
    page.get_by_label("Your name").fill("nora")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Done.")
    desk.answer["report"]["state"] = "paused"
    press(page, "Resume")
    expect(page.locator(".signed")).to_contain_text("nora")
    assert desk.acts == [("pause", {"by": "nora", "why": ""}), ("resume", {"by": "nora", "why": ""})]


FORMS = {
    "Withdraw": (
        {"Why": "it hangs"},
        [],
        "withdraw",
        {"player": "lehrer-bot", "why": "it hangs"},
        "open game is lost when nothing else can be played. It cannot come back",
    ),
    "Award a game": (
        {"Why": "stall"},
        [("Award it to", "other")],
        "award",
        {"game": "43.2", "to": "四目並べ", "why": "stall"},
        "does not count",
    ),
    "Void or replay": ({}, [], "void", {"game": "43.2", "why": ""}, "1 game is void"),
    "Forbid a pair": (
        {},
        [("It must not meet", "hannah")],
        "forbid",
        {"player": "lehrer-bot", "other": "hannah", "why": ""},
        "lehrer-bot and hannah are not paired any more",
    ),
    "Test game": (
        {},
        [("Against", "aimafast")],
        "test",
        {"player": "lehrer-bot", "house": "aimafast", "why": ""},
        "They do not count",
    ),
    "Add a house player": (
        {"Why": "odd number"},
        [("House player", "random")],
        "house",
        {"player": "random", "why": "odd number"},
        "random takes part",
    ),
    "Enter a player late": (
        {"The name": "zoe", "Why": "a late train"},
        [],
        "enter",
        {"player": "zoe", "why": "a late train"},
        "from the next pairing on, also without a test",
    ),
    "End the tournament": (
        {"Type the tournament": CUP, "Why": "fire alarm"},
        [],
        "end",
        {"why": "fire alarm"},
        "Games that are on are finished and count",
    ),
}
"""What is pressed, typed and chosen, what is sent then, and what the form says before."""


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("words", FORMS)
def test_act_asks_in_place_says_what_follows_and_is_sent(words: str, windows: Windows, desk: Desk) -> None:
    typed, chosen, act, parameters, follows = FORMS[words]
    page = opened(windows)
    page.get_by_label("Mark lehrer-bot").check()
    press(page, words)
    form = page.locator("form.asks")
    for label, option in chosen:
        form.get_by_label(label).select_option(value=option)
    for label, text in typed.items():
        form.get_by_label(label).fill(text)
    expect(form.locator(".follows")).to_contain_text(follows)
    form.locator(".ends button").first.click()
    expect(form).to_have_count(0)
    assert desk.acts == [(act, {"by": "nora", **parameters})]


@pytest.mark.usefixtures("long")
def test_several_games_can_be_played_again_together(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    page.get_by_label("Mark BluePanda").check()
    press(page, "Void or replay")
    form = page.locator("form.asks")
    for box in form.get_by_role("checkbox").all():
        box.check()
    form.get_by_label("They are").select_option("replay")
    expect(form.locator(".follows")).to_contain_text("2 games are played again")
    form.get_by_role("button", name="Play 2 games again").click()
    expect(form).to_have_count(0)
    assert [(act, about["game"]) for act, about in desk.acts] == [("replay", "47.2"), ("replay", "47.1")]


@pytest.mark.usefixtures("long")
def test_tournament_ends_only_by_its_name(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    press(page, "End the tournament")
    page.get_by_label("Type the tournament").fill("cup")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="name is: Autumn cup")).to_be_visible()
    assert desk.acts == []


@pytest.mark.usefixtures("long")
def test_next_round_is_set_by_exchanging_players(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    press(page, "Set the next round")
    pairs = page.locator(".pairs li")
    expect(pairs.first).to_contain_text("met in round 6")
    pairs.first.locator("select").nth(1).select_option(label="\u2068BluePanda\u2069")
    expect(pairs.nth(1).locator("select").nth(1)).to_have_value("alice")
    page.locator("form.asks .ends button").first.click()
    expect(page.locator("form.asks")).to_have_count(0)
    ((act, about),) = desk.acts
    assert act == "next"
    chosen = json.loads(about["pairs"])
    assert chosen[:3] == [
        ["negamax-9", "BluePanda"],
        ["aimafast", "alice"],
        ["kolumbus_v2_final", "dropout"],
    ]
    assert chosen[-1] == ["gravity"]
    desk.answer["report"]["next_set"] = chosen
    expect(page.locator(".progress")).to_contain_text("round 7 about")
    expect(page.locator(".progress")).to_contain_text("set by hand")
    press(page, "Set the next round")
    expect(pairs.first.locator("select").nth(1)).to_have_value("BluePanda")


def test_game_that_needs_the_person_can_be_awarded_or_let_run(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    needs = page.locator(".needs li")
    expect(needs).to_contain_text("Game 43.2, lehrer-bot \N{EN DASH} 四目並べ: stall.")
    expect(needs.get_by_role("link", name="The position")).to_have_attribute("href", "/game/1236")
    press(page, "Let it run")
    expect(needs).to_be_hidden()
    page.get_by_role("button", name="Show 1 game").click()
    press(page, "Award to")
    needs.get_by_label("Why").fill("stall")
    needs.locator(".ends button").first.click()
    expect(needs.locator("form")).to_have_count(0)
    assert desk.acts == [("award", {"game": "43.2", "to": "四目並べ", "by": "nora", "why": "stall"})]


@pytest.mark.usefixtures("long")
def test_line_is_announced_and_ended(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    line = page.get_by_label("Announcement")
    line.fill("Lunch until 13:00")
    desk.answer["report"]["announcement"] = "Lunch until 13:00"
    page.keyboard.press("Enter")
    expect(line).to_have_value("")
    page.get_by_role("button", name="End it").click()
    expect(page.locator(".current")).to_contain_text("Lunch until 13:00")
    desk.answer["report"]["announcement"] = None
    expect(page.locator(".current")).to_be_hidden()
    assert [(act, about.get("text")) for act, about in desk.acts] == [
        ("announce", "Lunch until 13:00"),
        ("announce", None),
    ]


def test_undo_names_its_act_and_is_absent_when_there_is_none(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_have_text("Undo “Added random”")
    desk.answer["report"]["undo"] = None
    undo.click()
    expect(undo).to_have_count(0)
    assert desk.acts == [("undo", {"number": "23", "by": "nora", "why": ""})]


@pytest.mark.usefixtures("long")
def test_withdrawn_player_can_be_readmitted(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    page.get_by_role("button", name=re.compile("Show .* more")).click()
    page.get_by_label("Mark tower-of-hanoi").check()
    press(page, "Readmit")
    page.locator("form.asks .primary").click()
    expect(page.get_by_role("status")).to_have_text("Done.")
    assert desk.acts == [("readmit", {"player": "tower-of-hanoi", "by": "nora", "why": ""})]


def test_act_is_not_sent_twice(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    page.get_by_role("button", name="Pause").dblclick()
    expect(page.get_by_role("status")).to_have_text("Done.")
    desk.go_on.clear()
    page.get_by_label("Mark alice").check()
    press(page, "Withdraw")
    send = page.locator("form.asks .ends button").first
    send.dblclick()
    send.dispatch_event("click")
    page.keyboard.press("Enter")
    desk.go_on.set()
    expect(page.locator("form.asks")).to_have_count(0)
    assert [act for act, _ in desk.acts] == ["pause", "withdraw"]


# What it follows.


def test_form_follows_the_games_and_a_result_is_not_replaced_unseen(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)
    page.reload()  # from now on it reads once, and before it sends
    page.get_by_label("Mark lehrer-bot").check()
    press(page, "Award a game")
    form = page.locator("form.asks")
    which = form.get_by_role("combobox", name="Game", exact=True)
    chosen = which.locator("option:checked")
    expect(chosen).to_have_text(re.compile(r"^game 43\.2 against .*四目並べ.* \(round 6\): on$"))
    form.get_by_label("Why").fill("stall")
    pairing = desk.answer["report"]["pairings"][2]
    game = {"number": 2, "game": "1236", "first": "lehrer-bot", "winner": 1}
    pairing["games"].append(game)
    desk.answer["players"][6] |= dict.fromkeys(("against", "game", "pairing", "number"))
    send = form.locator(".ends button").first
    send.click()
    expect(page.get_by_role("alert").filter(has_text="Meanwhile a game has ended.")).to_be_visible()
    expect(chosen).to_have_text(re.compile("ended, .*lehrer-bot.* won$"))
    expect(form.locator(".follows")).to_contain_text("This replaces the result: lehrer-bot won.")
    expect(form.get_by_label("Why")).to_have_value("stall")
    assert desk.acts == []
    send.click()
    expect(form).to_have_count(0)
    assert [(act, about["game"]) for act, about in desk.acts] == [("award", "43.2")]


@pytest.mark.usefixtures("long")
def test_list_of_games_follows_while_it_is_open(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    page.get_by_label("Mark alice").check()
    press(page, "Void or replay")
    boxes = page.locator(".boxes label")
    expect(boxes).to_have_text([
        "game 41.2 against negamax-9 (round 6): on",
        "game 41.1 against negamax-9 (round 6): negamax-9 won",
    ])  # fmt: skip
    pairing = desk.answer["report"]["pairings"][0]
    pairing |= {
        "state": "over",
        "games": [*pairing["games"], {**pairing["games"][0], "number": 2, "winner": 0}],
    }
    desk.answer["players"][1] |= {"pairing": 49, "number": 1}
    desk.answer["report"]["pairings"].append(
        {**pairing, "number": 49, "round": 7, "state": "waiting", "games": []}
    )
    expect(boxes).to_have_text([
        "game 41.2 against negamax-9 (round 6): ended, drawn",
        "game 41.1 against negamax-9 (round 6): negamax-9 won",
        "game 49.1 against negamax-9 (round 7): on",
        "game 49.2 against negamax-9 (round 7): not played yet",
    ])  # fmt: skip
    assert boxes.get_by_role("checkbox", checked=True).count() == 1
    expect(page.locator(".follows")).to_have_text(
        re.compile("^This replaces the result: drawn. 1 game is void")
    )


def test_before_the_start_who_is_missing_is_said_and_suggested(windows: Windows, desk: Desk) -> None:
    report = desk.answer["report"]
    report |= {"state": "open", "pairings": [], "next": None, "missing": ["uwe", "tina"]}
    report["settings"]["roster"] = {"alice": "10a", "tina": "10a", "uwe": "10b"}
    page = opened(windows)
    expect(page.locator(".not-entered")).to_have_text("2 not entered yet: tina 10a, uwe 10b")
    expect(row(page, "alice").locator(".group")).to_have_text("10a")
    press(page, "Enter a player late")
    field = page.get_by_label("The name")
    assert field.evaluate("field => [...field.list.options].map(({value}) => value)") == ["tina", "uwe"]
    report["missing"] = []
    expect(page.locator(".not-entered")).to_be_hidden()
    assert field.evaluate("field => field.list.options.length") == 0


def test_who_is_out_is_not_missing(windows: Windows, desk: Desk) -> None:
    desk.answer["players"][5] |= {"state": "out", "for": None, "of": None}
    page = opened(windows)
    expect(page.locator(".counts")).to_have_text("14 here · 1 out · 1 withdrawn")
    expect(row(page, "dropout")).to_have_class("out")
    expect(row(page, "dropout").locator(".state")).to_contain_text("out")


def test_after_the_end_nobody_is_missing_and_games_can_be_decided(windows: Windows, desk: Desk) -> None:
    desk.answer["report"] |= {"state": "over", "next": None}
    desk.answer["players"][5] |= {"state": "absent", "for": 99, "of": 30}
    page = opened(windows)
    expect(page.locator("h1")).to_have_text("It is over")
    expect(page.locator(".counts")).to_have_text("1 withdrawn")
    expect(row(page, "dropout").locator(".state")).to_contain_text("place 6")
    assert page.locator(".missing:visible").count() == 0
    page.get_by_label("Mark BluePanda").check()
    assert page.locator(".bar").get_by_role("button").all_inner_texts() == ["Award a game …", "Void a game …"]
    press(page, "Void a game")
    page.locator(".boxes").get_by_role("checkbox").first.check()
    page.locator("form.asks .ends button").first.click()
    expect(page.locator("form.asks")).to_have_count(0)
    assert [(act, about["game"]) for act, about in desk.acts] == [("void", "47.2")]


# What it keeps.


def test_refused_act_says_why_and_nothing_typed_is_lost(windows: Windows, desk: Desk) -> None:
    windows.expect("409")
    page = opened(windows)
    desk.refusal = 409, "lehrer-bot has withdrawn already"
    page.get_by_label("Mark lehrer-bot").check()
    press(page, "Withdraw")
    page.get_by_label("Why").fill("it hangs")
    page.keyboard.press("Enter")
    expect(page.locator(".foot .trouble")).to_have_text("Lehrer-bot has withdrawn already.")
    expect(page.get_by_label("Why")).to_have_value("it hangs")
    desk.refusal = None
    page.keyboard.press("Enter")
    expect(page.locator("form.asks")).to_have_count(0)


@pytest.mark.usefixtures("long")
def test_what_is_typed_and_marked_stays_while_the_tournament_goes_on(windows: Windows, desk: Desk) -> None:
    page = opened(windows)
    page.get_by_label("Mark lehrer-bot").check()
    press(page, "Award a game")
    page.get_by_label("Why").fill("half")
    line = page.get_by_label("Announcement")
    line.fill("Lunch")
    desk.answer["report"]["round"] = 7
    desk.answer["needs"] = []
    desk.answer["players"].reverse()
    expect(page.locator("h1")).to_have_text("Round 7 of 9 is on")
    expect(page.locator("tbody tr").first).to_contain_text("negamax-9")
    expect(page.get_by_label("Why")).to_have_value("half")
    expect(line).to_have_value("Lunch")
    expect(line).to_be_focused()
    expect(page.get_by_label("Mark lehrer-bot")).to_be_checked()


def test_names_are_text(windows: Windows, desk: Desk) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    desk.answer["players"][0]["name"] = hostile
    desk.answer["report"]["log"][-1] |= {"words": f"Withdrew {hostile}", "why": hostile}
    page = opened(windows)
    expect(row(page, hostile)).to_be_visible()
    assert page.locator("main img").count() == 0


# Looks.


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("look", LOOKS)
def test_no_serious_fault_for_people_with_disabilities(look: str, windows: Windows) -> None:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415  an extra

    page = opened(windows, **LOOKS[look])
    page.get_by_label("Mark lehrer-bot").check()
    press(page, "Award a game")
    if look != "phone":
        press(page, "Set the next round")
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found] == []


@pytest.mark.usefixtures("long")
def test_phone_is_to_read_pause_and_award(windows: Windows) -> None:
    page = opened(windows, **PHONE)
    page.get_by_label("Mark lehrer-bot").check()
    buttons = page.locator("main").get_by_role("button").all_inner_texts()
    words = {" ".join(each.split()) for each in buttons}
    assert {"Pause", "Award to 四目並べ …", "Award a game …"} <= words
    assert not [each for each in words if re.search("Withdraw|Void|Forbid|Undo|Set|Add|End|Announce", each)]
    for width in (320, 390, 640, 800, 1100):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
