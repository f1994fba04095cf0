"""`c4gateway check` names the one mistake that a bot makes, and no other; and finds none in bots without."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import certificates
import pytest
from checked_bot import MISTAKES
from forking import ROOT

from gateway.__main__ import main

LIMIT = 120
"""Seconds for a check."""


def run(dialect: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gateway", "check", dialect, "--port", "0", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def checked(
    where: Path, dialect: str, bot: str, *options: str, patience: float = 1.5, wait: float = 4
) -> tuple[int, dict[str, object]]:
    """Check a bot, which is started as often as need be; return the exit status and the report."""
    file = where / "report.json"
    pace = ("--patience", str(patience), "--slow", "1", "--wait", str(wait))
    done = run(dialect, "--run", bot, *options, *pace, "--json", str(file))
    assert done.stderr == ""
    return done.returncode, json.loads(file.read_text())["bots"][0]


def rows(report: dict, verdict: str) -> list[str]:
    return [f"{row['clause']} {row['duty']}" for row in report["rules"] if row["verdict"] == verdict]


def python(script: str, *arguments: str) -> str:
    return " ".join([sys.executable, script, *(f"'{each}'" for each in arguments)])


FEW = 1
"""Mistakes of each dialect that are looked for before a change lands."""


@pytest.mark.operation
@pytest.mark.parametrize(
    ("dialect", "mistake"),
    [
        pytest.param(each, one, marks=[pytest.mark.thorough] if number >= FEW else [])
        for each in MISTAKES
        for number, one in enumerate(MISTAKES[each])
    ],
)
def test_one_mistake_is_named_and_no_other(dialect, mistake, tmp_path):
    bot = python("tests/checked_bot.py", dialect, "{address}", mistake)
    status, report = checked(tmp_path, dialect, bot)
    wrong = rows(report, "wrong")
    (found,) = wrong or rows(report, "remark")
    assert found.startswith(MISTAKES[dialect][mistake])
    assert status == bool(wrong)


@pytest.mark.operation
@pytest.mark.parametrize(
    "dialect",
    ["nac4", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("arena", "droidcon", "i32cfsp"))],
)
def test_bot_without_a_mistake_passes(dialect, tmp_path):
    status, report = checked(tmp_path, dialect, python("tests/checked_bot.py", dialect, "{address}", ""))
    assert (status, rows(report, "wrong"), rows(report, "remark")) == (0, [], [])
    assert len(rows(report, "right")) > 20


@pytest.mark.thorough
@pytest.mark.parametrize("dialect", MISTAKES)
def test_c4bot_passes(dialect, tmp_path):
    options = "--name ann --engine random --games 0 --reconnect"
    bot = f"{sys.executable} -m adapters.bot {dialect} {{address}} {options}"
    status, report = checked(tmp_path, dialect, bot)
    assert (status, rows(report, "wrong")) == (0, [])


@pytest.mark.thorough
def test_bot_of_the_readme_passes(tmp_path):
    (script,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    bot = tmp_path / "bot.py"
    bot.write_text(script)
    status, report = checked(tmp_path, "arena", python(str(bot), "{address}"))
    assert (status, rows(report, "wrong")) == (0, [])
    assert report["bot"] == "robot"


@pytest.mark.thorough
@certificates.needs_openssl
@pytest.mark.parametrize("dialect", MISTAKES)
def test_bot_that_speaks_tls_only_passes(dialect, tmp_path):
    files, ca = certificates.signed(tmp_path)
    options = f"--ca {ca} --name ann --engine random --games 0 --reconnect"
    bot = f"{sys.executable} -m adapters.bot {dialect} {{address}} {options}"
    status, report = checked(tmp_path, dialect, bot, *files.options)
    assert (status, rows(report, "wrong"), report["bot"]) == (0, [], "ann")


@pytest.mark.thorough
def test_two_bots_of_one_name_are_told_of(tmp_path):
    bot = (
        f"{sys.executable} -m adapters.bot nac4 {{address}} --name ann --engine random --games 0 --reconnect"
    )
    done = run("nac4", "--run", bot, "--run", bot, "--patience", "1", "--slow", "1", "--wait", "2")
    assert done.returncode == 1
    assert done.stderr == "c4gateway: error: 1 of 2 bots came, 0 good\n"
    assert done.stdout.endswith("\n1 of 2 bots came, 0 good\n  ann  several connections at once\n")


def test_port_that_is_in_use_is_an_error_that_says_what_to_do(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["check", "nac4", "--port", str(port)]) == 1
    told = f"c4gateway: error: cannot listen on 127.0.0.1, port {port}: Address already in use"
    assert capsys.readouterr().err == f"{told}; --port takes another one, 0 any that is free\n"


def test_bot_that_cannot_be_started_is_an_error():
    done = run("nac4", "--run", "/no/such/bot")
    assert done.returncode == 1
    assert done.stderr == "c4gateway: error: /no/such/bot: No such file or directory\n"
