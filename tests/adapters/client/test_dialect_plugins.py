"""Dialects of packages with entry points: which are taken, and what becomes of the others."""

import logging
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from random import Random

import pytest
import trio
from worlds.memory_client import MemoryClient, socket_of
from worlds.plugins import install

from adapters.check.options import CheckOptions
from adapters.check.serving import hint
from adapters.client import plugins
from adapters.client.accepted import Accepted
from adapters.client.dialect import INTERFACE, Dialect
from adapters.client.framing import Lines
from adapters.client.plugins import RESERVED, served, with_plugins
from adapters.dialects import DIALECTS
from gateway.commands.roster import roster_command
from gateway.game.clock import Terms
from gateway.hub.hub import Hub
from gateway.matchmaking.standard import LobbyAndTables
from gateway.options.description import NoOptions
from gateway.options.server import all_options
from gateway.options.table import options_of
from gateway.runtime.plugins import PluginError

FIELDS: Mapping[str, object] = {
    "interface": INTERFACE,
    "name": "knock",
    "short": "Knock",
    "mark": "K",
    "title": "Knock (TCP)",
    "bots": "port for Knock bots",
    "option": "knock",
    "port": 4300,
    "example": "try: nc {host} {port}",
}
DEFINED = """\
from dataclasses import dataclass, replace
from adapters.client.dialect import Dialect
from gateway.options.table import flag

@dataclass(frozen=True)
class Own:
    {own}: bool = flag("an option of its own")

def fails(*_):
    raise {error}

DIALECT = Dialect(front_end=fails, open_dialogue=fails, requirements=fails, **{fields})
"""
Install = Callable[..., None]


def defined(error: str = "ImportError('it is broken')", own: str = "loud", **fields: object) -> str:
    """Return the source of a module with a dialect whose parts cannot be loaded."""
    return DEFINED.format(fields={**FIELDS, **fields}, error=error, own=own)


def with_options(field: str) -> str:
    """Return the source of a module with a dialect that has this option."""
    own = f"@dataclass(kw_only=True)\nclass Own:\n    loud: bool = {field}\n"
    return f"{defined()}{own}DIALECT = replace(DIALECT, options=Own)\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what installs a package with an entry point and the module that it names."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(source: str, name: str = "knock", package: str = "c4knock", value: str = "DIALECT") -> None:
        monkeypatch.delitem(sys.modules, f"{package}_dialect", raising=False)
        points = {name: f"{package}_dialect:{value}"}
        install(tmp_path, package, plugins.GROUP, points, {f"{package}_dialect": source})

    return write


def the_one() -> Dialect:
    """Return the only plug-in that is found."""
    found = with_plugins(DIALECTS)
    assert found.faults == ()
    assert found.dialects[:-1] == DIALECTS
    return found.dialects[-1]


def test_without_plug_ins_there_are_the_built_in_dialects() -> None:
    assert with_plugins(DIALECTS) == plugins.Found(DIALECTS)


def test_plug_ins_come_after_the_built_in_dialects_by_name(installed: Install) -> None:
    other = defined(name="chime", option="bell", port=4301, mark="C", scheme="ws")
    installed(defined())
    installed(other, name="chime", package="c4other")
    found = with_plugins(DIALECTS)
    assert [each.name for each in found.dialects[len(DIALECTS) :]] == ["chime", "knock"]
    assert found.faults == ()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("def broken(:", "SyntaxError: "),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("class Odd(BaseException): pass\nraise Odd", "cannot be used: Odd; "),
        ("", "AttributeError: "),
        ("DIALECT = 'knock'", "c4knock_dialect:DIALECT is not a Dialect, but str"),
        (defined(interface=0), "made for version 0 of the interface for dialects, and this c4gateway has"),
        (defined(interface=2), "made for version 2 of the interface for dialects, and this c4gateway has"),
        (defined(surplus=1), "TypeError: "),
        (defined(name="other"), "its entry point has the name 'knock', and its dialect 'other'"),
        (defined(option="Knock!"), "its option 'Knock!' is not a lower-case letter followed by"),
        (defined(option="class"), "its option 'class' is not a lower-case letter followed by"),
        (defined(mark="KK"), "its mark 'KK' is not a letter"),
        (defined(scheme="http"), "its scheme 'http' is neither 'ws' nor empty"),
        (defined(port=0), "its port 0 is not a number from 1 to 65535"),
        (defined(port="4300"), "TypeError: "),
        (defined(title=None), "TypeError: "),
        (defined(example="{nothing}"), "KeyError: 'nothing'"),
        (defined(entering=["{nothing}"]), "KeyError: 'nothing'"),
        (defined(names="["), "unterminated character set"),
        (defined(options=5), "TypeError: "),
        (defined(option="nac4"), "the dialect nac4 already has the name 'nac4'"),
        (defined(option="tcp"), "the dialect droidcon already has the name 'tcp'"),
        (defined(port=8080), "the dialect nac4 already has the port 8080"),
        (defined(port=8000), "the page already has the port 8000"),
        (defined(mark="N"), "the dialect nac4 already has the mark 'N'"),
        *((defined(option=each), f"already has an option or a port called {each!r}") for each in RESERVED),
        *(
            (defined(option=each), f"already has an option or a port called {each!r}")
            for each in ("clock", "rounds", "house", "metrics", "port", "page", "web")
        ),
        (defined(own="clock") + "DIALECT = replace(DIALECT, options=Own)", "called 'clock'"),
        (defined(own="knock") + "DIALECT = replace(DIALECT, options=Own)", "called 'knock'"),
        (defined(own="json") + "DIALECT = replace(DIALECT, options=Own)", "called 'json'"),
        ("class Odd(Exception):\n    def __str__(self): raise self\nraise Odd", "cannot be used: Odd; "),
        ("raise ValueError('\x1b[31m')", "ValueError: \\x1b[31m; "),
        (with_options("flag('x', aliases=('--db',))"), "conflicting option string: --db"),
        (
            with_options("flag('x', is_positional=True)"),
            "the option 'loud' would be required of every server",
        ),
        (with_options("flag('x', is_required=True)"), "the option 'loud' would be required of every server"),
        (with_options("flag(None)"), "AttributeError: "),
        (with_options("flag('x', make_default=lambda: 1 / 0)"), "ZeroDivisionError: "),
        (with_options("flag('x')\n    more: int"), "TypeError: "),
    ],
)
def test_plug_in_that_cannot_be_used_costs_one_line_and_no_other(
    installed: Install, source: str, words: str
) -> None:
    installed(source)
    installed(defined(name="zither", option="zither", port=4301, mark="Z"), "zither", "c4zither")
    found = with_plugins(DIALECTS)
    assert [each.name for each in found.dialects[len(DIALECTS) :]] == ["zither"]
    [line] = found.faults
    assert line.startswith("the plug-in 'knock' of the package 'c4knock' cannot be used: ")
    assert words in line
    assert line.endswith(" -m pip uninstall c4knock")
    assert "\n" not in line


@pytest.mark.parametrize("value", ["", ":DIALECT", "odd odd:DIALECT"])
def test_entry_point_that_names_no_module_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "c4odd", plugins.GROUP, {"odd": value}, {})
    [line] = with_plugins(DIALECTS).faults
    assert f"its entry point names {value!r}, and not MODULE:OBJECT" in line


def test_plug_in_with_the_name_of_a_built_in_dialect_is_not_used(installed: Install) -> None:
    installed(defined(name="nac4"), name="nac4")
    found = with_plugins(DIALECTS)
    assert found.dialects == DIALECTS
    assert "the dialect nac4 already has the name 'nac4'" in found.faults[0]


def test_of_two_plug_ins_that_collide_the_first_is_used(installed: Install) -> None:
    installed(defined(), package="c4a")
    installed(defined(), package="c4b")
    found = with_plugins(DIALECTS)
    assert [each.name for each in found.dialects[len(DIALECTS) :]] == ["knock"]
    [line] = found.faults
    assert "the package 'c4b' cannot be used: the dialect knock already has the name 'knock'" in line


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("entry_points.txt", b"\xff"),
        ("entry_points.txt", b"[c4gateway.dialects]\nknock\n"),
        ("entry_points.txt", b"[other]\nknock\n"),
    ],
)
def test_damaged_metadata_of_a_package_cost_one_line_and_no_other(
    installed: Install, tmp_path: Path, file: str, content: bytes
) -> None:
    installed(defined())
    installed(defined(name="zither", option="zither", port=4301, mark="Z"), "zither", "c4zither")
    (tmp_path / "c4knock-1.0.dist-info" / file).write_bytes(content)
    found = with_plugins(DIALECTS)
    assert [each.name for each in found.dialects[len(DIALECTS) :]] == ["zither"]
    [line] = found.faults
    assert line.startswith("the plug-in '?' of the package 'c4knock' cannot be used: its metadata in ")
    assert line.endswith(" -m pip uninstall c4knock")


def test_plug_in_of_a_package_without_a_name_can_be_used(installed: Install, tmp_path: Path) -> None:
    installed(defined())
    for content in (b"\n", b"Name: \xff\n"):
        (tmp_path / "c4knock-1.0.dist-info" / "METADATA").write_bytes(content)
        assert the_one().name == "knock"


def test_interrupt_is_no_fault_of_a_plug_in(installed: Install) -> None:
    installed("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        with_plugins(DIALECTS)


def test_reserved_names_are_those_that_commands_have_beside_the_server_s() -> None:
    servers = {each.key for each in all_options(DIALECTS)}
    roster = roster_command([])
    in_commands = {each.key for table in (CheckOptions, roster) for each in options_of(table)}
    assert in_commands - servers <= {*RESERVED}


# Parts that are loaded later.


@pytest.mark.parametrize("error", ["ImportError('it is broken')", "SystemExit(3)", "GeneratorExit"])
async def test_server_that_cannot_be_loaded_is_logged_once_and_left_out(
    installed: Install, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    installed(defined(error=error))
    knock, options = the_one(), {"knock": NoOptions(), "nac4": DIALECTS[0].options()}
    hub = Hub(Terms(), LobbyAndTables(Random(1)))
    for _ in range(2):
        fronts = served([knock, DIALECTS[0]], hub, options, None)
        assert [each.name for each, _ in fronts] == ["nac4"]
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert (vars(record)["event"], vars(record)["plugin"]) == ("plugin_failed", "knock")
    assert error.partition("(")[0] in record.getMessage()


def test_front_end_that_serves_nobody_is_left_out(
    installed: Install, caplog: pytest.LogCaptureFixture
) -> None:
    installed(f"{defined()}DIALECT = replace(DIALECT, front_end=lambda *_: None)\n")
    hub = Hub(Terms(), LobbyAndTables(Random(1)))
    assert served([the_one()], hub, {"knock": NoOptions()}, None) == []
    assert "front_end returned NoneType" in caplog.text


SERVER = """
from adapters.client.connection import Connection
from gateway.game.manners import Afterwards, Illegal, Manners

class Translator:
    manners = Manners(Illegal.RETRY, Afterwards.STAND_BY, kind={kind!r})

def front_end(hub, options, accounts):
    async def serve(client):
        Connection(hub, client, None, Translator())
    return serve

DIALECT = replace(DIALECT, front_end=front_end)
"""


@pytest.mark.parametrize("kind", ["knock", "nac4", 5])
async def test_player_of_another_kind_than_its_dialect_gets_no_seat(installed: Install, kind: object) -> None:
    installed(defined() + SERVER.format(kind=kind))
    hub = Hub(Terms(), LobbyAndTables(Random(1)))
    [(_, serve)] = served([the_one()], hub, {"knock": NoOptions()}, None)
    fits = nullcontext()
    with fits if kind == "knock" else pytest.raises(ValueError, match="the kind in the manners is "):
        await serve(Accepted(socket_of(MemoryClient()), Lines()))
    assert len(hub.seats()) == (kind == "knock")


def test_mistake_of_a_built_in_dialect_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        served(DIALECTS, None, {}, None)  # type: ignore[arg-type]


def test_client_and_rules_that_cannot_be_loaded_say_so(installed: Install) -> None:
    installed(defined())
    knock = the_one()
    for load in (knock.requirements, lambda: knock.open_dialogue(None)):  # type: ignore[arg-type]
        with pytest.raises(PluginError, match=r"the plug-in 'knock' .* ImportError: it is broken"):
            load()


def test_rules_that_cannot_be_loaded_give_no_hint_and_spoil_none(installed: Install) -> None:
    installed(defined())
    assert hint("NAME ann", [the_one(), *DIALECTS]) == "; that is Droidcon: c4gateway check droidcon"


async def test_dialect_that_cannot_tell_its_first_message_claims_none(
    installed: Install, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(
        f"{defined()}def begins(text):\n    print('reads')\n    return text[9] == 'x' or exit(7)\n"
        "DIALECT = replace(DIALECT, begins=begins)"
    )
    begins = the_one().begins
    assert begins is not None
    assert [begins("short"), begins("a text: x"), begins("a text:  x")] == [False, False, True]
    assert not begins("a text:  y")
    messages = [record.getMessage() for record in caplog.records]
    assert ["IndexError: string index out of range" in messages[0], "SystemExit: 7" in messages[1]] == [
        True
    ] * 2
    assert capsys.readouterr().out == ""
    await trio.lowlevel.checkpoint()


# Whose code runs.


@pytest.mark.parametrize(
    ("words", "loads"),
    [
        (["analyse", "44", "--seconds", "0.001"], False),
        (["standings", "--help"], False),
        (["nothing"], False),
        (["config"], True),
        (["--help"], True),
    ],
)
def test_command_that_needs_no_dialect_loads_no_plug_in(
    installed: Install, tmp_path: Path, words: list[str], loads: bool
) -> None:
    installed("print('loaded')\nraise SystemExit(3)")
    command = [sys.executable, "-m", "gateway", *words]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert ("loaded" in done.stderr.splitlines()) == loads
    assert "loaded" not in done.stdout.splitlines()
    warnings = [line for line in done.stderr.splitlines() if line.startswith("c4gateway: warning: ")]
    assert len(warnings) == loads
