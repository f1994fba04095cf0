"""The command ``c4gateway tournament roster``, and ``c4gateway tournament new --roster``."""

import csv
import errno
import json
import os
import re
import stat
from collections.abc import Callable
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.tournaments import file_of

from gateway.access.accounts import fault_of, is_right, names_file, read_accounts
from gateway.access.roster import Member
from gateway.commands.roster import with_roster
from gateway.store import tournaments
from gateway.store.database import open_to_read
from gateway.tournament.settings import LONGEST, parse

DATABASE, AUDIT, PLAYERS = Path("c4gateway.db"), Path("c4gateway.audit"), Path("c4gateway.players")
CLASS, SHEET, FILE = Path("class.csv"), Path("sheet.html"), Path("cup.toml")
Run = Callable[..., tuple[int, str, str]]
FURTHER = "..."
"""The addresses of further dialects."""


def protected() -> dict[str, tuple[str, str]]:
    """Return the names in the file, and the notes of each, by folded name."""
    known = read_accounts(names_file(str(PLAYERS), is_optional=True))
    return {key: (each.name, each.notes) for key, each in known.items()}


def fits(name: str, token: str) -> bool:
    return is_right(token, read_accounts(names_file(str(PLAYERS)))[name].digest)


def audited() -> list[list[str]]:
    return [line.split("\t")[1:] for line in AUDIT.read_text().splitlines()] if AUDIT.exists() else []


class Strips(HTMLParser):
    """What a browser makes of a sheet: the tags with their depth, and the texts of each strip."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.strips: list[list[str]] = []
        self.pages: list[int] = []
        """The number of strips on each page."""
        self.in_bdi = 0
        self.isolated: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if ("class", "page") in attrs:
            self.pages.append(0)
        if ("class", "strip") in attrs:
            self.strips.append([])
            self.pages[-1] += 1
        self.in_bdi += tag == "bdi"

    def handle_endtag(self, tag: str) -> None:
        self.in_bdi -= tag == "bdi"

    def handle_data(self, data: str) -> None:
        if self.strips and data.strip():
            self.strips[-1].append(data)
            self.isolated += [data] if self.in_bdi else []


# Tokens.


def test_tokens_are_printed_as_a_table_and_only_their_hashes_are_kept(run: Run) -> None:
    CLASS.write_text("Name;Group\nann;10a\nbob;\n")
    status, out, err = run("roster", "class.csv")
    rows = [line.split("\t") for line in out.splitlines()]
    assert (status, [row[:2] for row in rows]) == (0, [["ann", "10a"], ["bob", ""]])
    assert all(fits(name, token) for name, _, token in rows)
    assert not any(token in PLAYERS.read_text() for *_, token in rows)
    assert stat.S_IMODE(PLAYERS.stat().st_mode) == 0o600
    assert protected() == {"ann": ("ann", "10a"), "bob": ("bob", "")}
    assert audited() == [["op", "player add", "ann", "roster", "10a"], ["op", "player add", "bob", "roster"]]
    assert err.startswith("2 tokens of class.csv\n")
    assert err.endswith("c4gateway.players is written; a running server reads it on SIGHUP\n")


def test_sheet_has_a_strip_for_each_name_and_eight_on_a_page(run: Run) -> None:
    CLASS.write_text("".join(f"player{number};{number % 2}\n" for number in range(20)))
    status, out, err = run("roster", "class.csv", "--sheet", "sheet.html", "--table", "My cup")
    assert (status, out) == (0, "")
    assert "sheet.html is written; it has the tokens, which are kept nowhere else, so keep it secret" in err
    assert stat.S_IMODE(SHEET.stat().st_mode) == 0o600
    sheet = Strips(SHEET.read_text())
    assert (len(sheet.strips), sheet.pages) == (20, [8, 8, 4])
    assert [each[0] for each in sheet.strips] == [f"player{number}" for number in range(20)]
    for texts in sheet.strips:
        token = texts[texts.index("Token") + 1]
        assert fits(texts[0], token)
        assert f"connect {texts[0]} {token}" in texts
        assert json.dumps({"type": "start", "id": texts[0], "token": token}) in texts
        assert f"NAME {texts[0]} {token}" in texts
        assert "ws://HOST:8080/?table=My%20cup" in texts
        assert texts[texts.index(f"NAME {texts[0]} {token}") + 1] == "JOIN My cup"
        assert f"I32CFSP_HELLO {texts[0]} {token}" not in texts  # it can name no table


def test_sheet_is_one_file_without_scripts_that_prints_without_a_break_inside_a_strip(run: Run) -> None:
    CLASS.write_text("ann\n")
    run("roster", "class.csv", "--sheet", "sheet.html")
    text = SHEET.read_text()
    assert not {"script", "link", "img", "iframe", "base", "form"} & {*Strips(text).tags}
    assert not re.search(r"(src|href)=|@import|url\(", text)
    assert "default-src 'none'" in text
    assert re.search(r"\.strip \{[^}]*break-inside: avoid[^}]*\}", text)
    assert re.search(r"\.strip \{[^}]*border-bottom: 1px dashed[^}]*\}", text)


def test_strips_of_a_page_are_high_enough_to_cut_and_low_enough_for_letter() -> None:
    from gateway.commands.token_sheet import A_PAGE, sheet  # noqa: PLC0415

    text = "".join(sheet([], [], ""))
    high, margin = (
        int(re.search(pattern, text)[1])  # type: ignore[index]
        for pattern in (r"min-height: (\d+)mm", r"margin: (\d+)mm")
    )
    assert A_PAGE * high + 2 * margin <= 279  # Letter, which is lower than A4


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", '"&amp;"', "</bdi></h2>", "{name} {0}", "\u05d0\u05d1\u05d2", "x" * 256],
)
def test_no_name_becomes_markup_and_each_is_isolated_from_its_text(run: Run, name: str) -> None:
    with CLASS.open("w", newline="") as file:
        csv.writer(file).writerow((name, f"<b>{name}"[:200]))
    assert run("roster", "class.csv", "--sheet", "sheet.html")[0] == 0
    sheet = Strips(SHEET.read_text())
    assert {name, f"<b>{name}"[:200]} <= {*sheet.isolated}
    assert not {"script", "b"} & {*sheet.tags}


@pytest.mark.parametrize(
    ("where", "addresses"),
    [
        ([], ["ws://HOST:8080/", "ws://HOST:8001/", "HOST:4242", FURTHER]),
        (
            ["--host", "c4.example.org"],
            ["ws://c4.example.org:8080/", "ws://c4.example.org:8001/", "c4.example.org:4242", FURTHER],
        ),
        (
            ["--url", "https://c4.example.org"],
            [
                "wss://c4.example.org:443/nac4",
                "wss://c4.example.org:443/arena",
                "c4.example.org:443",
                FURTHER,
            ],
        ),
        (["--url", "http://[::1]:80/"], ["ws://[::1]:80/nac4", "ws://[::1]:80/arena", "[::1]:80", FURTHER]),
        (["--host", "c4", "--arena", "18001"], ["ws://c4:18001/"]),
        (["--tcp", "14242", "--nac4", "18080"], ["ws://HOST:18080/", "HOST:14242"]),
    ],
)
def test_sheet_has_the_addresses_of_the_server(run: Run, where: list[str], addresses: list[str]) -> None:
    CLASS.write_text("ann\n")
    assert run("roster", "class.csv", "--sheet", "sheet.html", *where)[0] == 0
    (texts,) = Strips(SHEET.read_text()).strips
    found = [each for each in texts if re.search(r":\d", each)]
    if FURTHER in addresses:
        found[len(addresses) - 1 :] = [FURTHER]
    assert found == addresses


@pytest.mark.parametrize(
    ("name", "words"),
    [("ann", "--name ann"), ("Ada L", "--name 'Ada L'"), ("-x", "--name=-x"), ("--x y", "'--name=--x y'")],
)
def test_strip_has_the_options_of_c4bot(run: Run, name: str, words: str) -> None:
    CLASS.write_text(f"{name}\n")
    assert run("roster", "class.csv", "--sheet", "sheet.html")[0] == 0
    (texts,) = Strips(SHEET.read_text()).strips
    assert texts[texts.index(words) + 1] == " --token-file token"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--host", "a b"], "'a b' is not the name of a host"),
        (["--url", "ftp://x"], "'ftp://x' is not the name of a host"),
        (["--url", "http://x:y"], "'http://x:y' is not the name of a host"),
        (["--url", "http://x/y"], "'http://x/y' is not the name of a host"),
        (["--host", "x", "--url", "http://x"], "--host and --url exclude each other"),
        (["--url", "http://x", "--tcp", "4242"], "--url is for a server with one port; give --tcp with"),
    ],
)
def test_address_that_is_none_is_an_error_and_changes_nothing(
    run: Run, folder: Path, words: list[str], error: str
) -> None:
    CLASS.write_text("ann\n")
    status, out, err = run("roster", "class.csv", *words)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"c4gateway: error: {error}")
    assert [*folder.iterdir()] == [folder / CLASS]


def test_dialects_that_do_not_allow_a_name_say_so(run: Run) -> None:
    CLASS.write_text("name;group\nJosé;10a\nann;10a\nAda L;10a\n")
    _, _, err = run("roster", "class.csv", "--sheet", "sheet.html")
    assert "warning: class.csv: no nac4 bot can be called 'José' (line 2) or 'Ada L' (line 4): there " in err
    assert "a name has only the letters A to Z and a to z, digits, - and _, at most 64 of them; " in err
    assert "warning: class.csv: no droidcon bot can be called 'Ada L' (line 4): there a name has " in err
    assert "arena" not in err
    assert SHEET.read_text().count("does not allow this name") >= 3
    assert "i32cfsp" in err
    assert "i32cfsp" not in run("roster", "class.csv", "--table", "cup", "--renew")[2]  # it knows no tables


def test_warning_names_at_most_twenty(run: Run) -> None:
    CLASS.write_text("".join(f"ö{number}\n" for number in range(25)))
    _, _, err = run("roster", "class.csv")
    assert "'ö19' (line 20) or 5 others: " in err
    assert "line 21" not in err


def test_sheet_is_replaced_only_if_asked_for(run: Run) -> None:
    SHEET.write_text("precious")
    CLASS.write_text("ann\n")
    error = "c4gateway: error: sheet.html exists already; --overwrite replaces it\n"
    assert run("roster", "class.csv", "--sheet", "sheet.html") == (1, "", error)
    assert (SHEET.read_text(), protected(), audited()) == ("precious", {}, [])
    assert run("roster", "class.csv", "--sheet", "sheet.html", "--overwrite")[0] == 0
    assert "ann" in SHEET.read_text()
    assert stat.S_IMODE(SHEET.stat().st_mode) == 0o600


# Names that are protected already.


def test_protected_names_keep_their_tokens_unless_they_are_to_be_renewed(run: Run) -> None:
    CLASS.write_text("ann;10a\nbob\ncid\ndan\n")
    _, before, _ = run("roster", "class.csv")
    CLASS.write_text("ANN;10b\nbob\ncid\ndan\neve;10b\n")
    content, lines = PLAYERS.read_text(), audited()
    status, out, err = run("roster", "class.csv", "--sheet", "sheet.html")
    assert (status, out) == (1, "")
    assert err == (
        "c4gateway: error: 4 of 5 names are protected already: 'ann', 'bob', 'cid' and others; --renew gives"
        " all names new tokens; a roster of the new names alone adds only those\n"
    )
    assert (PLAYERS.read_text(), audited(), SHEET.exists()) == (content, lines, False)
    status, out, err = run("roster", "class.csv", "--renew")
    assert err.startswith("5 tokens of class.csv; 4 names had one before\n")
    tokens = {line.split("\t")[0].casefold(): line.split("\t")[2] for line in out.splitlines()}
    assert all(fits(name, token) for name, token in tokens.items())
    assert not fits("bob", before.splitlines()[1].split("\t")[2])
    assert protected()["ann"] == ("ann", "10a")
    assert protected()["eve"] == ("eve", "10b")


def test_other_lines_of_the_file_stay_as_they_are(run: Run) -> None:
    PLAYERS.write_text("# mine\n\nzoe\tsha256:" + 64 * "0" + "\tthe head\n")
    CLASS.write_text("ann\n")
    content = PLAYERS.read_text()
    assert run("roster", "class.csv")[0] == 0
    assert PLAYERS.read_text().startswith(content)
    assert run("roster", "class.csv", "--renew")[0] == 0
    assert PLAYERS.read_text().startswith(content)
    assert len(PLAYERS.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("roster", "error"),
    [
        ("bob\nAnn\nANN\n", "class.csv: line 3: 'ANN' is 'Ann' in line 2, which is the same name"),
        ("bob\naima\n", "class.csv: line 2: 'aima': this is a name of the server's own players"),
        (
            "bob\ncom\n",
            "class.csv: line 2: 'com' looks like 'corn', which is protected already; change it, or",
        ),
        ("corn\n", "1 of 1 names is protected already: 'corn'"),
        (None, "the roster: class.csv: No such file or directory"),
    ],
)
def test_name_that_cannot_be_is_an_error_before_anything_is_changed(
    run: Run, folder: Path, roster: str | None, error: str
) -> None:
    PLAYERS.write_text("corn\tsha256:" + 64 * "0" + "\n")
    if roster is not None:
        CLASS.write_text(roster)
    content, there = PLAYERS.read_text(), {*folder.iterdir()}
    status, out, err = run("roster", "class.csv", "--sheet", "sheet.html")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"c4gateway: error: {error}")
    assert PLAYERS.read_text() == content
    assert audited() == []
    assert {*folder.iterdir()} - {folder / AUDIT} == there


def test_no_names_are_protected_where_the_sheet_or_the_change_cannot_be_written(
    run: Run, folder: Path
) -> None:
    CLASS.write_text("ann\nbob\n")
    assert run("roster", "class.csv", "--sheet", "no/sheet.html")[0] == 1
    assert run("roster", "class.csv", "--audit", str(folder))[0] == 1
    (folder / "not a file").mkdir()
    error = "c4gateway: error: not a file is not a file, so it is not replaced\n"
    assert run("roster", "class.csv", "--sheet", "not a file", "--overwrite") == (1, "", error)
    assert (audited(), protected()) == ([], {})
    assert run("roster", "class.csv", "--players", "no/players", "--sheet", "sheet.html")[0] == 1
    assert not SHEET.exists()
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


@pytest.mark.parametrize("there", [None, "precious"])
def test_sheet_is_as_before_where_the_names_cannot_be_written(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, there: str | None
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    CLASS.write_text("ann\n")
    if there is not None:
        SHEET.write_text(there)
    monkeypatch.setattr(os, "fchmod", full)  # only the file of names needs it
    PLAYERS.write_text("bob\tsha256:" + 64 * "0" + "\n")
    content = PLAYERS.read_text()
    words = ["roster", "class.csv", "--sheet", "sheet.html", "--overwrite"]
    assert run(*words)[0] == 1
    assert (SHEET.read_text() if SHEET.exists() else None) == there
    assert (PLAYERS.read_text(), audited()) == (content, [])
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


# The roster of a tournament.


def stored_text() -> str:
    with closing(open_to_read(str(DATABASE))) as database, database.reading() as connection:
        [news] = tournaments.news(connection, {}, "cup")
        return news.settings


def test_roster_is_added_to_the_file_that_is_stored(run: Run) -> None:
    FILE.write_text(f"{file_of()}\n# the end")
    CLASS.write_text('ann;10a\n"a ""b"" \\ c";\n')
    assert run("new", "cup.toml", "--roster", "class.csv")[0] == 0
    text = stored_text()
    assert text.startswith(FILE.read_text())
    assert parse(text).roster == {"ann": "10a", 'a "b" \\ c': ""}
    assert "[roster]" not in FILE.read_text()


@pytest.mark.parametrize(
    ("text", "roster", "error"),
    [
        (
            f'{file_of()}\n[roster]\nann = ""\n',
            "bob",
            "cup.toml: the file has a table roster already; remove it,",
        ),
        (f"{file_of()}\n[roster]\n", "bob", "cup.toml: the file has a table roster already; remove it,"),
        (file_of(), "bob\nbob", "class.csv: line 2: 'bob' is in line 1, too;"),
        (f"{file_of()}\n#{'x' * 16_370}", "bob", "cup.toml: with the roster the file has 164"),
        (file_of(expected=["eve"]), "bob", "cup.toml: expected: 'eve' is not in the roster"),
        ("name = ", "bob", "cup.toml: Invalid value"),
        (file_of(), "\n".join(map(str, range(1000, 1129))), "cup.toml: roster: more than 128 names"),
    ],
)
def test_roster_that_cannot_be_added_is_an_error_of_one_line(
    run: Run, text: str, roster: str, error: str
) -> None:
    FILE.write_text(text)
    CLASS.write_text(roster)
    status, out, err = run("new", "cup.toml", "--roster", "class.csv")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"c4gateway: error: {error}")
    assert not DATABASE.exists()


def test_limit_of_the_file_is_said_with_the_length() -> None:
    with pytest.raises(ValueError, match=f"characters, and {LONGEST} is the limit"):
        with_roster("x" * LONGEST, [Member("ann")])


VISIBLE = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(
    lambda text: fault_of(text) is None
)


@given(st.dictionaries(VISIBLE, st.one_of(st.just(""), VISIBLE), max_size=5))
def test_all_names_are_quoted_so_that_they_are_read_again(roster: dict[str, str]) -> None:
    text = with_roster(file_of(), [Member(*each) for each in roster.items()])
    assert parse(text).roster == roster
