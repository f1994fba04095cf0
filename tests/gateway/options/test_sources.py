"""Options from the command line, the environment and a file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.dialects import DIALECTS
from gateway.__main__ import main
from gateway.options import server
from gateway.options.kinds import PORT, TEXT, WHOLE_NUMBER, Kind, one_of, seconds
from gateway.options.sources import Settings, from_sources, shown
from gateway.options.table import Parser, flag, option, options_of, several, variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """An option of every sort."""

    port: int = option("", PORT, 80, aliases=("-p",))
    max_size: float = option("", seconds(0, 100), 1.5)
    seed: int | None = option("", WHOLE_NUMBER)
    level: str = option("", one_of("low", "high"), "low")
    names: list[str] = option("", Kind(lambda text: text.split(",")), make_default=list)
    host: list[str] | None = several("", TEXT, None)
    quiet: bool = flag("")
    page: int | None = option("", WHOLE_NUMBER, withdraws="no_page")
    no_page: bool = flag("", withdraws="page")
    admin_token: str | None = option("", TEXT, is_secret=True)
    db: str = option("", TEXT, "games.db")
    odd: float | None = option("", Kind(lambda text: 1 / len(text)))
    config: str | None = option("", TEXT)


def settled(*arguments: str, **environment: str) -> Settings:
    parser = Parser("c4gateway")
    parser.add(options_of(Options))
    variables = {variable(name): text for name, text in environment.items()}
    return from_sources(parser, options_of(Options), arguments, variables)


def options(*arguments: str, **environment: str) -> Mapping[str, object]:
    return settled(*arguments, **environment).values


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
    assert options()["port"] == 80
    assert options(config)["port"] == 1
    assert options(config, port="2")["port"] == 2
    assert options(config, "--port", "3", port="2")["port"] == 3
    assert options(config=str(file))["port"] == 1  # which the environment names
    config = written(file, "host = ['a', 'b']")  # several values replace those of a weaker source
    assert options(config, host="c")["host"] == ["c"]
    assert options(config, "--host", "d", "--host", "e", host="c")["host"] == ["d", "e"]


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
        ("no-page = true", "no_page", True),
        ("no-page = false", "page", None),
        ("no-page = false\npage = 3", "page", 3),
        ("", "port", 80),
    ],
)
def test_file_gives_every_sort_of_option(file: Path, text: str, name: str, value: object) -> None:
    assert options(written(file, text))[name] == value


@pytest.mark.parametrize(
    ("environment", "name", "value"),
    [
        ({"port": "8080"}, "port", 8080),
        ({"host": "::1, 0.0.0.0"}, "host", ["::1", "0.0.0.0"]),
        ({"names": "ann,bob"}, "names", ["ann", "bob"]),
        ({"quiet": "1"}, "quiet", True),
        ({"quiet": "True"}, "quiet", True),
        ({"quiet": "off"}, "quiet", False),
        ({"no_page": "yes"}, "no_page", True),
        ({"no_page": "0", "page": "3"}, "page", 3),
        ({"admin_token": " a "}, "admin_token", " a "),
    ],
)
def test_environment_gives_every_sort_of_option(
    environment: Mapping[str, str], name: str, value: object
) -> None:
    assert options(**environment)[name] == value


def test_flag_that_is_off_withdraws_the_file_s_and_says_nothing_else(file: Path) -> None:
    config = written(file, "quiet = true\nno-page = true")
    assert options(config)["no_page"] is True
    off = options(config, quiet="false", no_page="false")
    assert (off["quiet"], off["page"], off["no_page"]) == (False, None, False)
    assert options(written(file, "page = 9"), no_page="false")["page"] == 9
    assert options(written(file, "page = 9\nno-page = true"), no_page="false")["page"] == 9


@pytest.mark.parametrize("stronger", [{"page": "80"}, {"no_page": "true"}])
def test_two_options_that_exclude_each_other_come_from_the_stronger_source(
    file: Path, stronger: Mapping[str, str]
) -> None:
    weaker = "no-page = true" if "page" in stronger else "page = 9"
    found = options(written(file, weaker), **stronger)
    assert (found["page"], found["no_page"]) == ((80, False) if "page" in stronger else (None, True))
    for line, page, no_page in (
        ("--page 7", 7, False),
        ("--no-page --page 7", 7, False),  # of two on the command line the last holds
        ("--page 7 --no-page", None, True),
    ):
        found = options(written(file, weaker), *line.split(), **stronger)
        assert (found["page"], found["no_page"]) == (page, no_page)


def test_kind_that_fails_is_one_line_from_each_source(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    why = "'' cannot be read: ZeroDivisionError: division by zero"
    for arguments, variables in ((["--odd="], {}), ([], {"odd": ""}), ([written(file, "odd = ''")], {})):
        assert why in refused(capsys, *arguments, **variables)


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        *(({"port": text}, "C4GATEWAY_PORT: ") for text in ("65536", "")),
        *(({"seed": text}, "C4GATEWAY_SEED: ") for text in ("x", "9" * 5000)),
        *(({"quiet": text}, "C4GATEWAY_QUIET: ") for text in ("perhaps", "")),
        ({"level": "middle"}, "C4GATEWAY_LEVEL: "),
        ({"page": "8", "no_page": "true"}, "C4GATEWAY_NO_PAGE: give one of page and no-page"),
        ({"prot": "1"}, "'C4GATEWAY_PROT' in the environment is not an option; did you mean C4GATEWAY_PORT?"),
        ({"help": "1"}, "'C4GATEWAY_HELP' in the environment is not an option"),
    ],
)
def test_what_is_wrong_in_the_environment_is_one_line_that_names_the_variable(
    environment: Mapping[str, str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, **environment).startswith(why)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        *(
            (f"port = {value}", "{file}: port: ")
            for value in ("65536", "1.5", "true", "1979-05-27", "[1, 2]", "{}")
        ),
        *((f"level = {value}", "{file}: level: ") for value in ("'middle'", "true")),
        *((f"quiet = {value}", "{file}: quiet: ") for value in ("2", "[]")),
        *((f"host = {value}", "{file}: host: ") for value in ("[true]", "[['a']]")),
        ("seed = 'a\\nb'", "{file}: seed: "),
        ("page = 8\nno-page = true", "{file}: give one of page and no-page"),
        ("max_size = 1", "'max_size' in {file} is not an option; did you mean max-size?"),
        ("config = 'other.toml'", "'config' in {file} is not an option"),
        ("[limits]\nport = 1", "'limits' in {file} is not an option"),
        ('"a\\nb\\u202e" = 1', r"'a\nb\u202e' in {file} is not an option"),
        ("port = \nseed = 1", "{file}: not TOML: Invalid value"),
        ("a = " + 9000 * "[", "{file}: not TOML: "),
        (b"\xff", "{file}: not TOML: "),
        (None, "--config: {file}: No such file or directory"),
    ],
)
def test_what_is_wrong_in_the_file_is_one_line_that_names_it(
    file: Path, data: str | bytes | None, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if data is not None:
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    assert refused(capsys, f"--config={file}").startswith(why.format(file=file))


# What is in force.


def lines(settled: Settings) -> dict[str, str]:
    found = shown(options_of(Options), settled.values, settled.sources)
    return dict(line.split(" = ", 1) for line in found)


def test_what_is_shown_says_each_option_once_and_where_it_comes_from(file: Path) -> None:
    text = lines(settled(written(file, "seed = 1"), "--no-page", "--quiet", max_size="2"))
    assert [*text] == [
        *("port", "max-size", "seed", "level", "names", "# host", "quiet", "# page", "no-page"),
        *("# admin-token", "db", "# odd", "config"),
    ]
    assert text["seed"].split() == ["1", "#", str(file)]
    assert text["max-size"].split() == ["2.0", "#", "C4GATEWAY_MAX_SIZE"]
    assert text["no-page"].split() == ["true", "#", "command", "line"]
    assert text["# host"].split() == ["none", "#", "default"]


def test_what_is_shown_is_a_file_that_gives_the_same(file: Path) -> None:
    said = settled(
        "--no-page", "--host=a", "--host=\u202e\\'\"", "--seed=3", "--names=ann,bob", db="x y\n\x1b"
    )
    text = "\n".join(shown(options_of(Options), said.values, said.sources))
    again = options(written(file, text.replace("config", "# config")))
    assert {**again, "config": None} == said.values


@pytest.mark.parametrize(
    ("where", "masked"),
    [
        ("postgresql://ann:sesame@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann:ses/ame@x@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann@x:sesame@host/db", "postgresql://ann@x:***@host/db"),
        ("postgresql://ann@host:5432/db?options=a@b", "postgresql://ann@host:5432/db?options=a@b"),
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
    assert len(out.splitlines()) == len(server.all_options(DIALECTS))


def test_commands_on_the_store_take_the_database_from_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("C4GATEWAY_DB", str(tmp_path / "elsewhere.db"))
    assert main(["standings"]) == 1
    assert "elsewhere.db" in capsys.readouterr().err
