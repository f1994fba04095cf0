"""Options as a table of typed fields.

The options of a command are a dataclass: each field made by `option` or `flag` has all that is known of one.
The command line is read here, the environment and the file of ``--config`` in `sources`; help texts and the
table in docs/options.md come from the same fields.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, TypeVar

from gateway.options.urls import masked

T = TypeVar("T")
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

PREFIX = "C4GATEWAY_"
"""What the environment's variables with options begin with."""
_UNSAID = object()
"""Stands in what argparse has found for a positional option that is not there."""
_COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """All that is known of one option, but for its type, which its field has."""

    name: str = ""
    """The name of its field; with dashes for underscores that of the option."""
    help: str
    """What it is for: with ``{players}`` in it for the dialects that have such a rule."""
    read: Callable[[str], object] = str
    """Returns the value that a text stands for. Raises ValueError."""
    unit: str = ""
    """What stands for the value in help texts, such as ``SECONDS``."""
    default: object = None
    make_default: Callable[[], object] | None = None
    """Returns the default where it is a list, or depends on the machine."""
    default_text: str | None = None
    """The default as people read it, empty where nothing is to be said of it; None for its value."""
    default_in_documents: str | None = None
    """The same for docs/options.md, where that differs."""
    documents: str = ""
    """What docs/options.md adds to the help text, in Markdown."""
    heading: str | None = None
    """The heading of the help text under which it stands; None for that of the option before."""
    choices: tuple[str, ...] = ()
    is_flag: bool = False
    repeats: bool = False
    """Whether it may be given several times; its value is a list."""
    takes_many: bool = False
    """Whether it takes any number of values at once; its value is a list."""
    is_secret: bool = False
    """Whether its value is never shown."""
    is_positional: bool = False
    """Whether it has no name on the command line."""
    is_required: bool = False
    is_shared: bool = False
    """Whether it has to be the same for all servers of a cluster."""
    exclusive_group: str = ""
    """The name of a group of options of which one at most may be given."""
    withdraws: str = ""
    """The name of another option, which this one withdraws where it comes later or by a stronger source."""
    aliases: tuple[str, ...] = ()
    """Further names, with their dashes."""
    is_in_environment: bool = False
    """Whether a command other than the server's reads it from the environment, too."""
    fault_if_typed: Callable[[Any], str | None] | None = None
    """Returns what is wrong with a value on the command line, which the list of processes shows."""

    @property
    def key(self) -> str:
        """The name without dashes in front, as a file has it."""
        return self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The name in the environment."""
        return variable(self.key)

    @property
    def default_value(self) -> object:
        """The default."""
        return self.default if self.make_default is None else self.make_default()

    @property
    def default_words(self) -> str:
        """The default as people read it; empty where nothing is to be said of it."""
        if self.default_text is not None:
            return self.default_text
        return "" if self.is_flag or self.default is None else str(self.default)

    @property
    def help_text(self) -> str:
        """What it is for, with its default."""
        return f"{self.help} ({self.default_words})" if self.default_words else self.help

    def value(self, text: str) -> object:
        """Return the value that a text stands for. Raises ValueError."""
        value = self.read(text)
        if self.choices and value not in self.choices:
            raise ValueError(f"{text!r} is none of {', '.join(self.choices)}")
        return value


def option(
    help: str,
    unit: str = "",
    read: Callable[[str], object] = str,
    default: Any = None,
    **known: Any,
) -> Any:
    """Return a field of a dataclass that is an option; `known` are further fields of `Option`."""
    found = Option(help=help, unit=unit, read=read, default=default, **known)
    if found.make_default is not None:
        return field(default_factory=found.make_default, metadata={"option": found})
    return field(default=default, metadata={"option": found})


def flag(help: str, **known: Any) -> Any:
    """Return a field that is true where the option is given."""
    return option(help, **({"default": False, "is_flag": True} | known))


def options_of(kind: type) -> list[Option]:
    """Return the options of a dataclass in the order of its fields."""
    found, heading = [], ""
    for each in fields(kind):
        if "option" in each.metadata:
            known: Option = each.metadata["option"]
            heading = heading if known.heading is None else known.heading
            found.append(replace(known, name=each.name, heading=heading))
    return found


def variable(key: str) -> str:
    """Return the environment's name for an option, which is called `key` without the dashes in front."""
    return PREFIX + key.upper().replace("-", "_")


class Parser(argparse.ArgumentParser):
    """Reads a command line. What is wrong with it is one line on stderr, and exit status 2."""

    as_json = False
    """Whether that line is a JSON object."""

    def __init__(self, prog: str, description: str = "", epilog: str = "", **known: Any) -> None:
        """Texts of several lines are shown as they are, others are wrapped. `known` is argparse's own."""
        is_laid_out = "\n" in description + epilog
        super().__init__(
            prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter if is_laid_out else argparse.HelpFormatter,
            allow_abbrev=False,
            **known,
        )

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 after a line on stderr."""
        line = masked(" ".join(message.splitlines()))
        line = f"{line} (see {self.prog} --help)"
        if self.as_json:
            from gateway.runtime.json_stderr import complain  # noqa: PLC0415  hardly ever needed

            complain(line, as_json=True)
            self.exit(2)
        self.exit(2, f"{self.prog}: error: {line}\n")

    def add(self, options: Iterable[Option]) -> None:
        """Add options, each under its heading."""
        groups: dict[str, Any] = {"": self}  # argparse has no public name for the type of a group
        exclusive = dict[str, Any]()
        for each in options:
            heading = each.heading or ""
            if heading not in groups:
                groups[heading] = self.add_argument_group(heading)
            place = groups[heading]
            if name := each.exclusive_group:
                if name not in exclusive:
                    exclusive[name] = place.add_mutually_exclusive_group()
                place = exclusive[name]
            names = [each.name] if each.is_positional else [f"--{each.key}", *each.aliases]
            place.add_argument(*names, **_as_argument(each))

    def options(self, kind: type[T], typed: Mapping[str, object]) -> T:
        """Return options: those that are typed, and of the others those that are read from the environment.

        Exits with status 2 where one is wrong.
        """
        values = dict[str, object]()
        self.refuse_typed(options_of(kind), typed)
        for each in options_of(kind):
            if each.name in typed:
                values[each.name] = typed[each.name]
            elif each.is_in_environment and (text := os.environ.get(each.variable)) is not None:
                try:
                    values[each.name] = each.value(text)
                except ValueError as error:
                    self.error(f"{each.variable}: {error}")
        return kind(**values)

    def refuse_typed(self, options: Iterable[Option], typed: Mapping[str, object]) -> None:
        """Exit with status 2 where an option may not be on the command line, as one with a password."""
        for each in options:
            if each.fault_if_typed is None or each.name not in typed:
                continue
            if fault := each.fault_if_typed(typed[each.name]):
                self.error(fault)


def spelled_out(arguments: Sequence[str] | None) -> Sequence[str]:
    """Return a command line, the program's own for None, with the words `help` and `version` as options."""
    match sys.argv[1:] if arguments is None else arguments:
        case ["version", *others]:
            return ["--version", *others]
        case ["help", *command]:
            return [*command, "--help"]
        case given:
            return given


class _Withdrawing(argparse.Action):
    """An option on whose account another one that was given before it is withdrawn."""

    def __init__(self, other: str, **known: Any) -> None:
        super().__init__(**known)
        self._other = other

    def __call__(
        self, _: object, found: argparse.Namespace, values: object, _name: str | None = None
    ) -> None:
        setattr(found, self.dest, self.const if self.nargs == 0 else values)
        vars(found).pop(self._other, None)


def _as_argument(option: Option) -> dict[str, object]:
    """Return what argparse has to know of an option."""
    known: dict[str, object] = {"help": option.help_text.replace("%", "%%"), "default": argparse.SUPPRESS}
    if option.withdraws:
        known["action"] = partial(_Withdrawing, option.withdraws)
    if option.is_flag and option.withdraws:
        return known | {"nargs": 0, "const": True}
    if option.is_flag:
        return known | {"action": "store_true"} | ({"required": True} if option.is_required else {})

    def read(text: str) -> object:
        try:
            return option.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    known |= {"type": read, "metavar": option.unit or None, "choices": option.choices or None}
    if option.is_positional:
        return known if option.is_required else known | {"nargs": "?", "default": _UNSAID}
    if option.repeats:
        known["action"] = "append"
    return known | {"nargs": "*"} if option.takes_many else known


def typed_in(found: argparse.Namespace) -> dict[str, object]:
    """Return the options that are on a command line, by name."""
    return {name: value for name, value in vars(found).items() if value is not _UNSAID}


def read(parser: Parser, kind: type[T], arguments: Sequence[str]) -> T:
    """Return a command's options. Exits with status 2, after a line on stderr, where they are wrong."""
    parser.add(options_of(kind))
    return parser.options(kind, typed_in(parser.parse_args(arguments)))


def read_some(parser: Parser, kind: type[T], arguments: Sequence[str]) -> tuple[T, list[str]]:
    """Return a command's options, and the words that are none of them. Exits as `read` does."""
    parser.add(options_of(kind))
    found, others = parser.parse_known_args(arguments)
    return parser.options(kind, typed_in(found)), others


@dataclass(frozen=True, slots=True)
class Command(Generic[T, P, R_co]):
    """One of several commands."""

    name: str
    help: str
    options: type[T]
    run: Callable[Concatenate[T, P], R_co]


def run(
    parser: Parser,
    commands: Sequence[Command[Any, P, R_co]],
    arguments: Sequence[str],
    *more: P.args,
    **named: P.kwargs,
) -> R_co:
    """Run the command that the first of the arguments names, and return what it returns.

    It gets its options, and what else is given. Exits with status 2, after a line on stderr, where its
    options are wrong.
    """
    words = parser.add_subparsers(dest=_COMMAND, required=True, metavar="COMMAND")
    parsers = dict[str, Parser]()
    for each in commands:
        prog = f"{parser.prog} {each.name}"
        parsers[each.name] = words.add_parser(each.name, help=each.help, prog=prog, description=each.help)
        parsers[each.name].add(options_of(each.options))
    given = typed_in(parser.parse_args(arguments))
    name = given.pop(_COMMAND)
    command = next(each for each in commands if each.name == name)
    return command.run(parsers[command.name].options(command.options, given), *more, **named)
