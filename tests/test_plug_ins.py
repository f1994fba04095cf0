"""The example of docs/plug-ins.md: built, installed in a folder of its own, played, checked.

Beside it are packages that cannot be used, of which a running server tells, and which cost it nothing else.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from urllib.request import urlopen

import pytest
from forking import PATIENCE, ROOT
from worlds.plugins import install
from worlds.server import begun

from adapters.client.dialect import Dialect
from adapters.dialects import DIALECTS

PAGE = (ROOT / "docs" / "plug-ins.md").read_text()
FILES: Mapping[str, str] = dict(
    re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
"""The files of the example, by name."""
BOT = (sys.executable, "-m", "adapters.bot")
BROKEN = {
    "c4broken": "import nowhere_at_all",
    "c4mute": """
from adapters.client.dialect import Dialect

def fails(*_):
    import nowhere_at_all

DIALECT = Dialect(
    interface=1, name="mute", short="Mute", mark="M", title="Mute", bots="", option="mute", port=4301,
    example="", front_end=fails, open_dialogue=fails, requirements=fails,
)
""",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the example is installed, beside packages that are broken."""
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = ["wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", "."]
    into = ["install", "--no-index", "--no-deps", "--find-links", "dist", "--target", str(site), "c4knock"]
    for words in (wheel, into):
        subprocess.run([*pip, *words], cwd=source, check=True, timeout=PATIENCE)
    for package, text in BROKEN.items():
        name = package.removeprefix("c4")
        points = {name: f"{package}_dialect:DIALECT"}
        install(site, package, "c4gateway.dialects", points, {f"{package}_dialect": text})
    return site


@pytest.fixture
def _installed(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes find what is installed, and nothing of another folder."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(site)]))
    monkeypatch.chdir(tmp_path)


def run(module: str, *words: str) -> tuple[int, str, list[str]]:
    """Run a module to its end; return the exit status, stdout, and the lines of stderr."""
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr.splitlines()


def others(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines without the one that says that a package is broken."""
    left = [line for line in lines if "plug-in 'broken' of the package 'c4broken' cannot be used" not in line]
    assert len(left) == len(lines) - 1
    return left


def test_example_is_short() -> None:
    code = [text for name, text in FILES.items() if name.endswith((".py", ".toml"))]
    assert 0 < sum(text.count("\n") for text in code) < 150


def test_each_field_of_a_dialect_is_explained() -> None:
    table = PAGE.partition("The fields of `Dialect`:")[2].partition("The modules behind them")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == {
        each.name for each in fields(Dialect)
    }


@pytest.mark.usefixtures("_installed")
def test_bot_of_the_example_plays_a_bot_of_another_dialect_on_the_one_port(tmp_path: Path) -> None:
    database = str(tmp_path / "x.db")
    options = ("--port", "0", "--db", database, "--no-live-evaluation")
    with begun([sys.executable, "-W", "error", "-m", "gateway", *options], len(DIALECTS) + 2) as gateway:
        names = [name for name, _, _ in gateway.addresses]
        assert names == ["page", *(each.name for each in DIALECTS), "knock"]
        bots = [
            subprocess.Popen(
                [*BOT, dialect, f"127.0.0.1:{gateway.port(dialect)}", *words.split()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for dialect, words in (
                ("knock", "--name ann --engine leftmost --games 1"),
                ("droidcon", "--name bob --engine random --games 1"),
            )
        ]
        for bot in bots:
            _, err = bot.communicate(timeout=PATIENCE)
            assert (bot.returncode, others(err.splitlines())) == (0, [])
        with urlopen(f"http://127.0.0.1:{gateway.port('page')}/", timeout=PATIENCE) as answer:
            assert "Knock" in answer.read().decode()
        status, log = gateway.stop()
    assert status == 0
    warning, failure = (line for line in log.splitlines() if "cannot be used" in line)
    assert warning.startswith("c4gateway: warning: the plug-in 'broken' of the package 'c4broken' ")
    assert "the plug-in 'mute' of the package 'c4mute' cannot be used: ModuleNotFoundError: " in failure
    assert "Traceback" not in log
    _, out, _ = run("gateway", "export", "--db", database, "--format", "jsonl")
    game = json.loads(out.splitlines()[0])
    players = sorted((each["name"], each["kind"]) for each in game["players"])
    assert players == [("ann", "knock"), ("bob", "droidcon")]
    assert game["reason"] in ("four", "full")


@pytest.mark.usefixtures("_installed")
def test_check_and_the_conformance_runner_know_the_example() -> None:
    bot = f"{shlex.join(BOT)} knock {{address}} --name ann --engine leftmost --games 0"
    status, out, err = run("gateway", "check", "knock", "--port", "0", "--wait", "2", "--run", bot)
    assert (status, others(err)) == (0, [])
    assert "by the clauses of its PROTOCOL.md" in out
    assert "ann: 4 right, 0 wrong, 0 remark, 0 never got to" in out
    status, out, err = run("conformance", "knock")
    assert (status, err) == (0, [])
    assert out.endswith("1 passed, 0 failed, 0 skipped\n")


FUZZED = """
from random import Random
from conformance.lab.fuzz.readers import TARGETS

target, lot = TARGETS["knock"], Random(1)
texts = [data for is_long in (False, True) for data in target.seeds(is_long)]
assert b"KNOCK {a}" in texts
for data in texts:
    target.try_(data)
    target.try_(bytes(lot.choice((byte, lot.randrange(256))) for byte in data))
"""


@pytest.mark.usefixtures("_installed")
def test_laboratory_has_a_reader_for_the_codec_of_the_example() -> None:
    subprocess.run([sys.executable, "-c", FUZZED], timeout=PATIENCE, check=True)


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize(
    ("module", "words"),
    [("gateway", ["check", "mute", "--port", "0"]), ("adapters.bot", ["mute", "127.0.0.1:1"])],
)
def test_part_that_cannot_be_loaded_is_named_where_it_is_asked_for(module: str, words: list[str]) -> None:
    status, _, err = run(module, *words)
    [line] = others(err)
    assert status == 1
    assert re.match(
        r"c4(gateway|bot): error: the plug-in 'mute' of the package 'c4mute' cannot be used", line
    )


@pytest.mark.operation
@pytest.mark.usefixtures("_installed")
def test_plug_in_that_is_left_out_is_an_object_in_a_log_of_json() -> None:
    status, _, err = run("gateway", "--log-json", "--clock", "never")
    left_out, error = map(json.loads, err)
    assert (status, left_out["event"], error["event"]) == (2, "plugin_left_out", "not_started")
    assert left_out["message"].startswith("the plug-in 'broken' of the package 'c4broken' cannot be used: ")


@pytest.mark.operation
@pytest.mark.usefixtures("_installed")
def test_supervisor_says_for_its_workers_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("C4_WORKER", "alone")
    assert run("gateway", "config")[2] == []
