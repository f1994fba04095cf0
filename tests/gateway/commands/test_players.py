"""The commands ``c4gateway player add``, ``list`` and ``remove``."""

import os
from pathlib import Path

import pytest

from gateway.__main__ import main
from gateway.access.accounts import Accounts, is_right, names_file, read_accounts


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "players"


def run(file: Path, *arguments: str) -> int:
    audit = [] if arguments[0] == "list" else ["--audit", str(file.parent / "audit")]
    return main(["player", *arguments, "--players", str(file), *audit])


def ban(file: Path, *arguments: str) -> int:
    return main([*arguments, "--players", str(file), "--audit", str(file.parent / "audit")])


def added(file: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Protect a name; return what was printed, the token."""
    assert run(file, "add", *arguments) == 0
    return capsys.readouterr().out.strip()


def test_token_is_printed_alone_and_only_its_hash_is_kept(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(file, "add", "Ann") == 0
    out, err = capsys.readouterr()
    token = out.removesuffix("\n")
    assert err == f"{file} is written; a running server reads it on SIGHUP\n"
    assert token not in file.read_text()
    assert is_right(token, read_accounts(names_file(str(file)))["ann"].digest)


def test_token_is_not_made_where_nobody_can_read_it(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    added(file, capsys, "ann")
    monkeypatch.setattr("sys.stdout", None)
    assert [run(file, "add", "bob"), run(file, "list")] == [1, 1]
    assert capsys.readouterr().err == "c4gateway: error: standard output is closed\n" * 2
    assert [*read_accounts(names_file(str(file)))] == ["ann"]
    assert ban(file, "ban", "eve") == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        *(
            (["add", name], "'")
            for name in ("", " ann", "a\tb", "a\nb", "an\u202en", "aima", "#1", "x" * 257)
        ),
        (["add", "BOT1"], "'BOT1' is protected already; remove it first for a new token"),
        *((["add", "cid", "--notes", notes], "notes have at most") for notes in ("a\tb", " x", "x" * 1001)),
        (["remove", "eve"], "'eve' is not protected in "),
        (["remove", "bott"], "did you mean 'bot1'?"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_changes_nothing(
    file: Path, arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    added(file, capsys, "bot1")
    before = file.read_text()
    assert run(file, *arguments) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), file.read_text()) == ("", 1, before)
    assert err.startswith("c4gateway: error: ")
    assert why in err


def test_names_are_added_with_their_notes_listed_and_removed_and_all_else_stays(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("# mine\n")
    added(file, capsys, "bot1")
    before = file.read_text()
    assert run(file, "add", "botl", "--notes", "of class 3") == 0
    assert "warning: 'botl' looks like 'bot1', which is protected too\n" in capsys.readouterr().err
    assert run(file, "list") == 0
    assert capsys.readouterr().out == "bot1\nbotl\tof class 3\n"
    assert run(file, "remove", "BOTL") == 0
    assert file.read_text() == before
    capsys.readouterr()
    assert run(file, "remove", "bot1") == 0
    told = f"{file} has no names now; a running server keeps the old one until a restart\n"
    assert capsys.readouterr().err == told


def test_broken_file_is_left_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("broken\n")
    for arguments in (["add", "ann"], ["remove", "ann"], ["list"]):
        assert run(file, *arguments) == 1
        assert "line 1: not NAME" in capsys.readouterr().err
    assert file.read_text() == "broken\n"


def test_file_is_the_one_in_the_environment_as_for_the_server(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(file.parent)
    monkeypatch.setenv("C4GATEWAY_PLAYERS", str(file))
    assert main(["player", "add", "ann"]) == 0
    assert main(["player", "list"]) == 0
    assert capsys.readouterr().out.endswith("ann\n")
    assert "ann" in read_accounts(names_file(str(file)))


# Bans, and the log of all changes.


def test_ban_is_written_once_and_taken_back(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bans = f"{file}.bans"
    for who in ("", "  ", "\u202e", "a\tb", "x" * 257):
        assert ban(file, "ban", who) == 1
        assert "not an address, a network or a name" in capsys.readouterr().err
    assert not Path(bans).exists()
    for who, what in (
        ("Eve", "the name 'eve'"),
        ("192.0.2.7", "the address '192.0.2.7'"),
        ("198.51.100.77/24", "the address '198.51.100.0/24'"),
        ("2001:db8::1", "the address '2001:db8::/64'"),
    ):
        assert ban(file, "ban", who) == 0
        assert capsys.readouterr().err.splitlines()[0] == f"{what} is banned"
    accounts = Accounts(str(file))  # there may be bans and no protected names
    assert (len(accounts), accounts.bans.names) == (0, {"eve"})
    assert Path(bans).read_text().splitlines()[1:] == [
        "name\teve",
        "address\t192.0.2.7",
        "address\t198.51.100.0/24",
        "address\t2001:db8::/64",
    ]
    capsys.readouterr()
    assert ban(file, "ban", "EVE") == 1
    assert capsys.readouterr().err == "c4gateway: error: 'eve' is banned already\n"
    assert ban(file, "unban", "eva") == 1
    assert capsys.readouterr().err.endswith("; did you mean 'eve'?\n")
    assert ban(file, "unban", "eve") == 0
    assert ban(file, "unban", "2001:db8::2") == 0
    assert ban(file, "unban", "eve") == 1
    assert "'eve' is not banned in " in capsys.readouterr().err
    assert len(Path(bans).read_text().splitlines()) == 3


def test_every_change_is_in_the_log_of_changes_and_no_token(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_USER", "op\nerator")
    token = added(file, capsys, "Ann")
    run(file, "remove", "ann")
    ban(file, "ban", "192.0.2.0/24", "--notes", "flood")
    ban(file, "unban", "192.0.2.0/24")
    run(file, "remove", "nobody")
    text = (file.parent / "audit").read_text()
    changes = [line.split("\t")[1:] for line in text.splitlines()]
    assert changes == [
        ["op\\nerator", "player add", "Ann"],
        ["op\\nerator", "player remove", "ann"],
        ["op\\nerator", "ban", "address", "192.0.2.0/24"],
        ["op\\nerator", "unban", "address", "192.0.2.0/24"],
    ]
    assert token not in text


@pytest.mark.parametrize("audit", ["/dev/full", "{folder}"])
def test_nothing_is_changed_where_the_change_cannot_be_logged(
    file: Path, audit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no full disk to try")
    audit = audit.format(folder=file.parent)
    assert main(["player", "add", "ann", "--players", str(file), "--audit", audit]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), file.exists()) == ("", 1, False)
