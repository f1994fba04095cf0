"""Options from the command line, the environment and a file."""

import argparse
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.dialects import DIALECTS
from gateway.__main__ import main
from gateway.options import options as real
from gateway.options.arguments import Parser, number
from gateway.options.settings import Settings, add_options, settle, shown, variable


def parser() -> Parser:
    """Return a parser with an option of every sort."""
    parser = Parser(prog="c4gateway", allow_abbrev=False)
    parser.add_argument("--port", "-p", type=number(int, 0, 65_535), default=80)
    parser.add_argument("--max-size", type=number(float, 0, 100), default=1.5)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--level", choices=("low", "high"), default="low")
    parser.add_argument("--names", type=lambda text: text.split(","), default=[])
    parser.add_argument("--host", action="append")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--page", type=int)
    parser.add_argument("--no-page", dest="page", action="store_const", const=-1)
    parser.add_argument("--admin-token")
    parser.add_argument("--db", default="games.db")
    parser.add_argument("--version", action="version", version="1")
    add_options(parser)
    return parser


def settled(*arguments: str, **environment: str) -> Settings:
    return settle(parser(), arguments, {variable(name): text for name, text in environment.items()})


def options(*arguments: str, **environment: str) -> argparse.Namespace:
    return settled(*arguments, **environment).options


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gateway.toml"


def written(file: Path, text: str) -> str:
    file.write_text(text)
    return f"--config={file}"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, **environment: str) -> str:
    """Return the one line that says what is wrong."""
    with pytest.raises(SystemExit) as stop:
        options(*arguments, **environment)
    assert stop.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    return line.removeprefix("c4gateway: error: ")


def test_option_comes_from_the_command_line_else_the_environment_else_the_file(file: Path) -> None:
    config = written(file, "port = 1")
    assert options().port == 80
    assert options(config).port == 1
    assert options(config, port="2").port == 2
    assert options(config, "--port", "3", port="2").port == 3


def test_source_of_each_option_is_known(file: Path) -> None:
    sources = settled(written(file, "seed = 1"), "--level=high", max_size="2").sources
    assert [sources[name] for name in ("seed", "level", "max_size", "port")] == [
        str(file),
        "command line",
        "C4GATEWAY_MAX_SIZE",
        "default",
    ]


def test_environment_can_name_the_file(file: Path) -> None:
    written(file, "port = 1")
    assert options(config=str(file)).port == 1


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("port = 8080", "port", 8080),
        ("port = '8080'", "port", 8080),
        ("max-size = 3", "max_size", 3.0),
        ("max-size = 2.5", "max_size", 2.5),
        ("seed = -5", "seed", -5),
        ("level = 'high'", "level", "high"),
        ("names = 'ann,bob'", "names", ["ann", "bob"]),
        ("names = ['ann', 'bob']", "names", ["ann", "bob"]),
        ("host = ['::1', '0.0.0.0']", "host", ["::1", "0.0.0.0"]),
        ("host = '::1'", "host", ["::1"]),
        ("quiet = true", "quiet", True),
        ("quiet = false", "quiet", False),
        ("no-page = true", "page", -1),
        ("no-page = false", "page", None),
        ("no-page = false\npage = 3", "page", 3),
        ("", "port", 80),
    ],
)
def test_file_gives_every_sort_of_option(file: Path, text: str, name: str, value: object) -> None:
    assert getattr(options(written(file, text)), name) == value


@pytest.mark.parametrize(
    ("environment", "name", "value"),
    [
        ({"port": "8080"}, "port", 8080),
        ({"host": "::1, 0.0.0.0"}, "host", ["::1", "0.0.0.0"]),
        ({"names": "ann,bob"}, "names", ["ann", "bob"]),
        ({"quiet": "1"}, "quiet", True),
        ({"quiet": "True"}, "quiet", True),
        ({"quiet": "off"}, "quiet", False),
        ({"no_page": "yes"}, "page", -1),
        ({"no_page": "0", "page": "3"}, "page", 3),
        ({"admin_token": " a "}, "admin_token", " a "),
    ],
)
def test_environment_gives_every_sort_of_option(
    environment: Mapping[str, str], name: str, value: object
) -> None:
    assert getattr(options(**environment), name) == value


def test_several_values_replace_those_of_a_weaker_source(file: Path) -> None:
    config = written(file, "host = ['a', 'b']")
    assert options(config, host="c").host == ["c"]
    assert options(config, "--host", "d", "--host", "e", host="c").host == ["d", "e"]


def test_flag_that_is_off_withdraws_the_file_s_and_says_nothing_else(file: Path) -> None:
    config = written(file, "quiet = true\nno-page = true")
    assert options(config).page == -1
    off = options(config, quiet="false", no_page="false")
    assert (off.quiet, off.page) == (False, None)
    assert options(written(file, "page = 9"), no_page="false").page == 9


@pytest.mark.parametrize("stronger", [{"page": "80"}, {"no_page": "true"}])
def test_two_options_of_one_thing_come_from_the_stronger_source(
    file: Path, stronger: Mapping[str, str]
) -> None:
    weaker = "no-page = true" if "page" in stronger else "page = 9"
    assert options(written(file, weaker), **stronger) == options(config=str(file), **stronger)
    assert options(written(file, weaker), **stronger).page == (80 if "page" in stronger else -1)
    assert options(written(file, weaker), "--page", "7", **stronger).page == 7


def test_two_options_of_one_thing_are_not_both_in_one_source(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, written(file, "page = 8\nno-page = true"))
    assert line.startswith(f"{file}: give one of page and no-page")
    assert "C4GATEWAY_PAGE" in refused(capsys, page="8", no_page="true")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("port", "65536"),
        ("port", ""),
        ("seed", "x"),
        ("level", "middle"),
        ("quiet", "perhaps"),
        ("quiet", ""),
        ("seed", "9" * 5000),
    ],
)
def test_wrong_value_is_one_line_that_names_the_variable(
    name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, **{name: text}).startswith(f"C4GATEWAY_{name.upper()}: ")


@pytest.mark.parametrize(
    "text",
    [
        "port = 65536",
        "port = 1.5",
        "port = true",
        "port = 1979-05-27",
        "port = [1, 2]",
        "port = {}",
        "level = 'middle'",
        "level = true",
        "quiet = 2",
        "quiet = []",
        "host = [true]",
        "host = [['a']]",
        "seed = 'a\\nb'",
    ],
)
def test_wrong_value_is_one_line_that_names_the_file_and_the_key(
    file: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    key = text.partition(" ")[0]
    assert refused(capsys, written(file, text)).startswith(f"{file}: {key}: ")


def test_unknown_key_or_variable_is_one_line_that_names_it(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, written(file, "max_size = 1"))
    assert line.startswith(f"'max_size' in {file} is not an option; did you mean max-size?")
    assert "'config'" in refused(capsys, written(file, "config = 'other.toml'"))
    assert "'limits'" in refused(capsys, written(file, "[limits]\nport = 1"))
    assert refused(capsys, written(file, '"a\\nb\\u202e" = 1')).startswith("'a\\nb\\u202e' in ")
    line = refused(capsys, prot="1")
    assert line.startswith(
        "'C4GATEWAY_PROT' in the environment is not an option; did you mean C4GATEWAY_PORT?"
    )
    assert "'C4GATEWAY_HELP'" in refused(capsys, help="1")


def test_file_that_cannot_be_read_is_one_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, f"--config={file}").startswith(f"--config: {file}: No such file or directory")
    assert refused(capsys, written(file, "port = \nseed = 1")).startswith(f"{file}: not TOML: Invalid value")
    assert refused(capsys, written(file, "a = " + 9000 * "[")).startswith(f"{file}: not TOML: ")
    file.write_bytes(b"\xff")
    assert refused(capsys, f"--config={file}").startswith(f"{file}: not TOML: ")


# What is in force.


def lines(settled: Settings) -> dict[str, str]:
    return dict(line.split(" = ", 1) for line in shown(parser(), settled))


def test_what_is_shown_says_each_option_once_and_where_it_comes_from(file: Path) -> None:
    text = lines(settled(written(file, "seed = 1"), "--no-page", "--quiet", max_size="2"))
    assert [*text] == [
        *("port", "max-size", "seed", "level", "names", "# host", "quiet", "no-page"),
        *("# admin-token", "db", "config"),
    ]
    assert text["seed"].split() == ["1", "#", str(file)]
    assert text["max-size"].split() == ["2.0", "#", "C4GATEWAY_MAX_SIZE"]
    assert text["no-page"].split() == ["true", "#", "command", "line"]
    assert text["# host"].split() == ["none", "#", "default"]


def test_what_is_shown_is_a_file_that_gives_the_same(file: Path) -> None:
    said = settled(
        "--no-page", "--host=a", "--host=\u202e\\'\"", "--seed=3", "--names=ann,bob", db="x y\n\x1b"
    )
    again = options(written(file, "\n".join(shown(parser(), said)).replace("config", "# config")))
    assert {**vars(again), "config": None} == vars(said.options)


@pytest.mark.parametrize(
    ("where", "masked"),
    [
        ("postgresql://ann:sesame@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann:ses/ame@x@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://:sesame@host/db", "postgresql://:***@host/db"),
        ("postgresql://h/db?user=a&password=sesame&x=1", "postgresql://h/db?user=a&password=***&x=1"),
        ("postgresql://h/db?sslPassword=sesame", "postgresql://h/db?sslPassword=***"),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("a:b@c.db", "a:b@c.db"),
    ],
)
def test_no_password_is_shown(where: str, masked: str) -> None:
    text = lines(settled(db=where, admin_token="sesame"))
    assert tomllib.loads(f"db = {text['db']}")["db"] == masked
    assert tomllib.loads(f"x = {text['admin-token']}")["x"] == "***"


def test_command_shows_the_real_options_and_starts_nothing(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("C4GATEWAY_NAC4", "9000")
    assert main(["config", "--no-web", written(file, "rounds = 6")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    shown = {line.split(" = ")[0]: line.split("# ")[-1] for line in out.splitlines()}
    assert (shown["nac4"], shown["rounds"], shown["no-web"]) == ("C4GATEWAY_NAC4", str(file), "command line")
    assert len(out.splitlines()) == len(vars(real.parse([], DIALECTS)).keys() - {"sockets"})


def test_commands_on_the_store_take_the_database_from_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("C4GATEWAY_DB", str(tmp_path / "elsewhere.db"))
    assert main(["standings"]) == 1
    assert "elsewhere.db" in capsys.readouterr().err
