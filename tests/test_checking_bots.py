"""`c4gateway check` names the one mistake that a bot makes, and no other; and finds none in bots without."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checked_bot import MISTAKES
from forking import ROOT

LIMIT = 120
"""Seconds for a check."""


def checked(where: Path, dialect: str, bot: str, *options: str) -> tuple[int, dict[str, object]]:
    """Check a bot, which is started as often as need be; return the exit status and the report."""
    file = where / "report.json"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "gateway", "check", dialect, "--port", "0", "--run", bot, *options),
            *("--patience", "1.5", "--slow", "1", "--wait", "4", "--json", str(file)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
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
    (found,) = rows(report, "wrong")
    assert found.startswith(MISTAKES[dialect][mistake])
    assert status == 1


@pytest.mark.parametrize(
    "dialect", ["nac4", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("arena", "droidcon"))]
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
    bot.write_text(script.replace('"ws://127.0.0.1:8001"', '__import__("sys").argv[1]'))
    status, report = checked(tmp_path, "arena", python(str(bot), "{address}"))
    assert (status, rows(report, "wrong")) == (0, [])
    assert report["bot"] == "robot"


def test_bot_that_cannot_be_started_is_an_error():
    done = subprocess.run(
        [sys.executable, "-m", "gateway", "check", "nac4", "--port", "0", "--run", "/no/such/bot"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "c4gateway: error: /no/such/bot: No such file or directory\n"
