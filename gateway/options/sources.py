"""The sources of options: the command line, else the environment, else a file, else their defaults.

``--log-level`` is ``C4GATEWAY_LOG_LEVEL`` in the environment, and ``log-level`` in a file. An option with
several values has one source: hosts on the command line replace those of the file. Does not know what an
option is for.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.game.text import visible
from gateway.options.names import EVERY
from gateway.options.table import PREFIX, Option, Parser, typed_in, variable
from gateway.options.terminal import in_one_line, listed
from gateway.options.urls import MASK, masked
from gateway.runtime.files import read_file

CONFIG = "config"
"""The option that names the file."""
DEFAULT = "default"
COMMAND_LINE = "command line"

_LONGEST_FILE = 1024 * 1024
_ON = ("true", "1", "yes", "on")
"""The values that set a flag in the environment or a file."""
_OFF = ("false", "0", "no", "off")


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of options and the source of each, by the names of their fields."""

    values: Mapping[str, object]
    sources: Mapping[str, str]


def from_sources(
    parser: Parser, options: Sequence[Option], arguments: Sequence[str], environment: Mapping[str, str]
) -> Settings:
    """Return the options in force. `parser` must have all these options.

    Exits with status 2, after a line on stderr, if an option or its source is not valid.
    """
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.error(_unknown(unknown))
    typed = typed_in(parsed)
    parser.refuse_typed(options, typed)
    values = {each.name: each.default_value for each in options}
    sources = dict.fromkeys(values, DEFAULT)
    by_key = {each.key: each for each in options}
    try:
        variables = _variables(by_key, environment)
        path, named_by = typed.get(CONFIG), f"--{CONFIG}"
        if path is None and CONFIG in variables:
            path, named_by = variables[CONFIG]
        file = {} if path is None else _file(by_key, str(path), named_by)
        line = {name: (value, COMMAND_LINE) for name, value in typed.items()}
        for source, stronger in ((file, variables | line), (variables, line), (line, {})):
            # Two options of a source may contradict each other if a stronger source replaces one of them. An
            # example is a file with `web` and `no-web`: with C4GATEWAY_NO_WEB=false, its `web` is in force.
            in_force = {name: setting for name, setting in source.items() if name not in stronger}
            _override(values, sources, in_force, options)
    except ValueError as error:
        parser.error(str(error))
    return Settings(values, sources)


def asks_for(flag: str, arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a flag is set in the environment or, if it is not there, in the file.

    A file that cannot be used is ignored.
    """
    if (asked := environment.get(variable(flag))) is not None:
        return asked.casefold() in _ON
    source = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    source.add_argument(f"--{CONFIG}", default=environment.get(variable(CONFIG)))
    try:
        path = source.parse_known_args(arguments)[0].config
        return path is not None and str(_toml(path, CONFIG).get(flag)).casefold() in _ON
    except (argparse.ArgumentError, ValueError):
        return False


def shown(
    options: Iterable[Option], values: Mapping[str, object], sources: Mapping[str, str]
) -> Iterator[str]:
    """Yield the options as lines of a configuration file, each with its source as a comment."""
    for each in options:
        yield f"{_line(each, values[each.name]):39} # {visible(sources[each.name])}"


def _unknown(words: Sequence[str]) -> str:
    """Return the error text for words that are not options. The first may be a command after an option."""
    if words[0] in EVERY:
        return f"a command comes before its options: c4gateway {words[0]} ..."
    return f"unrecognized arguments: {' '.join(words)}"


def _line(option: Option, value: object) -> str:
    if value is None:
        return f"# {option.key} = none"
    shown = MASK if option.is_secret else _masked(value)
    return f"{option.key} = {visible(json.dumps(shown, ensure_ascii=False, default=str))}"


def _masked(value: object) -> object:
    """Return a value with the passwords of URLs masked."""
    if isinstance(value, list):
        return [_masked(each) for each in value]
    return masked(value) if isinstance(value, str) else value


_Source = dict[str, tuple[object, str]]
"""The options of one source: by the name of the field, the value and the place where it was given."""


def _override(
    values: dict[str, object], sources: dict[str, str], settings: _Source, options: Sequence[Option]
) -> None:
    """Replace values by those of a stronger source. Raises ValueError if that source contradicts itself."""
    by_name = {each.name: each for each in options}
    for name, (value, source) in settings.items():
        values[name], sources[name] = value, source
        other = by_name.get(by_name[name].withdraws)
        if other is not None and value is not False:
            if settings.get(other.name, (False, ""))[0] is not False:
                keys = sorted((by_name[name].key, other.key), reverse=True)
                raise ValueError(f"{source}: give one of {listed(keys, 'and')}")
            if other.name not in settings:
                values[other.name], sources[other.name] = other.default_value, DEFAULT


# Reading the environment and the file. All of these raise ValueError.


def _variables(by_key: Mapping[str, Option], environment: Mapping[str, str]) -> _Source:
    options = {each.variable: each for each in by_key.values()}
    settings: _Source = {}
    for name, text in sorted(environment.items()):
        if name.startswith(PREFIX):
            _require_known(name, options, "in the environment")
            option = options[name]
            raw = [each.strip() for each in text.split(",")] if option.repeats else text
            settings[option.name] = _read(option, raw, name), name
    return settings


def _file(by_key: Mapping[str, Option], path: str, named_by: str) -> _Source:
    settings: _Source = {}
    for key, value in _toml(path, named_by).items():
        _require_known(key, [each for each in by_key if each != CONFIG], f"in {path}")
        settings[by_key[key].name] = _read(by_key[key], value, f"{path}: {key}"), path
    return settings


def _toml(path: str, named_by: str) -> dict[str, Any]:
    """Parse a TOML file."""
    import tomllib  # noqa: PLC0415  rarely needed

    try:
        return tomllib.loads(read_file(path, named_by, _LONGEST_FILE).decode())
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


def _read(option: Option, raw: object, where: str) -> object:
    """Parse the value of an option, given as a text or as a value of TOML."""
    try:
        if option.is_flag:
            return _is_on(raw)
        texts = [_text(each) for each in raw] if isinstance(raw, list) else [_text(raw)]
        if option.repeats:
            return [option.value(text) for text in texts]
        return option.value(",".join(texts))  # for options whose text is a list with commas
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _is_on(raw: object) -> bool:
    word = str(raw).casefold()
    if word not in (*_ON, *_OFF):
        raise ValueError(f"{raw!r} is neither true nor false")
    return word in _ON


def _text(raw: object) -> str:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise ValueError("give a text or a number")
    return str(raw)
