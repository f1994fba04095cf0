"""Protected names: the file, the tokens, and how long a wrong one waits."""

import logging
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.dialects import DIALECTS
from gateway.access.accounts import (
    Account,
    Accounts,
    Denial,
    digest_of,
    fault_of,
    is_right,
    names_file,
    new_token,
    open_accounts,
    read_accounts,
)
from gateway.access.tokens import FIRST_PAUSE, FORGOTTEN, LONGEST_PAUSE, REMEMBERED, Pauses
from gateway.game.events import Objection
from gateway.options.server import parse

HERE = "192.0.2.1"
TOKEN, OTHER = new_token(), new_token()
T = TypeVar("T")


def at_once(do: Callable[[], T], /) -> T:
    """Stand in for the event loop."""
    return do()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "players"
    write(path, Account("Ann", digest_of(TOKEN)), Account("bob x", digest_of(OTHER), "of class 3"))
    return path


def write(path: Path, *accounts: Account) -> None:
    path.write_text("# names\n\n" + "".join(f"{each.line}\n" for each in accounts), encoding="utf-8")


def wrong(pause: float = FIRST_PAUSE) -> Denial:
    return Denial(Objection.TOKEN_WRONG, pause)


# Who is let in.


def test_protected_name_needs_its_own_token(file: Path) -> None:
    accounts = Accounts(str(file))
    assert accounts.denial("Ann", TOKEN, HERE, 0.0) is None
    assert accounts.denial("Ann", OTHER, HERE, 0.0) == wrong()
    assert accounts.denial("Ann", None, "192.0.2.2", 0.0) == wrong()
    assert accounts.denial("bob x", OTHER, HERE, 0.0) is None
    for token in (None, TOKEN, "x"):
        assert accounts.denial("cid", token, HERE, 0.0) is None


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        *((name, "Ann") for name in ("ANN", " Ann ", "\uff21nn", "A\u200bnn", "Ann\ud800", "\u202eAnn")),
        *((name, "bob x") for name in ("bob  x", "bob \u3000 x", "bob\tx", "bob \u200b x", " BOB   X")),
    ],
)
def test_protected_name_that_is_written_otherwise_needs_its_token(file: Path, name: str, owner: str) -> None:
    accounts = Accounts(str(file))
    assert accounts.denial(name, None, HERE, 0.0) == wrong()
    assert accounts.denial(name, {"Ann": TOKEN, "bob x": OTHER}[owner], HERE, 0.0) is None


@pytest.mark.parametrize(
    "name", ["\u0430nn", "\u0410NN", "A\u0578n", "\U0001d400\u057c\u0578", "b\u043eb  x"]
)
def test_name_of_other_letters_that_looks_like_a_protected_one_is_nobodys(file: Path, name: str) -> None:
    for token in (None, TOKEN, OTHER):
        denial = Accounts(str(file)).denial(name, token, HERE, 0.0)
        assert denial is not None
        assert (denial.objection, denial.pause) == (Objection.TOKEN_WRONG, FIRST_PAUSE)
        assert denial.like in ("Ann", "bob x")


def test_protected_name_that_looks_like_another_one_is_its_players(file: Path) -> None:
    write(file, Account("bot1", digest_of(TOKEN)), Account("botl", digest_of(OTHER)))
    accounts = Accounts(str(file))
    assert accounts.denial("bot1", TOKEN, HERE, 0.0) is None
    assert accounts.denial("botl", OTHER, HERE, 0.0) is None
    assert accounts.denial("botl", TOKEN, HERE, 0.0) == wrong()
    assert accounts.denial("botI", TOKEN, HERE, 0.0) is not None
    assert accounts.denial("bot2", None, HERE, 0.0) is None


def test_nobody_else_is_let_in_where_only_registered_names_are(file: Path) -> None:
    accounts = Accounts(str(file), registered_only=True)
    assert accounts.denial("cid", TOKEN, HERE, 0.0) == Denial(Objection.NOT_REGISTERED, FIRST_PAUSE)
    assert accounts.denial("ANN", TOKEN, HERE, 0.0) is None


def test_name_that_is_too_long_is_for_others_to_refuse(file: Path) -> None:
    accounts = Accounts(str(file), registered_only=True)
    assert accounts.denial("\ufdfa" * 10**6, None, HERE, 0.0) is None


@given(st.text(st.characters()))
def test_any_text_is_a_wrong_token(token: str) -> None:
    assert not is_right(token, digest_of(TOKEN))
    long = token + "x" * 1000
    assert not is_right(long, digest_of(long))


def test_tokens_are_128_bits_and_words_of_every_dialect() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(each) == 22 and set(each) <= WORD for each in tokens)


WORD = {*"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"}


# The pauses.


def test_each_wrong_token_for_a_name_at_an_address_waits_twice_as_long_up_to_a_limit() -> None:
    pauses = Pauses()
    assert [pauses.wrong(HERE, "ann", 0.0) for _ in range(8)] == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    for _ in range(10_000):
        pauses.wrong(HERE, "ann", 0.0)
    assert pauses.wrong(HERE, "ann", 0.0) == LONGEST_PAUSE
    assert pauses.wrong(HERE, "bob", 0.0) == FIRST_PAUSE
    assert pauses.wrong("192.0.2.2", "ann", 0.0) == FIRST_PAUSE


def test_wrong_tokens_are_forgotten_and_what_is_remembered_of_them_is_bounded() -> None:
    pauses = Pauses()
    pauses.wrong(HERE, "ann", 0.0)
    assert pauses.wrong(HERE, "ann", FORGOTTEN) == 2 * FIRST_PAUSE
    assert pauses.wrong(HERE, "ann", 2 * FORGOTTEN + 1) == FIRST_PAUSE
    pauses = Pauses()
    for number in range(REMEMBERED + 100):
        pauses.wrong(f"192.0.2.{number}", "ann", 0.0)
    assert len(pauses) == REMEMBERED
    assert pauses.wrong("192.0.2.0", "ann", 0.0) == FIRST_PAUSE  # the oldest went


@pytest.mark.parametrize("registered_only", [True, False])
def test_names_that_a_client_makes_up_wait_as_one_and_look_alikes_as_the_name_itself(
    file: Path, registered_only: bool
) -> None:
    accounts = Accounts(str(file), registered_only=registered_only)
    names = ("nobody", "somebody", "cid") if registered_only else ("\u0430nn", "A\u0578n", "ann")
    denials = [accounts.denial(name, None, HERE, 0.0) for name in names]
    assert [each and each.pause for each in denials] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert accounts.denial("bob x", None, HERE, 0.0) == wrong()


def test_right_token_never_waits_and_lets_the_pauses_begin_anew(file: Path) -> None:
    accounts = Accounts(str(file))
    for _ in range(20):
        accounts.denial("ann", OTHER, HERE, 0.0)
    assert accounts.denial("ann", TOKEN, HERE, 0.0) is None
    assert accounts.denial("ann", OTHER, HERE, 0.0) == wrong()


@pytest.mark.parametrize(
    ("name", "registered_only", "what", "words"),
    [
        ("A\u202eNN", False, "token_wrong", "'A\\u202eNN' %s: the token is missing or wrong"),
        ("\u0430nn", False, "look_alike", "'\u0430nn' %s: the name looks like 'Ann', which is protected"),
        ("cid", True, "not_registered", "'cid' %s: the name is not registered"),
    ],
)
def test_denials_are_counted_by_kind_and_the_first_of_an_address_and_name_is_logged(
    file: Path,
    caplog: pytest.LogCaptureFixture,
    name: str,
    registered_only: bool,
    what: str,
    words: str,
) -> None:
    caplog.set_level(logging.INFO)
    counts = Counter[tuple[str, str]]()
    accounts = Accounts(str(file), registered_only=registered_only, counts=counts)
    for _ in range(3):
        denial = accounts.denial(name, None, HERE, 0.0)
        assert denial is not None
        accounts.note(denial, name, "toy", HERE)
    assert counts == {(what, "toy"): 3}
    assert caplog.messages == [words % "is not let in from 192.0.2.1"]


# The file.


def test_file_is_read_with_comments_notes_and_either_line_end(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert list(read_accounts(names_file(str(file))).values()) == [
        Account("Ann", digest_of(TOKEN)),
        Account("bob x", digest_of(OTHER), "of class 3"),
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("ann", "not NAME, a tab, and sha256:HASH"),
        ("ann sha256:" + "0" * 64, "not NAME, a tab, and sha256:HASH"),
        ("ann\t" + "0" * 64, "not NAME, a tab, and sha256:HASH"),
        ("ann\tsha256:" + "0" * 63, "not NAME, a tab, and sha256:HASH"),
        ("aima\tsha256:" + "0" * 64, "server's own players"),
        ("x" * 257 + "\tsha256:" + "0" * 64, "at most 256 characters"),
        (" ann\tsha256:" + "0" * 64, "no blanks around"),
        ("an\u202en\tsha256:" + "0" * 64, "visible characters only"),
        ("ANN\tsha256:" + "0" * 64, "there twice"),
    ],
)
def test_wrong_line_is_named_with_what_is_wrong(file: Path, line: str, fault: str) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(line + "\n")
    with pytest.raises(ValueError, match=fault) as refusal:
        read_accounts(names_file(str(file)))
    assert str(refusal.value).startswith(f"{file}, line 5: ")


def test_what_can_be_protected_can_be_read_back(file: Path) -> None:
    for name in ("ann", "bob x", "\u5c0f\u660e", "a\\b'c\"", "x" * 256):
        assert fault_of(name) is None
        write(file, Account(name, digest_of(TOKEN)))
        assert [each.name for each in read_accounts(names_file(str(file))).values()] == [name]


def test_reload_takes_what_the_file_says_now_and_tells_how_many_names_came_and_went(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    accounts = Accounts(str(file))
    write(file, Account("ANN", digest_of(OTHER)), Account("cid", digest_of(TOKEN)))
    accounts.reload(at_once)
    assert accounts.denial("ann", OTHER, HERE, 0.0) is None
    write(file, Account("Eve", digest_of(TOKEN)))
    accounts.reload(at_once)
    assert accounts.denial("ann", None, HERE, 0.0) is None
    assert accounts.denial("\u0430nn", None, HERE, 0.0) is None
    assert accounts.denial("\u0415ve", None, HERE, 0.0) is not None
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.INFO, "protected names now: 2; 1 came, 1 went"),
        (logging.WARNING, "protected names now: 1; 1 came, 2 went"),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("broken\n", "line 1: not NAME"),
        ("", r"has no names, and 2 are protected; .* restart the server"),
        ("# names\n\n", r"has no names, and 2 are protected"),
        (None, "No such file"),
    ],
)
def test_file_that_is_broken_empty_or_gone_leaves_the_names_as_they_were(
    file: Path, text: str | None, fault: str
) -> None:
    accounts = Accounts(str(file))
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    with pytest.raises((ValueError, OSError), match=fault):
        accounts.reload(at_once)
    assert accounts.denial("ann", OTHER, HERE, 0.0) == wrong()
    assert accounts.denial("\u0430nn", None, HERE, 0.0) is not None
    assert len(accounts) == 2


def test_file_without_names_is_in_order_where_there_were_none(file: Path) -> None:
    file.write_text("")
    accounts = Accounts(str(file))
    accounts.reload(at_once)
    assert len(accounts) == 0


# The options.


def opened(*arguments: str) -> Accounts:
    return open_accounts(parse(arguments, DIALECTS), Counter())


def test_names_and_bans_beside_the_database_hold_without_an_option(tmp_path: Path) -> None:
    accounts = opened("--db", str(tmp_path / "games.db"))
    assert accounts.denial("ann", None, "192.0.2.1", 0.0) is None
    assert not accounts.protects
    write(tmp_path / "c4gateway.players", Account("ann", digest_of(TOKEN)))
    (tmp_path / "c4gateway.players.bans").write_text("name\teve\n")
    accounts.reload(at_once)
    assert accounts.protects
    found = [accounts.denial(name, None, "192.0.2.1", 0.0) for name in ("ann", "eve", "bob")]
    assert [each and each.objection for each in found] == [Objection.TOKEN_WRONG, Objection.BANNED, None]
    (tmp_path / "c4gateway.players").unlink()
    with pytest.raises(ValueError, match="has no names, and 1 are protected"):
        accounts.reload(at_once)
    assert accounts.denial("ann", None, "192.0.2.1", 0.0) is not None


def test_file_that_is_not_there_or_broken_stops_the_start(file: Path) -> None:
    with pytest.raises(OSError, match="there is no such file; c4gateway player add NAME"):
        opened("--players", f"{file}.not")
    file.write_text("broken\n")
    with pytest.raises(OSError, match="line 1: not NAME"):
        opened("--players", str(file))


@pytest.mark.parametrize(
    ("arguments", "handed_over", "warned"),
    [
        ("", None, False),
        ("--host localhost --host 127.0.0.5 --host ::1", None, False),
        ("--host 0.0.0.0", None, True),
        ("--host 127.0.0.1 --host ::", None, True),
        ("--host example.org", None, True),
        ("--host 0.0.0.0 --tls-cert cert.pem --tls-only", None, False),
        ("", "127.0.0.1", False),
        ("", "0.0.0.0", True),
    ],
)
def test_tokens_in_the_clear_are_warned_of(
    file: Path, arguments: str, handed_over: str | None, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    options = parse(["--players", str(file), *arguments.split()], DIALECTS)
    with socket.create_server((handed_over or "127.0.0.1", 0)) as listening:
        options.sockets = {"nac4": [listening.fileno()]} if handed_over else {}
        open_accounts(options, Counter())
    assert ["in the clear" in record.getMessage() for record in caplog.records] == [True] * warned
