"""The options of the command, read without running it."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.dialects import DIALECTS
from gateway import __version__
from gateway.commands import reports as reading
from gateway.options import server
from gateway.options.server import ServerOptions, page_port
from gateway.store import VERSION

PORTS = {"nac4": 8080, "arena": 8001, "tcp": 4242}


def parse(arguments: list[str]) -> ServerOptions:
    return server.parse(arguments, DIALECTS)


def value(arguments: list[str], name: str) -> object:
    """Return one option, also one of a dialect."""
    return server.values(parse(arguments), DIALECTS)[name]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that says what is wrong."""
    with pytest.raises(SystemExit) as stop:
        parse(arguments)
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert err.startswith("c4gateway: error: ")
    return err


def ports(options: ServerOptions) -> dict[str, int | None]:
    return {each.option: options.ports[each.name] for each in DIALECTS}


def test_without_ports_all_three_dialects_start_where_their_clients_look() -> None:
    assert ports(parse([])) == PORTS


@pytest.mark.parametrize("name", PORTS)
def test_dialect_that_is_named_starts_alone(name: str) -> None:
    expected = dict.fromkeys(PORTS) | {name: 5555}
    assert ports(parse([f"--{name}", "5555"])) == expected


def test_port_zero_is_a_port() -> None:
    assert ports(parse(["--nac4", "0"])) == {"nac4": 0, "arena": None, "tcp": None}


def test_rules_are_the_documented_ones() -> None:
    options = parse([])
    assert (options.clock, options.penalty, options.idle, options.rejoin) == (42.0, 1.0, 300.0, 10.0)
    assert (value([], "rounds"), options.games_per_pair, options.seed) == (4, 10, None)
    assert options.keep_wire == 30.0
    assert (value([], "nac4_original"), options.log_json, options.log_level) == (False, False, "info")


def test_only_this_machine_can_connect_unless_told_otherwise() -> None:
    assert parse([]).host == ["127.0.0.1"]


def test_no_host_in_a_file_is_the_usual_one(tmp_path: Path) -> None:
    (tmp_path / "options.toml").write_text("host = []\n")
    assert parse(["--config", str(tmp_path / "options.toml")]).host == ["127.0.0.1"]


def test_hosts_are_those_given_and_no_other() -> None:
    assert parse(["--host", "::1", "--host", "0.0.0.0"]).host == ["::1", "0.0.0.0"]


def test_two_readings_share_nothing() -> None:
    parse(["--host", "::1"])
    assert parse([]).host == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--nac4", ["-1", "65536", "x", "", "80.0", "1e3", "99999999999999999999"]),
        ("--arena", ["-1", "65536", "http"]),
        ("--tcp", ["-1", "65536", "0x10"]),
        ("--clock", ["0", "-1", "nan", "inf", "x", "1e7"]),
        ("--penalty", ["-0.1", "nan", "x"]),
        ("--idle", ["0", "nan", "-inf"]),
        ("--keep-wire", ["-1", "nan", "month"]),
        ("--rounds", ["0", "-4", "1.5", "x", "9" * 5000]),
        ("--games-per-pair", ["-1", "x", "1.5"]),
        ("--rejoin", ["0", "x"]),
        ("--seed", ["x", "1.5", "9" * 5000]),
        ("--web", ["-1", "65536", "x", ""]),
        ("--port", ["-1", "65536", "x", "", "ENV"]),
        ("--trusted-proxy", ["10.0.0.1/8", "x", ""]),
        ("--log-level", ["loud", ""]),
    ],
)
def test_bad_value_is_one_line_and_status_2(
    option: str, values: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for value in values:
        assert option in refused([f"{option}={value}"], capsys)


@pytest.mark.parametrize("option", ["--nac4", "--host", "--clock", "--seed", "--log-level"])
def test_option_without_its_value_is_one_line_and_status_2(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert option in refused([option], capsys)


@pytest.mark.parametrize("unknown", ["--frobnicate", "-x", "lobby", "--nac", "--log-js"])
def test_unknown_option_is_one_line_and_status_2(unknown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert unknown in refused([unknown], capsys)


@pytest.mark.parametrize("argument", ["--a\nb", "a\nWARNING forged"])
def test_line_stays_one_line_whatever_was_typed(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused([argument], capsys)


@pytest.mark.parametrize(
    ("arguments", "name", "expected"),
    [
        (["--clock", "0.1"], "clock", 0.1),
        (["--penalty", "0"], "penalty", 0),
        (["--rounds", "1"], "rounds", 1),
        (["--games-per-pair", "0"], "games_per_pair", 0),
        (["--seed", "-5"], "seed", -5),
        (["--nac4", "65535"], "nac4", 65_535),
        (["--log-level", "debug"], "log_level", "debug"),
        (["--nac4-original"], "nac4_original", True),
        (["--log-json"], "log_json", True),
    ],
)
def test_value_at_the_edge_is_taken(arguments: list[str], name: str, expected: object) -> None:
    assert value(arguments, name) == expected


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_option_and_what_it_is_without_it(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        parse([option])
    assert stop.value.code == 0
    out, err = capsys.readouterr()
    assert err == ""
    for each in server.all_options(DIALECTS):
        assert f"--{each.key}" in out
    assert "(42.0)" in out


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parse(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"c4gateway {__version__}, database version {VERSION}\n"


def test_house_players_are_named_in_any_case() -> None:
    assert parse([]).house == []
    assert parse(["--house", "Random, AIMA"]).house == ["random", "aima"]


@pytest.mark.parametrize("names", ["", "bob", "random,", "random,mc:5", "exec:cat", "kaggle:agent.py"])
def test_who_is_no_house_player_is_not_put_into_the_lobby(
    names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "aimafast, perfect, random" in refused(["--house", names], capsys)


def test_perfect_without_its_solver_is_not_put_into_the_lobby(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "bitbully", None)
    assert "pip install bitbully" in refused(["--house", "perfect"], capsys)


# The page.

TOKEN = "C4GATEWAY_ADMIN_TOKEN"


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)


def test_page_has_a_port_that_was_asked_for_one_that_was_not_or_none() -> None:
    assert parse([]).web is None
    assert ports(parse(["--web", "0"])) == PORTS
    assert parse(["--web", "0"]).web == 0
    assert [parse(line).no_web for line in ([], ["--web", "0"], ["--no-web"])] == [False, False, True]
    assert page_port(parse(["--no-web", "--web", "80"])) == 80
    assert page_port(parse(["--web", "80", "--no-web"])) is None


def test_page_needs_no_results() -> None:
    options = parse(["--web", "8000", "--db", "none"])
    assert (options.web, options.db) == (8000, None)


@pytest.mark.parametrize(
    "origin",
    ["*", "http://x", "https://a.example:8443", "http://127.0.0.1:3000", "http://[::1]:80", "app://some-id"],
)
def test_origins_are_those_given_in_small_letters(origin: str) -> None:
    assert parse([]).allow_origin == []
    assert parse(["--allow-origin", "http://b", "--allow-origin", origin.upper()]).allow_origin == [
        "http://b",
        origin,
    ]


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "**",
        "example.org",
        "https://",
        "https://x/",
        "https://x/y",
        "https://a@b",
        "http://x:",
        "x\r\ny",
        "null",
    ],
)
def test_what_is_not_an_origin_is_refused(origin: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "scheme://host" in refused([f"--allow-origin={origin}"], capsys)


def test_nobody_clears_unless_there_is_a_token() -> None:
    assert parse(["--web", "0"]).admin_token is None


def test_token_is_an_option_or_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "sesame")
    assert parse(["--web", "0"]).admin_token == "sesame"
    assert parse(["--web", "0", "--admin-token", "open"]).admin_token == "open"


def test_token_in_the_environment_is_nothing_to_who_serves_no_web(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "")
    assert parse(["--no-web"]).admin_token is None


@pytest.mark.parametrize("token", ["", " ", "a b", "a\n", "s\u00e9same"])
def test_token_that_nobody_can_send_is_refused(
    token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(["--web", "0", f"--admin-token={token}"], capsys)
    monkeypatch.setenv(TOKEN, token)
    refused(["--web", "0"], capsys)


def test_token_without_a_page_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = refused(["--admin-token", "x", "--no-web"], capsys)
    assert "--admin-token is of no use with --no-web" in words
    assert parse(["--admin-token", "x", "--db", "none"]).admin_token == "x"


# Databases.

FOREIGN = [
    "mysql://ann:sesame@host/db",
    "MySQL://ann:sesame@host/db",
    "mysql+pymysql:ann:sesame@host",
    "mariadb:host",
    "sqlite:///games.db",
    "sqlite:games.db",
    "file:games.db",
    "postgresqlx://ann:sesame@host",
    "redis://host",
]


@pytest.mark.parametrize("where", FOREIGN)
@pytest.mark.parametrize("command", [[], ["standings"], ["export"], ["recount"]])
def test_url_that_is_not_postgresqls_is_no_file(
    command: list[str], where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        (reading.main if command else parse)([*command, "--db", where])
    assert stop.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"--db: {where.partition(':')[0]}: cannot be used; give the path of a file" in line
    assert "sesame" not in line


@pytest.mark.parametrize(
    "where",
    ["games.db", "a:b.db", "./mysql://x", "C:games.db", "postgresql://h/d", "postgresql+psycopg://h/d"],
)
def test_path_or_url_of_postgresql_is_taken_as_it_is(where: str) -> None:
    assert parse(["--db", where]).db == where


def test_results_can_be_kept_nowhere() -> None:
    assert parse(["--db", "none"]).db is None


# One port, TLS, proxies.


def test_one_port_is_the_only_one_unless_others_are_given() -> None:
    assert (parse(["--port", "9000"]).port, ports(parse(["--port", "9000"]))) == (9000, dict.fromkeys(PORTS))
    assert ports(parse(["--port", "9000", "--tcp", "4242"])) == dict.fromkeys(PORTS) | {"tcp": 4242}
    assert parse([]).port is None


def test_one_port_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "5000")
    assert parse(["--port", "env"]).port == 5000
    assert parse([]).port is None


@pytest.mark.parametrize(("value", "words"), [(None, "PORT is not set"), ("", "''"), ("http", "'http'")])
def test_port_that_the_environment_does_not_name_is_refused(
    value: str | None, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PORT", raising=False)
    if value is not None:
        monkeypatch.setenv("PORT", value)
    error = refused(["--port", "env"], capsys)
    assert "--port" in error
    assert words in error


@pytest.mark.parametrize("option", [["--tls-only"], ["--tls-key", "key.pem"]])
def test_option_of_tls_without_a_certificate_is_refused(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"{option[0]} is of no use without --tls-cert" in refused(option, capsys)


def test_trusted_proxies_are_all_that_are_given() -> None:
    options = parse(["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "::1"])
    assert [str(each) for each in options.trusted_proxy] == ["10.0.0.0/8", "::1/128"]


def test_help_says_that_the_one_port_takes_the_place_of_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    assert "Without --nac4, --arena, --tcp and --port all dialects start" in capsys.readouterr().out


# Sockets that were handed over.


@pytest.fixture
def hand_over(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give what hands over sockets of these names."""

    def hand_over(names: str) -> None:
        monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
        monkeypatch.setenv("LISTEN_FDS", str(names.count(":") + 1))
        monkeypatch.setenv("LISTEN_FDNAMES", names)

    return hand_over


def test_dialect_whose_socket_is_handed_over_starts_alone(hand_over: Callable[[str], None]) -> None:
    hand_over("arena:page")
    options = parse([])
    assert ports(options) == {"nac4": None, "arena": 0, "tcp": None}
    assert options.web == 0
    assert options.sockets == {"arena": [3], "page": [4]}


def test_dialect_that_is_asked_for_starts_beside_one_whose_socket_is_handed_over(
    hand_over: Callable[[str], None],
) -> None:
    hand_over("arena")
    assert ports(parse(["--tcp", "5555"])) == {"nac4": None, "arena": 0, "tcp": 5555}


@pytest.mark.parametrize(
    ("names", "arguments", "words"),
    [
        ("page:oops", [], "a socket that is handed over is called 'oops', none of "),
        ("droidcon", ["--tcp", "0"], "a socket for droidcon is handed over; give no --tcp, or no socket"),
        ("page", ["--no-web"], "a socket for page is handed over; give no --no-web, or no socket"),
        ("page", ["--web=80"], "a socket for page is handed over; give no --web, or no socket"),
    ],
)
def test_socket_that_contradicts_an_option_is_refused(
    names: str,
    arguments: list[str],
    words: str,
    hand_over: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    hand_over(names)
    assert words in refused(arguments, capsys)


def test_games_are_finished_before_a_stop_only_where_that_is_asked_for() -> None:
    assert parse([]).drain == 0
    assert parse(["--drain", "1.5"]).drain == 1.5


# Passwords.

WITH_PASSWORD = [
    "postgresql://ann:sesame@host/games",
    "postgresql://:sesame@/games",
    "postgres://ann@host/games?password=sesame",
    "postgresql+psycopg://host/games?user=ann&sslpassword=sesame",
    "postgresql://ann@host/games?%70assword=sesame",
]


@pytest.mark.parametrize("where", WITH_PASSWORD)
@pytest.mark.parametrize("command", [[], ["standings"], ["export"], ["recount"], ["rename", "a", "b"]])
def test_password_of_a_database_on_the_command_line_is_refused(
    command: list[str], where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        (reading.main if command else parse)([*command, "--db", where])
    assert stop.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "the URL of --db has a password, which the list of processes shows" in line
    assert "C4GATEWAY_DB" in line
    assert "sesame" not in line


@pytest.mark.parametrize("where", WITH_PASSWORD)
def test_password_of_a_database_may_be_in_the_environment_or_in_a_file(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "c4gateway.toml"
    file.write_text(f'db = "{where}"')
    assert parse(["--config", str(file)]).db == where
    monkeypatch.setenv("C4GATEWAY_DB", where)
    assert parse([]).db == where


def test_wrong_option_is_told_without_passwords(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--bd", WITH_PASSWORD[0]], ["--web", WITH_PASSWORD[0]]):
        with pytest.raises(SystemExit):
            parse(words)
    assert "sesame" not in capsys.readouterr().err


def test_wrong_database_in_the_environment_is_told_with_the_name_of_the_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("C4GATEWAY_DB", "mysql://ann:sesame@host/games")
    with pytest.raises(SystemExit):
        reading.main(["standings"])
    assert "C4GATEWAY_DB: mysql: cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize("file", ["log-json = true\nbogus = 1", "log-json = true\nnac4 = 'x'"])
@pytest.mark.parametrize("named", [["--config", "{}"], ["--config={}"], []])
def test_what_is_wrong_is_said_in_json_where_the_file_asks_for_that(
    named: list[str],
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "c4gateway.toml"
    path.write_text(file)
    if not named:
        monkeypatch.setenv("C4GATEWAY_CONFIG", str(path))
    for wrong in ([], ["--bogus"]):
        with pytest.raises(SystemExit):
            parse([word.format(path) for word in named] + wrong)
        assert json.loads(capsys.readouterr().err)["level"] == "error"
