"""Who may import whom: the direction of the arrows, read from the source."""

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from functools import cache

import pytest
from code_shape import OURS, ROOT, arrows, cycles, modules

from conformance.__main__ import COMMANDS

DIALECTS = ("nac4", "arena", "droidcon")
LIST = "adapters.front_ends"
"""What lists the dialects."""
ELSEWHERE = {
    "adapters.web.nac4",
    "adapters.web.api",
    "adapters.web.page.play",
    "gateway.store.commands",
}
"""What serves nac4's documents by web, the page on which people play, which is a client of arena's, and what
writes arena's own record of a game.
"""

PACKAGES = {
    "game": set[str](),
    "engines": {"game"},
    "matchmaking": {"game"},
    "hub": {"game", "matchmaking"},
    "cluster": {"game", "matchmaking", "hub"},
    "store": {"game"},
    "match": {"game", "engines", "store"},
    "server": {"game", "matchmaking", "hub", "engines", "store"},
}
"""The packages of the gateway, and what each of them may import."""
COMMANDS_HERE = {"adapters.dialect", "adapters.check.command"}
"""Commands that stand on the adapters' side, and what they are given."""
COMMAND = "gateway.__main__"
"""What reads the options, and imports what they ask for."""
FREE = {"gateway.disk", "gateway.processes", "gateway.histogram", "gateway.portion", "gateway.throttle"}
"""Modules of the gateway that are in no package, and open to all but the core."""
TOP = {"gateway", COMMAND, "gateway.cli", *FREE}
"""Modules of the gateway that are in no package."""
PURE = {
    "collections",
    "contextlib",
    "dataclasses",
    "difflib",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "math",
    "operator",
    "random",
    "types",
    "re",
    "struct",
    "typing",
    "unicodedata",
}
"""What the core needs of the standard library: nothing that reads, writes, waits or tells the time."""


MODULES = modules(ROOT)
ALL = sorted(MODULES)
CORE = [name for name in ALL if name.startswith(("gateway.game", "gateway.matchmaking", "gateway.hub"))]
"""What is pure."""
CLUSTER = [name for name in ALL if name.startswith(("gateway.cluster", "adapters.cluster"))]
PURE_OF_CLUSTER = [
    f"gateway.cluster.{name}"
    for name in (
        *("messages", "seats", "server", "own", "reporting", "proposals", "matchmaker"),
        *("games", "channel", "membership"),
    )
]
READING = "conformance.lab.reading.meter"
"""What measures the codecs, and so has to import them."""
STRENGTH = "conformance.lab.strength"
"""What measures the engines, and so has to import them."""
FUZZING = {
    f"conformance.lab.fuzz.{name}" for name in ("texts", "values", "memory", "visits", "seeds", "targets")
}
"""What hands bytes to every reader of the gateway, and so has to import them all."""
SIMULATING = {"conformance.lab.sprt", "conformance.lab.sprt_simulation"}
"""What simulates the test of a hypothesis, and so has to import it."""
IN_DIALECTS = [
    name
    for name in ALL
    if name.startswith("adapters.")
    and name.count(".") == 2
    and not name.startswith(("adapters.bot.", "adapters.web."))
]


def at_import(module: str) -> set[str]:
    """Return the modules of ours that are imported when a module is, its packages included."""
    found = _targets(first_imports(module)) & {*ALL}
    return found | {"adapters." + name.split(".")[1] for name in found if name.startswith("adapters.")} & {
        *ALL
    }


def theirs_at_import(module: str) -> set[str]:
    """Return the libraries that are imported when a module is."""
    return {name.split(".")[0] for name in _targets(first_imports(module))} - {*OURS}


def first_imports(module: str) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in MODULES[module].tree.body if isinstance(node, ast.Import | ast.ImportFrom)]


def source(module: str) -> str:
    return MODULES[module].text


def nodes(module: str) -> list[ast.AST]:
    return MODULES[module].nodes


@cache
def imports(module: str) -> set[str]:
    """Return the modules that a module imports, wherever in its text."""
    return _targets(nodes(module))


def _targets(nodes: Iterable[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{ast.unparse(node)} is relative"
            assert node.module is not None
            found |= {_imported(node.module, alias.name) for alias in node.names}
    return found


def _imported(package: str, name: str) -> str:
    whole = f"{package}.{name}"
    return whole if whole in ALL else package


@cache
def ours(module: str) -> set[str]:
    return {name for name in imports(module) if name.split(".")[0] in OURS}


@cache
def theirs(module: str) -> set[str]:
    return {name.split(".")[0] for name in imports(module)} - {*OURS}


def importers(*libraries: str) -> set[str]:
    """Return the modules that import one of the libraries."""
    return {name for name in ALL if theirs(name) & {*libraries}}


def offenders(modules: Iterable[str], offence: Callable[[str], object]) -> dict[str, object]:
    """Return what is wrong with each of the modules of which something is; there has to be one to look at."""
    looked_at = {name: offence(name) for name in modules}
    assert looked_at
    return {name: found for name, found in looked_at.items() if found}


def package(module: str) -> str:
    """Return the package of the gateway that a module is in, without its first name."""
    return (module + ".").split(".")[1]


# 1 and 2: the packages of the gateway.


def test_package_of_the_gateway_imports_what_it_may() -> None:
    def too_much(module: str) -> set[str]:
        here = package(module)
        allowed = PACKAGES[here] | {here}
        free = {"gateway", *FREE} if here in {"match", "store", "server"} else set[str]()
        return {name for name in ours(module) - free if package(name) not in allowed}

    members = [name for name in ALL if name.startswith("gateway") and name not in TOP]
    assert offenders(members, too_much) == {}


def test_one_module_alone_imports_the_cluster() -> None:
    assert {name for name in ALL if ours(name) & {*CLUSTER}} <= {*CLUSTER, "adapters.joining"}


def test_single_server_loads_nothing_of_the_cluster() -> None:
    seen, todo = set[str](), {"gateway.cli"}
    while todo:
        seen |= todo
        todo = {found for name in todo for found in at_import(name)} - seen
    assert not seen & {*CLUSTER}


def test_core_has_no_trio_and_no_io() -> None:
    reading = {"open", "print", "input", "exec", "eval", "__import__"}

    def impure(module: str) -> set[str]:
        names = {node.id for node in nodes(module) if isinstance(node, ast.Name)}
        return theirs(module) - PURE | names & reading

    assert offenders([*CORE, *PURE_OF_CLUSTER], impure) == {}


def test_core_waits_for_nothing() -> None:
    waiting = (ast.Await, ast.AsyncFor, ast.AsyncWith)
    waits = offenders(
        CORE, lambda each: [ast.unparse(node) for node in nodes(each) if isinstance(node, waiting)]
    )
    assert waits == {}


def test_core_knows_no_dialect_by_name() -> None:
    assert offenders(CORE, lambda each: [name for name in DIALECTS if name in source(each).lower()]) == {}


# 3 and 5: the outer gateway.


MATCH = "adapters.match.command"
"""The command that has a server of its own."""


def test_cli_alone_imports_the_adapters_and_the_command_their_list() -> None:
    users = {name for name in ALL if any(found.startswith("adapters") for found in ours(name))}
    assert {name for name in users if not name.startswith("adapters")} == {
        *(COMMAND, "gateway.cli", READING),
        *FUZZING,
    }
    assert {found for found in ours(COMMAND) if found.startswith("adapters")} == {LIST, MATCH, *COMMANDS_HERE}


@pytest.mark.parametrize("module", ["pairs", "sprt", "joint", "schedule"])
def test_what_a_match_reckons_with_is_pure(module: str) -> None:
    assert theirs(f"gateway.match.{module}") <= PURE
    assert all(name.startswith("gateway.match") for name in ours(f"gateway.match.{module}"))


def test_nothing_but_the_command_imports_the_match() -> None:
    users = {name for name in ALL if any(found.startswith("adapters.match") for found in ours(name))}
    assert {name for name in users if not name.startswith("adapters.match")} == {COMMAND}


def test_options_are_read_without_what_serves() -> None:
    seen, todo = set[str](), {"gateway.server.options", "gateway.server.health", LIST}
    while todo:
        seen |= todo
        todo = {found for name in todo for found in at_import(name)} - seen
    assert not {"trio", "sqlalchemy"} & {library for name in seen for library in theirs_at_import(name)}


def test_process_that_keeps_workers_running_loads_nothing_that_serves() -> None:
    seen, todo = set[str](), {"gateway.server.supervising"}
    while todo:
        seen |= todo
        todo = {found for name in todo for found in at_import(name)} - seen
    assert not [name for name in seen if name.startswith(("adapters.", "gateway.hub", "gateway.matchmaking"))]
    assert {library for name in seen for library in theirs_at_import(name)} - sys.stdlib_module_names == {
        "trio"
    }


def test_nothing_but_the_command_imports_the_cli() -> None:
    assert {name for name in ALL if "gateway.cli" in imports(name)} == {COMMAND}


# 4: the dialects.


def test_no_dialect_imports_another() -> None:
    def foreign(module: str) -> list[str]:
        others = {f"adapters.{dialect}" for dialect in DIALECTS} - {module.rpartition(".")[0]}
        return [name for name in ours(module) if name.startswith(tuple(others))]

    assert offenders(IN_DIALECTS, foreign) == {}


def test_dialect_is_named_in_its_folder_and_in_the_list_alone() -> None:
    named = {
        module: foreign
        for module in ALL
        if module.startswith(("gateway", "adapters")) and module not in {LIST, *ELSEWHERE}
        if (foreign := [each for each in DIALECTS if _names(module, each)])
    }
    assert named == {}


def _names(module: str, dialect: str) -> bool:
    return dialect in source(module).lower() and not f"{module}.".startswith(f"adapters.{dialect}.")


def test_list_names_every_folder_of_a_dialect_once() -> None:
    text = source(LIST)
    assert [text.count(f"{dialect}.DIALECT") for dialect in DIALECTS] == [1, 1, 1]
    folders = {path.parent.name for path in (ROOT / "adapters").glob("*/translator.py")}
    assert folders == {*DIALECTS}


@pytest.mark.parametrize(
    ("command", "side"),
    [
        ("gateway.cli", (".client", "adapters.bot")),
        ("adapters.bot.run", (".server", ".translator", "gateway.hub")),
    ],
)
def test_command_loads_no_dialect_s_other_side(command: str, side: tuple[str, ...]) -> None:
    seen, todo = set[str](), {command}
    while todo:
        seen |= todo
        todo = {found for name in todo for found in at_import(name)} - seen
    assert LIST in seen
    others = {name for name in seen if name.startswith(("adapters.", "gateway.hub"))} - {
        "adapters.house.server"
    }
    assert [name for name in others if name.endswith(side) or name.startswith(side)] == []


def test_wire_logs_know_games_and_events_alone() -> None:
    assert ours("adapters.wire_log") == {f"gateway.game.{name}" for name in ("board", "events", "ids")}
    assert theirs("adapters.wire_log") <= PURE


def test_heads_of_requests_know_nothing_of_ours() -> None:
    assert ours("gateway.server.heads") == set()
    assert theirs("gateway.server.heads") <= PURE | {"ipaddress"}


def test_cells_know_the_board_alone() -> None:
    assert ours("adapters.cells") | theirs("adapters.cells") == {"gateway.game.board"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_messages_import_nothing_of_ours(dialect: str) -> None:
    assert ours(f"adapters.{dialect}.messages") == set()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_codec_knows_its_messages_and_nothing_of_the_gateway(dialect: str) -> None:
    known = {f"adapters.{dialect}.messages", "adapters.contract"}
    helpers = {name for name in IN_DIALECTS if name.startswith(f"adapters.{dialect}.")} - {
        f"adapters.{dialect}.{role}"
        for role in ("messages", "codec", "translator", "server", "client", "check")
    }
    for module in {f"adapters.{dialect}.codec", *helpers}:
        assert ours(module) <= known | helpers


@pytest.mark.parametrize("dialect", DIALECTS)
def test_translator_knows_messages_commands_events_and_board(dialect: str) -> None:
    known = {f"adapters.{dialect}.messages", "adapters.contract", "adapters.cells"} | {
        f"gateway.game.{name}" for name in ("board", "commands", "events", "manners")
    }
    assert ours(f"adapters.{dialect}.translator") <= known


@pytest.mark.parametrize("dialect", DIALECTS)
def test_client_knows_nothing_of_the_server_but_the_board_and_its_own_dialect(dialect: str) -> None:
    known = {f"adapters.{dialect}.messages", f"adapters.{dialect}.codec", "gateway.game.board"}
    shared = {"adapters.bot.talk", "adapters.contract", "adapters.dial"}
    assert ours(f"adapters.{dialect}.client") <= known | shared


@pytest.mark.parametrize("dialect", DIALECTS)
def test_check_knows_what_is_asked_of_clients_and_its_own_dialect(dialect: str) -> None:
    own = {f"adapters.{dialect}.{role}" for role in ("messages", "codec", "translator")}
    known = own | {"adapters.check.rules", "gateway.game.commands", "gateway.game.events"}
    assert ours(f"adapters.{dialect}.check") <= known


def test_what_a_bot_s_check_comes_to_is_concluded_without_an_event_loop() -> None:
    pure = ("rules", "record", "scenarios", "strategies", "checkup", "play", "watching", "report")
    known = PURE | {"xml", "argparse"}
    assert offenders((f"adapters.check.{name}" for name in pure), lambda each: theirs(each) - known) == {}


def test_nothing_but_its_command_and_the_dialects_imports_the_check() -> None:
    users = {name for name in ALL if any(found.startswith("adapters.check") for found in ours(name))}
    inside = {name for name in ALL if name.startswith("adapters.check")}
    dialects = {f"adapters.{dialect}{module}" for dialect in DIALECTS for module in ("", ".check")}
    assert users - inside <= {COMMAND, "adapters.dialect", *dialects}


def test_only_servers_and_clients_know_trio() -> None:
    folders = tuple(f"adapters.{dialect}." for dialect in DIALECTS)
    others = [name for name in ALL if name.startswith(folders) and not name.endswith((".server", ".client"))]
    networking = {"trio", "outcome", "trio_websocket", "socket", "h11"}
    assert offenders(others, lambda each: theirs(each) & networking) == {}


def test_every_dialect_has_the_same_files() -> None:
    for dialect in DIALECTS:
        names = {name.rpartition(".")[2] for name in IN_DIALECTS if name.startswith(f"adapters.{dialect}.")}
        assert names >= {"messages", "codec", "translator", "server", "client", "check"}


def test_trio_websocket_stays_behind_the_transports() -> None:
    found = {name for name in importers("trio_websocket") if not name.startswith("conformance")}
    assert found <= {"adapters.websocket", "adapters.upgrade", "adapters.dial"}


# The bot: on the client's side of every dialect.

BOT = [name for name in ALL if name.startswith("adapters.bot")]
BOT_KNOWS = {
    LIST,
    "adapters.dialect",
    "adapters.contract",
    "adapters.dial",
    "adapters.trust",
    "gateway",
    "gateway.server.arguments",
    "gateway.server.files",
    "gateway.game.board",
    "gateway.game.notation",
    "gateway.engines",
    "gateway.engines.catalogue",
    "gateway.engines.failing",
    "gateway.game.text",
}


def test_bot_knows_of_dialects_what_the_list_says() -> None:
    assert offenders(BOT, lambda each: ours(each) - BOT_KNOWS - {*BOT}) == {}


def test_nothing_but_a_dialect_s_client_imports_the_bot_and_of_it_the_talk_alone() -> None:
    clients = {f"adapters.{dialect}.client" for dialect in DIALECTS}
    types = {"adapters.dialect", *(f"adapters.{dialect}" for dialect in DIALECTS)}
    for name in {*ALL} - {*BOT}:
        found = {found for found in ours(name) if found.startswith("adapters.bot")}
        assert found <= ({"adapters.bot.talk"} if name in clients | types else set())


# The engines.

ENGINES = [name for name in ALL if name.startswith("gateway.engines")]


def test_engines_know_the_board_and_each_other() -> None:
    known = sys.stdlib_module_names | {
        *("bitbully", "numpy", "gateway.game.board", "gateway.game.notation"),
        *ENGINES,
    }
    assert offenders(ENGINES, lambda each: (ours(each) | theirs(each)) - known) == {}


def test_the_solver_is_imported_by_none_but_the_perfect_player() -> None:
    assert importers("bitbully") == {"gateway.engines.perfect"}


def test_the_solver_is_imported_by_none_who_did_not_ask() -> None:
    at_import = ast.parse(source("gateway.engines.perfect")).body
    arrows = [node for node in at_import if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [node for node in arrows if "bitbully" in ast.unparse(node)]


def test_numpy_is_imported_by_none_who_did_not_ask() -> None:
    assert importers("numpy") == {"gateway.engines.playouts"}
    assert {name for name in ALL if "gateway.engines.playouts" in ours(name)} == {
        "gateway.engines.montecarlo"
    }
    assert not {name for name in ALL if "gateway.engines.montecarlo" in at_import(name)}


@pytest.mark.parametrize(
    "shown",
    [
        {"adapters.bot.cli"},
        {COMMAND, "adapters.front_ends", "gateway.server.arguments", "gateway.server.options"},
    ],
)
def test_help_waits_for_no_large_library(shown: set[str]) -> None:
    """c4gateway looks at the system before it imports what it shows."""
    seen, todo = set[str](), shown
    while todo:
        seen |= todo
        todo = {found for name in todo for found in at_import(name)} - seen
    assert len(seen) > 5
    heavy = {"trio", "trio_websocket", "ssl", "asyncio", "sqlalchemy", "numpy", "multiprocessing"}
    assert not heavy & {library for name in seen for library in theirs_at_import(name)}


def test_commands_on_results_wait_for_no_options_of_the_server() -> None:
    seen, todo = set[str](), {"gateway.server.reports"}
    while todo:
        seen |= todo
        todo = {found for name in todo for found in at_import(name)} - seen
    assert "gateway.server.commands" in seen
    assert not seen & {"gateway.server.options", LIST}


# The store.

STORE = [name for name in ALL if name.startswith("gateway.store")]
STORE_ON_THE_LOOP = [
    f"gateway.store.{name}"
    for name in ("records", "evidence", "outage", "open_games", "batcher", "clearing", "process")
]


def test_only_the_server_s_end_of_the_store_knows_trio() -> None:
    users = {name for name in STORE if "trio" in theirs(name)}
    assert users == {f"gateway.store.{name}" for name in ("open_games", "batcher", "clearing", "process")}


@pytest.mark.parametrize("module", STORE_ON_THE_LOOP)
def test_what_the_event_loop_needs_of_the_store_imports_no_database(module: str) -> None:
    seen, todo = set[str](), {module}
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= {found for found in ours(name) if found in ALL} - seen
    assert not {"sqlalchemy", "openskill"} & {library for name in seen for library in theirs(name)}


def test_databases_and_ratings_stay_in_the_store() -> None:
    assert importers("sqlalchemy", "sqlite3") - {*STORE} <= {"conformance.lab.kills.database"}
    assert importers("openskill") == {"gateway.store.totals"}


# The web.

WEB = [name for name in ALL if name == "adapters.web" or name.startswith("adapters.web.")]


def test_web_knows_the_store_and_no_dialect() -> None:
    always = {
        "adapters.admission",
        "adapters.boundary",
        "adapters.by_http",
        "adapters.cells",
        "adapters.passing",
        "adapters.sockets",
        "gateway.server.accepting",
        "gateway.server.acts",
        "gateway.server.heads",
        "gateway.server.limits",
        "gateway.server.linefile",
        "gateway.server.pauses",
        "gateway.server.proxies",
        "gateway.game.board",
        "gateway.game.events",
        "gateway.game.ids",
        "gateway.game.notation",
        "gateway.game.text",
        "gateway.processes",
        "gateway.server.logs",
        "gateway.server.metrics.requests",
        "gateway.throttle",
    }

    def unknown(module: str) -> set[str]:
        known = always | {*WEB, *STORE}
        known |= {"gateway.engines", "gateway.engines.perfect"} if module in SOLVING else set()
        known |= FACTS_KNOWN if module.startswith("adapters.web.live.") else set()
        known |= HUB_KNOWN if module in SERVERS_END else set()
        return ours(module) - known

    assert offenders(WEB, unknown) == {}


SOLVING = {"adapters.web.perfect", "adapters.web.solving"}


def test_process_that_works_out_positions_loads_the_solver_alone() -> None:
    """And no library of a server's: each game that is asked for may have to wait until it is loaded."""
    seen, todo = set[str](), {"adapters.web.solving"}
    while todo:
        seen |= todo
        todo = {found for name in todo for found in at_import(name)} - seen
    assert {library for name in seen for library in theirs(name)} <= {*PURE, "os", "importlib", "bitbully"}


def test_rows_of_a_timeline_are_found_without_an_event_loop() -> None:
    assert theirs("adapters.web.page.timeline") <= PURE


FACTS_KNOWN = {f"gateway.game.{name}" for name in ("commands", "facts", "ids", "results")}
"""What happens, as plain values."""
HUB_KNOWN = {"gateway.hub.feed", "gateway.hub.interfaces", "gateway.hub.seat", "gateway.server.operating"}
SERVERS_END = {
    "adapters.web.process",
    "adapters.web.link",
    "adapters.web.live.sender",
    "adapters.web.live.rows",
}
"""All of the web that there is in the process in which games are played."""


@pytest.mark.parametrize("module", ["model", "channel", "channels", "rows"])
def test_what_viewers_are_told_is_worked_out_without_an_event_loop(module: str) -> None:
    assert theirs(f"adapters.web.live.{module}") <= PURE


def test_process_in_which_games_are_played_loads_no_web_server_and_no_database() -> None:
    seen, todo = set[str](), {"gateway.cli"}
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= {found for found in ours(name) if found in ALL} - seen
    assert seen & {*WEB} == SERVERS_END
    others = {"hypercorn", "starlette", "jinja2", "sqlalchemy", "sqlite3", "openskill"}
    assert not others & {library for name in seen for library in theirs(name)}


def test_nothing_but_the_cli_imports_the_web() -> None:
    users = {name for name in ALL if ours(name) & {*WEB}}
    assert users - FUZZING <= {*WEB, "gateway.cli"}


@pytest.mark.parametrize("module", ["query", "nac4", "answers"])
def test_what_is_asked_and_answered_knows_no_web(module: str) -> None:
    assert theirs(f"adapters.web.{module}") <= PURE | {"re", "urllib"}


def test_libraries_of_the_web_stay_in_it() -> None:
    assert importers("starlette") <= {*WEB}
    assert importers("hypercorn") == {"adapters.web.server"}


@pytest.mark.parametrize(
    "late",
    [
        "adapters.web.process",
        "adapters.web.link",
        "gateway.server.archive",
        "gateway.server.metrics.families",
        "gateway.server.metrics.service",
    ],
)
def test_who_asks_for_no_web_and_no_store_pays_for_none(late: str) -> None:
    assert late in imports("gateway.cli")
    assert not [node for node in first_imports("gateway.cli") if late in ast.unparse(node)]


def test_library_for_metrics_is_imported_by_who_asks_for_metrics_alone() -> None:
    others = importers("prometheus_client") - {"conformance.lab.abuse.company"}
    assert others == {"gateway.server.metrics.families"}
    assert {name for name in ALL if "gateway.server.metrics.families" in ours(name)} == {"gateway.cli"}


def test_library_of_the_cluster_stays_in_its_adapter() -> None:
    assert importers("coredis") <= {"adapters.cluster.registry"}


# 6: conformance.


CONFORMANCE = [name for name in ALL if name.startswith("conformance")]


def test_conformance_imports_nothing_of_what_it_checks() -> None:
    measuring = {READING, STRENGTH, *SIMULATING, *FUZZING}
    others = [name for name in CONFORMANCE if name not in measuring]
    assert offenders(others, lambda each: ours(each) - {*CONFORMANCE}) == {}


def test_runner_imports_nothing_of_the_laboratory() -> None:
    laboratory = {name for name in CONFORMANCE if name.startswith("conformance.lab")}
    assert offenders({*CONFORMANCE} - laboratory, lambda each: ours(each) & laboratory) == {}


def test_no_command_of_the_laboratory_is_imported_by_another() -> None:
    commands = {f"conformance.lab.{name}" for name in COMMANDS.values()}
    assert offenders(CONFORMANCE, lambda each: ours(each) & commands) == {}


def test_what_measures_engines_imports_engines_and_boards_alone() -> None:
    known = (*CONFORMANCE, "gateway.engines", "gateway.game.board", "gateway.game.notation")
    assert all(name.startswith(known) for name in ours(STRENGTH))


def test_what_measures_reading_imports_neither_sessions_nor_translators() -> None:
    roles = {"codec", "messages", "contract", "framing"}
    assert all(name.startswith("adapters.") and name.rpartition(".")[2] in roles for name in ours(READING))


def test_nothing_but_the_hunter_imports_what_only_fuzzing_needs() -> None:
    assert importers("atheris") == {"conformance.lab.fuzz.hunter"}
    assert not [name for name in ALL if "conformance.lab.fuzz.hunter" in imports(name)]


def test_nothing_stands_on_the_tests() -> None:
    assert importers("tests") == set()


def test_what_is_checked_imports_nothing_of_conformance() -> None:
    product = [name for name in ALL if name not in CONFORMANCE]
    assert offenders(product, lambda each: ours(each) & {*CONFORMANCE}) == {}


def test_nothing_but_a_search_imports_what_only_tests_need() -> None:
    assert {name for name in ALL if "hypothesis" in theirs(name)} == {"conformance.lab.reading.search"}
    at_import = ast.parse(source("conformance.lab.reading.command")).body
    arrows = [node for node in at_import if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [node for node in arrows if "conformance.lab.reading.search" in ast.unparse(node)]


# Everywhere.


def test_modules_of_the_standard_library_and_dependencies_are_all_that_is_imported() -> None:
    dependencies = {
        "trio",
        "outcome",
        "trio_websocket",
        "trio_parallel",
        "wsproto",
        "h11",
        "edn_format",
        "ply",
        "bitbully",
        "sqlalchemy",
        "openskill",
        "hypercorn",
        "starlette",
        "jinja2",
        "prometheus_client",
        "coredis",
        "numpy",
        "segno",
    }
    imported = {library for name in ALL for library in theirs(name)}
    assert imported - {"hypothesis", "atheris"} <= dependencies | sys.stdlib_module_names


@pytest.mark.parametrize("library", ["trio-websocket", "wsproto", "edn-format"])
def test_library_of_which_insides_are_used_has_a_newest_version(library: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [wanted] = [each for each in project["dependencies"] if each.startswith(f"{library}>")]
    assert ",<" in wanted


PRIVATE = {
    *("_handle_message_event", "_handle_ping_event", "_reader_task", "_get_request"),
    *("_proto", "_parse_more"),
}
"""What is used of trio-websocket, and of wsproto, beyond its interface, apart from what `self` has of it."""


def test_private_names_of_websocket_libraries_are_those_that_are_known() -> None:
    modules = ("adapters.websocket", "adapters.upgrade", "adapters.dial")
    attributes = [node for each in modules for node in nodes(each) if isinstance(node, ast.Attribute)]
    others = [node for node in attributes if ast.unparse(node.value) != "self"]
    assert {node.attr for node in others if re.match("_[^_]", node.attr)} == PRIVATE


def test_module_opens_with_an_essay() -> None:
    silent = {name for name, each in MODULES.items() if each.text and not ast.get_docstring(each.tree)}
    assert silent == set()


def test_imports_go_round_nowhere() -> None:
    assert cycles(arrows(MODULES)) == set()


def test_imports_that_go_round_are_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c", "d"}, "c": {"b"}, "d": set(), "e": {"e"}}) == {"b", "c", "e"}
