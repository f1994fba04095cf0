"""The runner judges servers, so it shares no code with one."""

import ast
from pathlib import Path

import pytest

import conformance

MODULES = sorted(Path(conformance.__file__).parent.glob("*.py"))


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_runner_imports_nothing_of_the_server(path: Path) -> None:
    assert not imported(path) & {"gateway", "adapters", "wsproto", "trio_websocket"}
