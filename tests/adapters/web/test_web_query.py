"""What stands behind the question mark, and what is made of it."""

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.query import (
    FILTERS,
    PAGING,
    USUAL,
    BadRequestError,
    game_named,
    parameters,
    part,
    wanted,
)
from gateway.game.events import Reason
from gateway.store.games import Filter, Page

KNOWN = (*FILTERS, *PAGING)


def refused(text: str) -> str:
    """Return why there is no such thing."""
    with pytest.raises(BadRequestError) as error:  # noqa: PT012 - any of the three may refuse it
        found = parameters(text.encode(), KNOWN)
        wanted(found)
        part(found)
    return str(error.value)


def test_nothing_asks_for_the_newest_of_all_games() -> None:
    found = parameters(b"", KNOWN)
    assert wanted(found) == Filter()
    assert part(found) == Page(limit=USUAL)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_name_can_be_asked_for(name: str) -> None:
    found = parameters(urlencode({"player": name, "opponent": name}).encode(), KNOWN)
    assert wanted(found) == Filter(player=name, opponent=name)


def test_filters_are_those_of_the_export() -> None:
    text = b"player=a&since=2026-11-21&until=2026-11-21T01:00:00%2B01:00&reason=time"
    text += b"&result=won&table=T&counted=1&moving=second"
    since = 1_795_219_200_000
    expected = Filter("a", None, since, since, Reason.TIME, True, "won", "T", side=1)
    assert wanted(parameters(text, KNOWN)) == expected


def test_mistakes_of_a_player_are_games_that_it_lost() -> None:
    assert wanted({"player": "a", "mistake": "1"}) == Filter("a", result="lost", mistake=True)
    assert wanted({"player": "a", "mistake": "1", "result": "won"}) == Filter("a", result="won", mistake=True)
    assert wanted({"mistake": "1"}) == Filter(mistake=True)


def test_who_says_after_which_game_reads_on_from_there() -> None:
    assert part({"after": "5"}) == Page(after="5", newest_first=False)
    assert part({"before": "5", "limit": "7"}) == Page(before="5", limit=7)
    assert part({"before": "9", "after": "5"}) == Page(after="5", before="9")
    assert part({"before": "9", "after": "0"}) == Page(before="9")
    assert part({"after": "OOOO1-OOOO0A"}) == Page(after="00001-00000a", newest_first=False)


@pytest.mark.parametrize(
    "text",
    [
        "playr=a",
        "player=a&player=b",
        "player=%FF",
        "player=%ED%A0%80",
        "opponent=a",
        "moving=first",
        "player=a&moving=third",
        "reason=bored",
        "since=tomorrow",
        "result=lose",
        "mistake=0",
        "counted=yes",
        "since=2026-13-01",
        "until=9999-12-31T23:59:59-99:00",
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=1e2",
        "limit=%D9%A3",
        "after=-1",
        "after=1_0",
        "before=0",
        "before=00001-00000",
        "before=" + "9" * 5000,
        "&".join(f"x{n}=1" for n in range(60)),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(text: str) -> None:
    assert len(refused(text).splitlines()) == 1


def test_unknown_parameter_is_told_what_there_is() -> None:
    assert refused("playr=x") == f"there is no parameter 'playr'; possible: {', '.join(KNOWN)}"


@given(
    st.binary(max_size=60)
    | st.from_regex(rb"(since|until|before|after|limit|reason)=[^&]{0,30}", fullmatch=True)
)
def test_nothing_but_a_bad_request_comes_of_any_bytes(text: bytes) -> None:
    try:
        found = parameters(text, KNOWN)
        wanted(found)
        part(found)
    except BadRequestError:
        pass


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "1.0", "9" * 5000, "\u0663", "1/2", "00001-00000u"])
def test_what_is_not_the_id_of_a_game_is_refused(text: str) -> None:
    with pytest.raises(BadRequestError, match="not the id of a game"):
        game_named(text)


def test_id_of_a_game_may_be_typed_in_capitals_and_with_letters_for_digits() -> None:
    assert game_named("OOOiL-00000A") == "00011-00000a"
