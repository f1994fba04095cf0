"""Who may import whom: the contracts in pyproject.toml hold, and what they cannot say.

That is, what a program loads as it starts, which takes time, and what is written in the source of a module.
"""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path.read_text()
    for top in ("gateway", "adapters", "conformance")
    for path in (ROOT / top).rglob("*.py")
}
NAMES = {".".join(name.split(".")[:parts]) for name in SOURCES for parts in range(1, 6)}
TREES = {name: ast.parse(text) for name, text in SOURCES.items()}
DIALECTS = sorted(path.parent.name for path in (ROOT / "adapters").glob("*/translator.py"))
SLOW = "asyncio multiprocessing numpy sqlalchemy ssl trio trio_websocket"
HUB = "gateway.hub gateway.matchmaking"
WEB = "jinja2 sqlalchemy starlette"
CLIENTS = " ".join(f"adapters.{each}.client" for each in DIALECTS)
SERVERS = " ".join(f"adapters.{each}.server adapters.{each}.translator" for each in DIALECTS)

# What is imported; what is not loaded then, nor anything in it; and one that is loaded.
LOADS = [
    ("adapters.bot.__main__", SLOW, "adapters.dialects"),
    ("adapters.bot.bot", f"{SERVERS} {HUB}", "adapters.dialects"),
    ("gateway.__main__ adapters.dialects gateway.options.server", SLOW, "gateway.options.sources"),
    ("gateway.options.server gateway.commands.health", "sqlalchemy trio", "gateway.options.sources"),
    ("gateway.commands.reports", "adapters gateway.options.server trio", "gateway.options.names"),
    ("gateway.server.supervisor", f"adapters {HUB} numpy sqlalchemy trio_websocket", "trio"),
    ("gateway.runtime.processes", "gateway.server trio", "subprocess"),
    ("gateway.store.journal", f"adapters {HUB} {WEB} trio", "gateway.runtime.processes"),
    ("gateway.store.worker", f"adapters {HUB} starlette trio", "sqlalchemy"),
    ("gateway.cli", f"{WEB} {CLIENTS} adapters.bot adapters.check adapters.web numpy", "adapters.dialects"),
    ("gateway.cli", "adapters.cluster coredis gateway.cluster", "gateway.options.clustering"),
    ("gateway.cli", "gateway.server.metrics.families prometheus_client", "gateway.server.metrics.tally"),
    ("gateway.cli", "gateway.server.archive gateway.store.batcher", "gateway.hub.hub"),
    ("adapters.web.solving", f"{HUB} {SLOW} bitbully starlette", "gateway.engines.perfect"),
    ("adapters.house.worker", f"{HUB} bitbully trio", "gateway.engines.catalogue"),
    ("gateway.engines.catalogue gateway.engines.perfect", "bitbully numpy", "gateway.engines.search"),
]
FILES_OF_A_DIALECT = """
[[tool.importlinter.contracts]]
id = "dialects"
name = "Every dialect has the same files, in this order"
type = "layers"
containers = {}
layers = [
    "check | client | server", "(options)", "(observers)", "translator", "codec", "(maps)", "(edn)",
    "(forms)", "messages",
]
exhaustive = true
"""
"""A contract about the files of dialects, whose folders are in place of the braces."""
NAMED_ELSEWHERE = {
    "adapters.web.nac4",
    "adapters.web.api",
    "adapters.web.page.views",
    "gateway.store.formats",
}
"""What serves nac4's documents by web, the page on which people play, which is a client of arena's, and what
writes arena's own record of a game.
"""


def test_contracts_hold(tmp_path: Path) -> None:
    config, dialects = tmp_path / "pyproject.toml", [f"adapters.{each}" for each in DIALECTS]
    rules = (ROOT / "pyproject.toml").read_text().replace("(adapters.EACH_DIALECT)", " | ".join(dialects))
    config.write_text(rules + FILES_OF_A_DIALECT.format(dialects))
    linter = Path(sys.executable).with_name("lint-imports")
    command = [linter, "--no-cache", "--no-logo", "--config", config]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_has_its_layer() -> None:
    contracts = {each["id"]: each for each in PROJECT["tool"]["importlinter"]["contracts"]}
    listed = {name for layer in contracts["layers"]["layers"] for name in layer.split(" | ")}
    packages = {
        ".".join(name.split(".")[:2]) for name in SOURCES if name.startswith(("gateway.", "adapters."))
    }
    assert {*listed} - {"(adapters.EACH_DIALECT)"} == packages - {f"adapters.{each}" for each in DIALECTS}


@pytest.mark.parametrize(("imported", "left_out", "loaded"), LOADS)
def test_what_starts_loads_no_more_than_it_needs(imported: str, left_out: str, loaded: str) -> None:
    assert [
        name for name in left_out.split() if name.startswith(("gateway", "adapters")) and name not in NAMES
    ] == []
    program = f"import sys, {', '.join(imported.split())}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = done.stdout.split()
    assert loaded in found
    assert [
        name for name in found if any(f"{name}.".startswith(f"{each}.") for each in left_out.split())
    ] == []


def test_dialect_is_named_in_its_folder_and_in_the_list_alone() -> None:
    others = {*SOURCES} - {"adapters.dialects", *NAMED_ELSEWHERE}
    named = [
        (name, dialect)
        for name in others
        for dialect in DIALECTS
        if not f"{name}.".startswith(("conformance.", f"adapters.{dialect}."))
        and dialect in SOURCES[name].lower()
    ]
    assert named == []
    assert [
        name for name in NAMED_ELSEWHERE if not any(each in SOURCES[name].lower() for each in DIALECTS)
    ] == []


def test_libraries_that_are_imported_are_dependencies() -> None:
    project = PROJECT["project"]
    wanted = [
        *project["dependencies"],
        *(each for one in project["optional-dependencies"].values() for each in one),
    ]
    known = {re.split(r"[^A-Za-z0-9-]", each)[0].replace("-", "_") for each in wanted}
    imported = {
        name.split(".")[0]
        for node in (node for tree in TREES.values() for node in ast.walk(tree))
        for name in imported_by(node)
    }
    assert imported - known - {*sys.stdlib_module_names} == {"gateway", "adapters", "conformance"}


def imported_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names):
            return [each.name for each in names]
        case ast.ImportFrom(str(module)):
            return [module]
        case _:
            return []


@pytest.mark.parametrize("library", ["wsproto", "edn-format"])
def test_library_of_which_insides_are_used_has_a_newest_version(library: str) -> None:
    [wanted] = [each for each in PROJECT["project"]["dependencies"] if each.startswith(f"{library}>")]
    assert ",<" in wanted


def test_no_private_name_of_a_library_for_websockets_is_used() -> None:
    modules = ("adapters.client.framing", "adapters.client.dial", "adapters.entrance.handshake")
    attributes = [
        node for each in modules for node in ast.walk(TREES[each]) if isinstance(node, ast.Attribute)
    ]
    others = [node for node in attributes if ast.unparse(node.value) != "self"]
    assert {node.attr for node in others if re.match("_[^_]", node.attr)} == set()


def test_module_says_what_it_is() -> None:
    assert [name for name, tree in TREES.items() if not ast.get_docstring(tree)] == ["adapters"]
