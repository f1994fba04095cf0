"""The page with the faults of one bot in a tournament."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from game_records import game, packed, rows
from tournament_news import SWISS, SWISS_GAMES, add, begun, played
from web_world import NASTY, Said, Seen, Site, shown, unkept
from worlds.plugins import install
from worlds.tournaments import file_of

from adapters.client.rules import Topic
from adapters.dialects import DIALECTS, found
from gateway.game.events import Objection, Reason
from gateway.store import storing
from gateway.store.evidence import recorded
from gateway.store.records import Enclosure, GameRecord, Participant, TournamentGame
from gateway.tournament.log import Entered, Entry, Forfeited, Paired, Withdrawn
from gateway.tournament.testing import TESTS

RULES = {each.name: each.requirements().rules for each in DIALECTS}
PAIRED: list[Entry] = [*begun(), Paired([(0, 1, 1), (2, 3, 1), (0, 2, 2)])]


def by(kind: str, reason: Reason = Reason.TIME, fault: str = "stall", moves: str = "01") -> GameRecord:
    """Return a game that ann, of this kind of player, has lost by a fault as the first mover."""
    return game(
        players=(Participant("ann", kind), Participant("bob", "nac4")),
        moves=moves,
        winner=1,
        reason=reason,
        table="cup",
        scheduled=TournamentGame(0, 0, 0, fault),
    )


def stored(site: Site, record: GameRecord, said: Said = ()) -> None:
    """Store a tournament with one game, and what its first mover said."""
    add(site.database, file_of(), PAIRED)
    with site.database.writing() as connection:
        storing.store(connection, rows([record]))
        if said:
            storing.enclose(connection, packed([Enclosure(record.game, 0, recorded(said))]))


async def words(site: Site, path: str) -> str:
    return " ".join("".join(Seen(await shown(site, path)).texts).split())


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


async def test_each_game_that_ended_by_a_fault_is_shown_with_what_happened(site: Site) -> None:
    add(site.database, file_of(name="Cup", format="swiss", rounds=3), SWISS, SWISS_GAMES)
    page = Seen(text := await shown(site, "/tournament/CUP/player/bob"))
    assert page.values("data-fault") == ["illegal"]
    assert {"/game/2#7", "/tournament/Cup", "/player/ann", "/player/bob"} <= {*page.values("href")}
    found = " ".join("".join(page.texts).split())
    assert "✕ illegal move · Round 1, game 2 against ann · game 2" in found
    assert "of bob was illegal." in found
    assert "Illegal move 1." in found
    assert "What to change" in text


@pytest.mark.parametrize(
    ("kind", "text", "objection", "topic"),
    [
        ("droidcon", "PUT 7\n", Objection.OUTSIDE, Topic.COLUMN),
        ("droidcon", "PUT 0\n", Objection.COLUMN_FULL, Topic.FULL),
        ("droidcon", "PUT x\n", Objection.NOT_A_COLUMN, Topic.FORMAT),
        ("nac4", "playmove 9\r\n", Objection.OUTSIDE, Topic.COLUMN),
        ("nac4", "playmove 0\r\n", Objection.COLUMN_FULL | Objection.NOT_YOUR_TURN, Topic.TURN),
        ("nac4", "play 0\r\n", Objection.UNREADABLE, Topic.WORDS),
        ("arena", '{"type": "move", "move": "3"}', Objection.NOT_A_COLUMN, Topic.FORMAT),
        ("arena", '{"type": "move", "move": 7}', Objection.OUTSIDE, Topic.COLUMN),
        ("arena", "hello", Objection.UNREADABLE, Topic.WORDS),
    ],
)
async def test_refused_text_is_quoted_with_the_rule_of_its_dialect_that_it_breaks(
    site: Site, kind: str, text: str, objection: Objection, topic: Topic
) -> None:
    reason, fault = (Reason.ILLEGAL, "illegal") if kind == "droidcon" else (Reason.TIME, "stall")
    own = {"nac4": "playmove 0", "arena": '{"type": "move", "move": 0}', "droidcon": "PUT 0"}[kind]
    said: Said = ((0.1, "in", own, None), (0.5, "in", text, objection))
    stored(site, by(kind, reason, fault), said)
    found = await words(site, "/tournament/cup/player/ann")
    assert text.strip() in found
    rule = RULES[kind][topic]
    assert f"{sentence(rule.change)} PROTOCOL.md {rule.clause}" in found


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize(
    ("fault", "reason", "moves", "topic"),
    [
        ("illegal", Reason.ILLEGAL, "01", None),
        ("time", Reason.TIME, "01", None),
        ("stall", Reason.TIME, "", Topic.OPENING),
        ("stall", Reason.TIME, "01", Topic.REPLY),
        ("stall", Reason.TIME, "000000", Topic.FULL),
        ("crash", Reason.LEFT, "01", Topic.BACK),
    ],
)
async def test_fault_without_a_refused_text_has_advice_for_its_kind_and_dialect(
    site: Site, kind: str, fault: str, reason: Reason, moves: str, topic: Topic | None
) -> None:
    stored(site, by(kind, reason, fault, moves))
    page = Seen(await shown(site, "/tournament/cup/player/ann"))
    found = " ".join("".join(page.texts).split())
    assert page.values("data-fault") == [fault]
    if topic is not None and topic in RULES[kind]:
        assert sentence(RULES[kind][topic].change) in found


async def test_player_of_an_unknown_kind_has_general_advice(site: Site) -> None:
    stored(site, by("other"))
    assert "Send a move each time one is asked for" in await words(site, "/tournament/cup/player/ann")


MUTE = """
from adapters.client.dialect import Dialect

def fails(*_):
    raise ImportError

DIALECT = Dialect(
    interface=1, name="mute", short="Mute", mark="M", title="", bots="", option="mute", port=4301, example="",
    front_end=fails, open_dialogue=fails, requirements=fails,
)
"""


async def test_player_of_a_plug_in_whose_rules_cannot_be_loaded_has_general_advice(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        tmp_path, "c4mute", "c4gateway.dialects", {"mute": "mute_dialect:DIALECT"}, {"mute_dialect": MUTE}
    )
    monkeypatch.syspath_prepend(tmp_path)
    found.cache_clear()
    try:
        assert "mute" in [each.name for each in found().dialects]
        stored(site, by("mute"))
        assert "What to change" in await words(site, "/tournament/cup/player/ann")
    finally:
        found.cache_clear()


async def test_walkover_is_shown_without_a_game(site: Site) -> None:
    add(site.database, file_of(format="swiss", rounds=3), SWISS, SWISS_GAMES)
    page = Seen(await shown(site, "/tournament/cup/player/dan"))
    found = " ".join("".join(page.texts).split())
    assert page.values("data-fault") == ["walkover"]
    assert "✕ walkover · Round 1 against cat" in found
    assert "dan was not at the table. It lost 1 game without playing." in found
    assert "Withdrawn: 3 faults in a row; it may come back." in found
    assert sentence(RULES["arena"][Topic.BACK].change) in found


async def test_games_that_a_withdrawn_player_does_not_play_are_no_faults(site: Site) -> None:
    withdrawn = Withdrawn(3, "cheats", may_return=False)
    add(site.database, file_of(), [*PAIRED, withdrawn, Forfeited(1, [0, 1], [3])])
    found = await words(site, "/tournament/cup/player/dan")
    assert "Withdrawn: cheats." in found
    assert "walkover" not in found


async def test_game_that_was_played_again_is_shown_too(site: Site) -> None:
    aborted = replace(by("nac4", Reason.ABORTED, "crash", "0"), winner=None, counted=False)
    stored(site, aborted)
    found = await words(site, "/tournament/cup/player/ann")
    assert "ann left the game before both had moved. The game was played again." in found


async def test_player_that_failed_the_test_before_it_entered_sees_why(site: Site) -> None:
    lost = replace(
        by("arena", Reason.LEFT, "crash"),
        players=(Participant("ann", "arena"), Participant("random", "house", True)),
        scheduled=TournamentGame(TESTS, 0, 0, "crash"),
    )
    add(site.database, file_of(entry_test="random"), games=[lost])
    page = Seen(await shown(site, "/tournament/cup/player/ann"))
    found = " ".join("".join(page.texts).split())
    assert "It has not entered yet." in found
    assert "Test games against random: failed, since its connection ended." in found
    assert "✕ crash · Test game 1 against random · game 1" in found
    assert page.values("data-fault") == ["crash"]


async def test_latest_faults_come_first_and_only_the_latest_are_shown(site: Site) -> None:
    count = 60
    names = [f"p{number}" for number in range(count + 1)]
    pairs = Paired([(0, number, number) for number in range(1, count + 1)])
    lost = [
        played(number, 0, ("p0", f"p{number + 1}"), 1, Reason.ILLEGAL, "illegal") for number in range(count)
    ]
    add(site.database, file_of(), [*begun(names), pairs], lost)
    page = Seen(await shown(site, "/tournament/cup/player/p0"))
    games = [each for each in page.values("href") if each.startswith("/game/")]
    assert games == [f"/game/{number}#7" for number in range(60, 10, -1)]
    assert "10 faults more before these." in "".join(page.texts)


async def test_player_without_faults_reads_so(site: Site) -> None:
    add(site.database, file_of(format="swiss", rounds=3), SWISS, SWISS_GAMES)
    assert "Well done." in await words(site, "/tournament/cup/player/ann")


@pytest.mark.parametrize(
    ("entries", "text"), [([], "It has not entered yet"), ([Entered("ann")], "No faults.")]
)
async def test_player_of_the_roster_has_a_page_before_its_first_game(
    site: Site, entries: list[Entry], text: str
) -> None:
    add(site.database, f'{file_of()}\n[roster]\nann = "10a"', entries)
    found = await words(site, "/tournament/cup/player/ann")
    assert text in found
    assert "has not finished a game in this tournament yet" in found


async def test_during_the_groups_the_place_is_that_in_the_group(site: Site) -> None:
    settings = file_of(groups=2, then="knockout", advance=1)
    add(site.database, settings, [*begun(), Paired([(0, 3, 1)])], [played(0, 0, ("ann", "dan"))])
    assert "1 of 2place in group A" in await words(site, "/tournament/cup/player/dan")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/tournament/cup/player/anne", "'anne' takes no part in 'cup'; did you mean 'ann'"),
        ("/tournament/cap/player/ann", "there is no tournament 'cap'; did you mean 'cup'"),
        ("/tournament/cup/player/%FF", "there is no such tournament or player"),
    ],
)
async def test_player_or_tournament_that_there_is_not_leads_on(site: Site, path: str, text: str) -> None:
    add(site.database, file_of(), begun())
    async with site.client() as client:
        response = await client.get(path)
    assert (response.status_code, text in response.json()["error"]) == (404, True)


@pytest.mark.parametrize("name", [*NASTY, ".", "x/player/y"])
async def test_every_name_has_its_page_and_stays_text(site: Site, name: str) -> None:
    add(site.database, file_of(), begun((name, "bob")))
    address = f"?name={name}" if name in (".", "..") else quote(name, safe="")
    page = Seen(await shown(site, f"/tournament/cup/player/{address}"))
    assert name in page.texts
    assert "script" not in page.tags[page.tags.index("main") :]


async def test_tournament_whose_name_looks_like_an_address_of_this_view_keeps_its_own(site: Site) -> None:
    name = "cup/player/ann"
    add(site.database, file_of(), begun())
    add(site.database, file_of(name=name), begun(("eve", "zoe")))
    assert "Standings" in await words(site, f"/tournament/{quote(name, safe='')}")
    assert "No faults" in await words(site, f"/tournament/{name}")
    assert "No faults" in await words(site, f"/tournament/{quote(name, safe='')}/player/eve")


async def test_where_no_results_are_kept_the_view_says_so(tmp_path: object) -> None:
    assert "Results are not kept here" in await shown(unkept(tmp_path), "/tournament/cup/player/ann")  # type: ignore[arg-type]
