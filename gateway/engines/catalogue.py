"""The engines by name.

Knows all engines, and how to load one of the user's own, or of a package with an entry point. A name may run
a module, a file or a command, so names must come from the user's command line, never from the network.
"""

import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from random import choice
from types import ModuleType

from gateway.engines import Engine, EngineUnavailable, UnknownEngine, WithArgument, in_words
from gateway.engines.perfect import perfect, require
from gateway.engines.search import alpha_beta
from gateway.game.board import COLUMNS, Board
from gateway.game.commands import HOUSE_PLAYERS
from gateway.runtime.plugins import Plugin, PluginError, plugins

CATALOGUE = (
    "random, aima, aimafast, aima10, mc:N, mcts:N, mctime, mctstime, perfect, module:function, exec:command,"
    " ugi:command, kaggle:file, azg:file:name, openspiel:file:name, pettingzoo:file:name, those of plug-ins"
)
"""The names that `engine_named` accepts, for help texts. N is a number of simulations."""
PLUGINS = "c4gateway.engines"
"""The group of the entry points of engines. The name of an entry point is the engine's name."""

SECONDS = {"aima": 0.5, "aimafast": 0.01, "aima10": 10.0}
"""The longest time for a move, in seconds, of each engine of alpha-beta search."""
THINK = 1.0
"""The default time for a move, in seconds, of an engine that uses all of its time."""

_SIMPLE: dict[str, Engine] = {
    **{name: partial(alpha_beta, limit=limit) for name, limit in SECONDS.items()},
}
_COUNTED = frozenset({"mc", "mcts"})
_PROGRAMS = frozenset({"exec", "ugi"})
_MAKERS = {
    "exec": "external:program",
    "ugi": "ugi:program",
    "kaggle": "kaggle:agent_in",
    "azg": "azg:player_in",
    "openspiel": "openspiel:bot_in",
    "pettingzoo": "pettingzoo:policy_in",
}
"""The kinds of engines of the user, and the functions of this package that make them."""
_WITH_NUMPY = frozenset({"azg", "pettingzoo"})
_TIMED = frozenset({"mctime", "mctstime"})
_BUILT_IN = frozenset({"random", "perfect", *_SIMPLE, *_COUNTED, *_TIMED, *_MAKERS})
"""The names, up to a colon, that no plug-in can have."""
_DIGITS = 9


def engine_named(name: str) -> Engine:
    """Return the engine called `name`.

    Raises UnknownEngine if there is none, EngineUnavailable if a package that it needs is not installed.
    """
    kind, _, rest = name.partition(":")
    if kind in _COUNTED:
        return partial(_monte_carlo(kind), games=_number(name, rest))
    if name == "random":
        return anywhere
    if name == "perfect":
        require()
        return perfect
    if name in _TIMED:
        return _monte_carlo(name.removesuffix("time"))
    if name in _SIMPLE:
        return _SIMPLE[name]
    return _own(name)


def house_players() -> list[str]:
    """Return the names of the house players whose engines are installed, in alphabetical order."""
    return [name for name in sorted(HOUSE_PLAYERS) if is_installed(name)]


def is_installed(name: str) -> bool:
    """Return whether the engine called `name` is installed."""
    try:
        engine_named(name)
    except EngineUnavailable:
        return False
    return True


def check_engine(name: str) -> None:
    """Check the name of an engine, as far as possible without running the user's Python code.

    Raises UnknownEngine or EngineUnavailable, as `engine_named` does.
    """
    kind, _, rest = name.partition(":")
    if not runs_user_code(name):
        engine_named(name)
    elif kind in _MAKERS:
        from gateway.engines import files  # noqa: PLC0415  rarely needed

        _maker(kind)
        files.code_in(rest) if kind == "kaggle" else files.check(kind, rest)
    elif _plugin(name) is None:
        _check_function(name, kind, rest)


def runs_user_code(name: str) -> bool:
    """Whether the engine called `name` is the user's Python code, which runs in the caller's process."""
    kind, colon, _ = name.partition(":")
    return (bool(colon) and kind not in _COUNTED | _PROGRAMS) or _plugin(name) is not None


def is_program(name: str) -> bool:
    """Whether the engine called `name` is a program of the user's, which shares this process's stderr."""
    kind, colon, _ = name.partition(":")
    return bool(colon) and kind in _PROGRAMS


def limits_itself(name: str) -> bool:
    """Whether the engine called `name` ends its search by itself, however large its budget is."""
    kind, colon, _ = name.partition(":")
    if kind in _COUNTED | (_MAKERS.keys() - _PROGRAMS):
        return True
    return not colon and name not in _TIMED and _plugin(name) is None


def anywhere(board: Board, _budget: float) -> int:
    """Return a random playable column."""
    return choice([column for column in range(COLUMNS) if board.has_room(column)])


def _monte_carlo(kind: str) -> Callable[..., int]:
    module = _with_numpy(kind, "montecarlo")
    engine: Callable[..., int] = module.flat if kind == "mc" else module.uct
    return engine


def _with_numpy(kind: str, module: str) -> ModuleType:
    """Import a module of this package that needs numpy, which takes 0.1 s. Raises EngineUnavailable."""
    try:
        return import_module(f"gateway.engines.{module}")
    except ImportError:
        raise EngineUnavailable(
            f"{kind} needs numpy 2.0 or later, which is not here: {sys.executable} -m pip install 'numpy>=2'"
        ) from None


def _maker(kind: str) -> Callable[[str], Engine]:
    """Return what makes an engine of the user of the text after its kind. Raises EngineUnavailable."""
    module, _, function = _MAKERS[kind].partition(":")
    home = _with_numpy(kind, module) if kind in _WITH_NUMPY else import_module(f"gateway.engines.{module}")
    maker: Callable[[str], Engine] = getattr(home, function)
    return maker


def _meant(name: str) -> str:
    """Return a question if the name is nearly that of an engine."""
    kind, colon, _ = name.partition(":")
    kinds = [f"{each}:" for each in (*sorted(_COUNTED), *_MAKERS)]
    names = [] if colon else [*_SIMPLE, *sorted(_TIMED), "random", "perfect"]
    first = "".join(kind.lower().split()[:1])  # as in "ugi ./engine"
    near = get_close_matches(first + colon, [*names, *kinds], 1)
    return f" (did you mean {near[0]}?)" if near else ""


def _number(name: str, digits: str) -> int:
    if digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS and int(digits) > 0:
        return int(digits)
    raise UnknownEngine(f"{name!r} needs a number of simulations, as in {name.partition(':')[0]}:1000")


def _plugin(name: str) -> Plugin | None:
    """Return the plug-in that has the engine called `name`; None if there is none. Does not load it."""
    kind = name.partition(":")[0]
    if kind in _BUILT_IN:
        return None
    return next((each for each in plugins(PLUGINS) if each.name == kind), None)


def _plugged(plugin: Plugin, name: str) -> Engine:
    """Load a plug-in's engine. Raises UnknownEngine."""
    _, colon, argument = name.partition(":")
    try:
        found = plugin.load()
    except PluginError as error:
        raise UnknownEngine(str(error)) from error
    if isinstance(found, WithArgument):
        if not argument:
            raise UnknownEngine(f"{name!r} needs an argument, as in {plugin.name}:{found.argument}")
        try:
            found = found.make(argument)
        except ValueError as error:
            raise UnknownEngine(f"{name!r}: {' '.join(str(error).split())}") from error
        except (Exception, SystemExit) as error:
            raise UnknownEngine(str(plugin.error(error))) from error
    elif colon:
        raise UnknownEngine(f"{name!r}: the engine {plugin.name} takes no argument")
    if not callable(found):
        raise UnknownEngine(str(plugin.error(f"{plugin.point.value} is no function")))
    engine: Engine = found
    return engine


def _own(name: str) -> Engine:
    module, colon, function = name.partition(":")
    if colon and module in _MAKERS:
        return _maker(module)(function)
    if (plugin := _plugin(name)) is not None:
        return _plugged(plugin, name)
    if not colon:
        raise UnknownEngine(f"there is no engine {name!r}{_meant(name)}, but {CATALOGUE}")
    _check_function(name, module, function)
    try:
        home = import_module(module)
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise UnknownEngine(f"engine {name!r} cannot be imported: {in_words(error)}") from error
    found = getattr(home, function, None)
    if not callable(found):
        place = getattr(home, "__file__", None) or f"the module {module!r}"
        raise UnknownEngine(f"engine {name!r}: there is no function {function!r} in {place}")
    engine: Engine = found
    return engine


def _check_function(name: str, module: str, function: str) -> None:
    if not all(part.isidentifier() for part in (*module.split("."), function)):
        raise UnknownEngine(f"{name!r}{_meant(name)} is neither module:function nor one of {CATALOGUE}")
    top = module.partition(".")[0]
    if top not in sys.modules and find_spec(top) is None:
        raise UnknownEngine(f"engine {name!r} cannot be imported: No module named {top!r}{_meant(name)}")
