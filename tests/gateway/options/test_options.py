"""The options of the command, read without running it."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from adapters import arena, droidcon, nac4
from gateway import __version__
from gateway.commands import reports as reading
from gateway.options import server
from gateway.options.description import Description
from gateway.options.server import ServerOptions, page_port
from gateway.runtime.addresses import Address
from gateway.store import VERSION

DIALECTS = [nac4.DIALECT, arena.DIALECT, droidcon.DIALECT]
"""The dialects of these examples."""
PORTS = {"nac4": 8080, "arena": 8001, "tcp": 4242}
TOKEN = "C4GATEWAY_ADMIN_TOKEN"


def parse(arguments: Sequence[str]) -> ServerOptions:
    return server.parse(arguments, DIALECTS)


def value(arguments: Sequence[str], name: str) -> object:
    """Return one option, also one of a dialect."""
    return server.values(parse(arguments), DIALECTS)[name]


def refused(
    arguments: Sequence[str],
    capsys: pytest.CaptureFixture[str],
    read: Callable[[Sequence[str]], object] = parse,
) -> str:
    """Return the one line that says what is wrong."""
    with pytest.raises(SystemExit) as stop:
        read(arguments)
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, "")
    assert err.endswith("\n")
    [line] = err.splitlines()
    command, _, why = line.partition(": error: ")
    assert command.split()[0] == "c4gateway"
    return why


def ports(options: ServerOptions) -> dict[str, int | None]:
    return {each.option: options.ports[each.name] for each in DIALECTS}


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)


def test_options_are_the_documented_ones_where_none_is_given() -> None:
    options = parse([])
    assert (options.clock, options.penalty, options.idle, options.rejoin) == (42.0, 1.0, 300.0, 10.0)
    assert (value([], "rounds"), options.games_per_pair, options.seed) == (4, 10, None)
    assert (options.keep_wire, options.drain, options.house) == (30.0, 0, [])
    assert (value([], "nac4_original"), options.log_json, options.log_level) == (False, False, "info")
    assert (options.host, options.allow_origin, options.admin_token) == (["127.0.0.1"], [], None)
    assert (options.web, options.no_web, options.port) == (None, False, None)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], PORTS),
        *(([f"--{name}", "5555"], {name: 5555}) for name in PORTS),
        (["--nac4", "0"], {"nac4": 0}),
        (["--port", "9000"], {}),
        (["--port", "9000", "--tcp", "4242"], {"tcp": 4242}),
        (["--web", "0"], PORTS),
    ],
)
def test_all_dialects_start_where_their_clients_look_unless_a_port_is_named(
    arguments: list[str], named: dict[str, int]
) -> None:
    assert ports(parse(arguments)) == dict.fromkeys(PORTS) | named


@pytest.mark.parametrize(
    ("arguments", "name", "expected"),
    [
        ("--clock 0.1", "clock", 0.1),
        ("--penalty 0", "penalty", 0),
        ("--rounds 1", "rounds", 1),
        ("--games-per-pair 0", "games_per_pair", 0),
        ("--seed -5", "seed", -5),
        ("--nac4 65535", "nac4", 65_535),
        ("--port 9000", "port", 9000),
        ("--log-level debug", "log_level", "debug"),
        ("--nac4-original", "nac4_original", True),
        ("--log-json", "log_json", True),
        ("--drain 1.5", "drain", 1.5),
        ("--host ::1 --host 0.0.0.0", "host", ["::1", "0.0.0.0"]),
        (["--house", "Random, AIMA"], "house", ["random", "aima"]),
        ("--web 0", "web", 0),
        ("--no-web", "no_web", True),
        ("--db none", "db", None),
        ("--admin-token open --db none", "admin_token", "open"),
        *((f"--db {where}", "db", where) for where in ("games.db", "a:b.db", "./mysql://x", "C:games.db")),
        *((f"--db {where}", "db", where) for where in ("postgresql://h/d", "postgresql+psycopg://h/d")),
        *(
            (f"--allow-origin http://b --allow-origin {origin.upper()}", "allow_origin", ["http://b", origin])
            for origin in ("*", "http://x", "https://a.example:8443", "http://[::1]:80", "app://some-id")
        ),
        *(
            (f"--metrics {text}", "metrics", address)
            for text, address in (
                ("9100", Address("127.0.0.1", 9100)),
                ("0", Address("127.0.0.1", 0)),
                ("009100", Address("127.0.0.1", 9100)),
                ("0.0.0.0:9100", Address("0.0.0.0", 9100)),
                ("monitor:9100", Address("monitor", 9100)),
                ("[::1]:9100", Address("::1", 9100)),
            )
        ),
    ],
)
def test_value_is_taken(arguments: str | list[str], name: str, expected: object) -> None:
    words = arguments.split() if isinstance(arguments, str) else arguments
    assert value(words, name) == expected
    assert parse([]).host == ["127.0.0.1"]  # two readings share nothing


def test_no_host_in_a_file_is_the_usual_one(tmp_path: Path) -> None:
    (tmp_path / "options.toml").write_text("host = []\n")
    assert parse(["--config", str(tmp_path / "options.toml")]).host == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("option", "values", "words"),
    [
        ("--nac4", ["-1", "65536", "x", "", "80.0", "1e3", "99999999999999999999"], "--nac4"),
        ("--arena", ["-1", "65536", "http"], "--arena"),
        ("--tcp", ["-1", "65536", "0x10"], "--tcp"),
        ("--clock", ["0", "-1", "nan", "inf", "x", "1e7"], "--clock"),
        ("--penalty", ["-0.1", "nan", "x"], "--penalty"),
        ("--idle", ["0", "nan", "-inf"], "--idle"),
        ("--keep-wire", ["-1", "nan", "month"], "--keep-wire"),
        ("--rounds", ["0", "-4", "1.5", "x", "9" * 5000], "--rounds"),
        ("--games-per-pair", ["-1", "x", "1.5"], "--games-per-pair"),
        ("--rejoin", ["0", "x"], "--rejoin"),
        ("--seed", ["x", "1.5", "9" * 5000], "--seed"),
        ("--web", ["-1", "65536", "x", ""], "--web"),
        ("--port", ["-1", "65536", "x", "", "ENV"], "--port"),
        ("--log-level", ["loud", ""], "--log-level"),
        ("--trusted-proxy", ["10.0.0.1/8", "10.0.0.0/33", "x.example", "", "*"], "such as 10.0.0.0/8"),
        ("--metrics", ["", "x", "host:", ":9100", "host:x", "1:2:3", "::1", "[::1]"], "--metrics"),
        ("--metrics", ["65536", "70000"], "is not a whole number from 0 to 65535"),
        ("--house", ["", "bob", "random,", "random,mc:5", "exec:cat", "kaggle:x.py"], "perfect, random"),
        ("--allow-origin", ["", "**", "example.org", "https://", "https://x/", "null"], "scheme://host"),
        ("--allow-origin", ["https://x/y", "https://a@b", "http://x:", "x\r\ny"], "scheme://host"),
        ("--admin-token", ["", " ", "a b", "a\n", "s\u00e9same"], "the admin token is not 1 or more ASCII"),
    ],
)
def test_bad_value_is_one_line_and_status_2(
    option: str, values: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in values:
        assert words in refused([f"{option}={value}"], capsys)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        *(([option], option) for option in ("--nac4", "--host", "--clock", "--seed", "--log-level")),
        *(([unknown], unknown) for unknown in ("--frobnicate", "-x", "lobby", "--nac", "--log-js")),
        (["--a\nb"], "--a"),
        (["a\nWARNING forged"], "forged"),
        (["--qr", "--no-web"], "--qr is of no use with --no-web"),
        (["--admin-token", "x", "--no-web"], "--admin-token is of no use with --no-web"),
        (["--tls-only"], "--tls-only is of no use without --tls-cert"),
        (["--tls-key", "key.pem"], "--tls-key is of no use without --tls-cert"),
        (["--registered-only"], "--registered-only needs --players FILE"),
    ],
)
def test_what_cannot_be_asked_for_is_one_line_and_status_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refused(arguments, capsys)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_option_and_what_it_is_without_it(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        parse([option])
    out, err = capsys.readouterr()
    assert (stop.value.code, err) == (0, "")
    for each in server.all_options(DIALECTS):
        assert f"--{each.key}" in out
    assert "(42.0)" in out
    assert "Without --nac4, --arena, --tcp and --port all dialects start" in out


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parse(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"c4gateway {__version__}, database version {VERSION}\n"


@pytest.mark.parametrize(
    ("module", "arguments", "words"),
    [
        ("bitbully", ["--house", "perfect"], "pip install bitbully"),
        ("segno", ["--qr"], "--qr needs another package: pip install 'c4gateway[qr]'"),
        ("prometheus_client", ["--metrics", "9100"], "pip install prometheus-client"),
        ("coredis", ["--cluster", "redis://127.0.0.1"], "pip install 'c4gateway[cluster]'"),
    ],
)
def test_package_that_is_missing_is_named(
    module: str,
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert words in refused(arguments, capsys)


# The page.


def test_page_has_a_port_that_was_asked_for_one_that_was_not_or_none() -> None:
    assert [parse(line).no_web for line in ([], ["--web", "0"], ["--no-web"])] == [False, False, True]
    assert page_port(parse(["--no-web", "--web", "80"])) == 80
    assert page_port(parse(["--web", "80", "--no-web"])) is None


def test_token_is_an_option_or_in_the_environment_and_nothing_to_who_serves_no_web(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN, "sesame")
    assert parse(["--web", "0"]).admin_token == "sesame"
    assert parse(["--web", "0", "--admin-token", "open"]).admin_token == "open"
    monkeypatch.setenv(TOKEN, "")
    assert "the admin token is not 1 or more ASCII" in refused(["--web", "0"], capsys)
    assert parse(["--no-web"]).admin_token is None
    monkeypatch.setenv("C4GATEWAY_QR", "true")
    assert not parse(["--no-web"]).qr


# Databases, and their passwords.

READERS = [(parse, [])] + [
    (reading.main, command) for command in (["standings"], ["export"], ["recount"], ["rename", "a", "b"])
]


@pytest.mark.parametrize(("read", "command"), READERS)
@pytest.mark.parametrize(
    "where",
    [
        *("mysql://ann:sesame@host/db", "MySQL://ann:sesame@host/db", "mysql+pymysql:ann:sesame@host"),
        *("mariadb:host", "sqlite:///games.db", "sqlite:games.db", "file:games.db"),
        *("postgresqlx://ann:sesame@host", "redis://host"),
    ],
)
def test_url_that_is_not_postgresqls_is_no_file(
    read: Callable[[Sequence[str]], object],
    command: list[str],
    where: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = refused([*command, "--db", where], capsys, read)
    assert f"--db: {where.partition(':')[0]}: cannot be used; give the path of a file" in line
    assert "sesame" not in line


WITH_PASSWORD = [
    "postgresql://ann:sesame@host/games",
    "postgresql://:sesame@/games",
    "postgres://ann@host/games?password=sesame",
    "postgresql+psycopg://host/games?user=ann&sslpassword=sesame",
    "postgresql://ann@host/games?%70assword=sesame",
]


@pytest.mark.parametrize("where", WITH_PASSWORD)
def test_password_of_a_database_may_be_in_the_environment_or_in_a_file_and_on_no_command_line(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for read, command in READERS:
        line = refused([*command, "--db", where], capsys, read)
        assert "the URL of --db has a password, which the list of processes shows" in line
        assert "C4GATEWAY_DB" in line
        assert "sesame" not in line
    file = tmp_path / "c4gateway.toml"
    file.write_text(f'db = "{where}"')
    assert parse(["--config", str(file)]).db == where
    monkeypatch.setenv("C4GATEWAY_DB", where)
    assert parse([]).db == where


def test_wrong_option_is_told_without_passwords(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--bd", WITH_PASSWORD[0]], ["--web", WITH_PASSWORD[0]]):
        assert "sesame" not in refused(words, capsys)


def test_wrong_database_in_the_environment_is_told_with_the_name_of_the_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("C4GATEWAY_DB", "mysql://ann:sesame@host/games")
    assert "C4GATEWAY_DB: mysql: cannot be used" in refused(["standings"], capsys, reading.main)


# One port, proxies.


def test_one_port_may_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORT", "5000")
    assert parse(["--port", "env"]).port == 5000
    assert parse([]).port is None
    for text in ("", "http"):
        monkeypatch.setenv("PORT", text)
        line = refused(["--port", "env"], capsys)
        assert "--port" in line
        assert repr(text) in line
    monkeypatch.delenv("PORT")
    assert "PORT is not set" in refused(["--port", "env"], capsys)


def test_trusted_proxies_are_all_that_are_given() -> None:
    options = parse(["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "::1"])
    assert [str(each) for each in options.trusted_proxy] == ["10.0.0.0/8", "::1/128"]


# Sockets that were handed over.


def hand_over(monkeypatch: pytest.MonkeyPatch, names: str) -> None:
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    monkeypatch.setenv("LISTEN_FDS", str(names.count(":") + 1))
    monkeypatch.setenv("LISTEN_FDNAMES", names)


def test_dialect_whose_socket_is_handed_over_starts_alone_or_beside_one_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hand_over(monkeypatch, "arena:page")
    options = parse([])
    assert ports(options) == {"nac4": None, "arena": 0, "tcp": None}
    assert (options.web, options.sockets) == (0, {"arena": [3], "page": [4]})
    assert ports(parse(["--tcp", "5555"])) == {"nac4": None, "arena": 0, "tcp": 5555}


def test_sockets_without_names_are_for_three_dialects_the_page_and_then_further_dialects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hand_over(monkeypatch, ":" * 4)
    names = ["nac4", "arena", "droidcon", "page", "further"]
    dialects = [
        Description(name=each, title="", bots="", option=each, port=1) for each in names if each != "page"
    ]
    options = server.parse(["--db", "none"], dialects)
    assert options.sockets == {name: [3 + at] for at, name in enumerate(names)}


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
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hand_over(monkeypatch, names)
    assert words in refused(arguments, capsys)


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
