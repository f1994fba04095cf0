"""Where options come from: the command line, else the environment, else a file, else their defaults.

Knows of an option what argparse keeps of it: its name, its type, whether it is a flag or may be given several
times. Does not know what any option is for, so a further one needs no word here. The rules it keeps:

- ``--log-level`` is ``C4GATEWAY_LOG_LEVEL`` in the environment, and ``log-level`` in a file.
- Its own type reads an option, whatever it comes from. What is wrong is one line that names the source.
- A source gives an option as a whole: hosts on the command line replace those of the file.
- No password or token is shown.
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gateway.game.text import visible
from gateway.options.arguments import Options, Parser, in_one_line, listed
from gateway.options.command_names import EVERY, MASK, masked
from gateway.runtime.files import read_file

PREFIX = "C4GATEWAY_"
"""What the environment's variables with options begin with."""
CONFIG = "config"
"""The option that names the file."""
DEFAULT = "default"
COMMAND_LINE = "command line"

_LONGEST_FILE = 1024 * 1024
ON = ("true", "1", "yes", "on")
"""How a flag is given in the environment and in a file."""
_OFF = ("false", "0", "no", "off")
_SECRET = re.compile(r"(^|-)(token|secret|password)$")
_UNSAID: list[object] = []
"""What an option has that is not on the command line: a list, because argparse appends to a copy of it."""

_IS_OFF = object()
"""The value of a flag that is off."""

_Actions: TypeAlias = Mapping[str, argparse.Action]
"""Options, by their names without dashes in front."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a variable or a file says of an option."""

    value: object
    """As the option's type reads it; `_IS_OFF` for a flag that is off."""
    source: str


@dataclass(frozen=True, slots=True)
class Settings:
    """All options of a command, and where each comes from, by the names of their attributes."""

    options: Options
    sources: Mapping[str, str]

    def is_typed(self, name: str) -> bool:
        """Whether the option is on the command line."""
        return self.sources[name] == COMMAND_LINE


def add_options(parser: Parser) -> None:
    """Add the option that names the file."""
    parser.add_argument(
        f"--{CONFIG}",
        metavar="FILE",
        help="take options from this file, in TOML: log-level = 'debug'; any may be in the environment, too,"
        f" as {PREFIX}LOG_LEVEL; the command line comes first, then the environment",
    )


def settle(parser: Parser, arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Return the options in force.

    Exits with status 2, after a line on stderr, where an option or its source is wrong.
    """
    actions = _actions(parser)
    unsaid = dict.fromkeys((action.dest for action in actions.values()), _UNSAID)
    known, others = parser.parse_known_args(arguments, argparse.Namespace(**unsaid))
    if others:
        parser.error(_unknown(others))
    typed = {name: value for name, value in vars(known).items() if value is not _UNSAID}
    try:
        variables = _variables(actions, environment)
        named = Setting(typed[CONFIG], f"--{CONFIG}") if CONFIG in typed else variables.get(CONFIG)
        file = {} if named is None else _file(actions, str(named.value), named.source)
        latest = file | variables
        given = _given(file, latest, actions) | _given(variables, latest, actions)
    except ValueError as error:
        parser.error(str(error))
    given |= {name: Setting(value, COMMAND_LINE) for name, value in typed.items()}
    defaults = vars(parser.parse_args([]))
    options = Options(**defaults | {name: each.value for name, each in given.items()})
    sources = dict.fromkeys(defaults, DEFAULT) | {name: each.source for name, each in given.items()}
    return Settings(options, sources)


def asks_for(flag: str, arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the environment, or else the file, turns a flag on, whatever else there is wrong."""
    if (asked := environment.get(variable(flag))) is not None:
        return asked.casefold() in ON
    source = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    source.add_argument(f"--{CONFIG}", default=environment.get(variable(CONFIG)))
    try:
        path = source.parse_known_args(arguments)[0].config
        return path is not None and str(_table(path, CONFIG).get(flag)).casefold() in ON
    except (argparse.ArgumentError, ValueError):
        return False


def _unknown(words: Sequence[str]) -> str:
    """Return what is wrong with words that are no options, or the name of a command behind some."""
    if words[0] in EVERY:
        return f"a command comes before its options: c4gateway {words[0]} ..."
    return f"unrecognized arguments: {' '.join(words)}"


def shown(parser: Parser, settings: Settings) -> Iterator[str]:
    """Return the options in force as lines of such a file; a comment says where each comes from."""
    actions, keys = _actions(parser), dict[str, list[str]]()
    for key, action in actions.items():
        keys.setdefault(action.dest, []).append(key)
    for name, several in keys.items():
        value = getattr(settings.options, name)
        flags = (key for key in several if _is_flag(actions[key]) and actions[key].const == value)
        key = next(flags, several[0])
        line = _line(key, value == actions[key].const if _is_flag(actions[key]) else value)
        yield f"{line:39} # {visible(settings.sources[name])}"


def variable(key: str) -> str:
    """Return the environment's name for an option, which is called `key` without the dashes in front."""
    return PREFIX + key.upper().replace("-", "_")


def _actions(parser: Parser) -> _Actions:
    named = {max(each.option_strings, key=len).lstrip("-"): each for each in parser._actions}
    return {key: action for key, action in named.items() if action.default != argparse.SUPPRESS}


def _is_flag(action: argparse.Action) -> bool:
    return action.nargs == 0


def _line(key: str, value: object) -> str:
    if value is None:
        return f"# {key} = none"
    shown = MASK if _SECRET.search(key) else _masked(value)
    return f"{key} = {visible(json.dumps(shown, ensure_ascii=False, default=str))}"


def _masked(value: object) -> object:
    """Return a value without the passwords of the URLs in it."""
    if isinstance(value, list):
        return [_masked(each) for each in value]
    if isinstance(value, str):
        return masked(value)
    return value


# Reading the environment and the file. All of these raise ValueError.


def _variables(actions: _Actions, environment: Mapping[str, str]) -> dict[str, Setting]:
    """Return what the environment says, by option."""
    keys = {variable(key): key for key in actions}
    said = dict[str, Setting]()
    for name, text in sorted(environment.items()):
        if name.startswith(PREFIX):
            _require_known(name, keys, "in the environment")
            action = actions[keys[name]]
            raw = [each.strip() for each in text.split(",")] if _takes_several(action) else text
            said[keys[name]] = Setting(_read(action, raw, name), name)
    return said


def _file(actions: _Actions, path: str, option: str) -> dict[str, Setting]:
    """Return what a file says, by option."""
    said = dict[str, Setting]()
    for key, value in _table(path, option).items():
        _require_known(key, [each for each in actions if each != CONFIG], f"in {path}")
        said[key] = Setting(_read(actions[key], value, f"{path}: {key}"), path)
    return said


def _table(path: str, option: str) -> dict[str, Any]:
    """Return what a file has."""
    import tomllib  # noqa: PLC0415  most starts read no file

    try:
        return tomllib.loads(read_file(path, option, _LONGEST_FILE).decode())
    except OSError as error:
        raise ValueError(in_one_line(error)) from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not TOML: {in_one_line(error)}") from error


def _require_known(name: str, known: Iterable[str], where: str) -> None:
    if name not in known:
        from difflib import get_close_matches  # noqa: PLC0415  as above

        close = get_close_matches(name, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"{name!r} {where} is not an option{hint}")


def _given(
    said: Mapping[str, Setting], latest: Mapping[str, Setting], actions: _Actions
) -> dict[str, Setting]:
    """Return what one source says, by attribute, but for flags that are off, and what a later source says.

    So ``C4GATEWAY_NO_WEB=false`` withdraws ``no-web = true`` of a file, and leaves its ``web = 80`` in force.
    """
    given = dict[str, Setting]()
    for key, setting in said.items():
        name = actions[key].dest
        if latest[key] is setting and setting.value is not _IS_OFF:
            if name in given:
                raise ValueError(f"{setting.source}: give one of {_listed(name, actions)}")
            given[name] = setting
    return given


def _listed(name: str, actions: _Actions) -> str:
    return listed([key for key, action in actions.items() if action.dest == name], "and")


def _takes_several(action: argparse.Action) -> bool:
    return isinstance(action, argparse._AppendAction)


def _read(action: argparse.Action, raw: object, where: str) -> object:
    """Return the value that an option gets from a text, or from a value of TOML's."""
    try:
        if _is_flag(action):
            return action.const if _is_on(raw) else _IS_OFF
        texts = [_text(each) for each in raw] if isinstance(raw, list) else [_text(raw)]
        if _takes_several(action):
            return [_value(action, text) for text in texts]
        return _value(action, ",".join(texts))  # a list is for an option that takes its text apart
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _is_on(raw: object) -> bool:
    word = str(raw).casefold()
    if word not in (*ON, *_OFF):
        raise ValueError(f"{raw!r} is neither true nor false")
    return word in ON


def _text(raw: object) -> str:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise ValueError("give a text or a number")
    return str(raw)


def _value(action: argparse.Action, text: str) -> object:
    read = action.type if callable(action.type) else str
    try:
        value: object = read(text)
    except argparse.ArgumentTypeError as error:
        raise ValueError(str(error)) from error
    if action.choices is not None and value not in action.choices:
        raise ValueError(f"{text!r} is none of {', '.join(map(str, action.choices))}")
    return value
