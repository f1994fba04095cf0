"""Options as a table of typed fields.

The options of a command are a dataclass. `option`, `argument`, `several` and `flag` make its fields. The
command line is parsed here, the environment and the file of ``--config`` in `sources`. Help texts and the
table in docs/options.md come from the same fields.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, NoReturn, ParamSpec, Protocol, TypeVar, overload

from gateway.game.text import described
from gateway.options.kinds import TEXT, Kind
from gateway.options.urls import masked

T = TypeVar("T")
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

PREFIX = "C4GATEWAY_"
"""The prefix of environment variables for options."""
_ABSENT = object()
"""The value that argparse returns for a positional option that is not given."""
_COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """The properties of one option. Its type is that of its field."""

    name: str = ""
    """The name of the option's field. The option itself has dashes in place of underscores."""
    help: str
    """The help text. ``{players}`` in it is replaced by the dialects that have this rule."""
    kind: Kind[Any] = TEXT
    default: object = None
    make_default: Callable[[], object] | None = None
    """Returns the default, if that is a list or takes time to compute."""
    default_text: str | None = None
    """The default in help texts; empty to omit it, None for the value itself."""
    default_in_documents: str | None = None
    """The default in docs/options.md, if it is not the one in help texts."""
    documents: str = ""
    """Text that docs/options.md adds to the help text, in Markdown."""
    heading: str | None = None
    """The heading in the help text; None for the heading of the previous option."""
    is_flag: bool = False
    repeats: bool = False
    """Whether the option may be given several times. Then its value is a list."""
    takes_many: bool = False
    """Whether the option takes any number of values at once. Then its value is a list."""
    is_secret: bool = False
    """Whether the option's value is never shown."""
    is_positional: bool = False
    """Whether the option has no name on the command line."""
    is_required: bool = False
    is_shared: bool = False
    """Whether the option must have the same value on all servers of a cluster."""
    exclusive_group: str = ""
    """The name of a group of options. At most one option of a group may be given."""
    withdraws: str = ""
    """The name of another option. That option has no effect if this one comes later or from a stronger
    source."""
    aliases: tuple[str, ...] = ()
    """Further names, with their dashes."""
    is_in_environment: bool = False
    """Whether a command other than the server's reads the option from the environment, too."""

    @property
    def key(self) -> str:
        """The name without leading dashes, as in a file."""
        return self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The name of the option's environment variable."""
        return variable(self.key)

    @property
    def default_value(self) -> object:
        """The default value of the option."""
        return self.default if self.make_default is None else self.make_default()

    @property
    def default_words(self) -> str:
        """The default in help texts; empty to omit it."""
        if self.default_text is not None:
            return self.default_text
        return "" if self.is_flag or self.default is None else str(self.default)

    @property
    def help_text(self) -> str:
        """The help text, with the default."""
        return f"{self.help} ({self.default_words})" if self.default_words else self.help

    def read(self, text: str) -> object:
        """Parse a text, which may be none of `Kind.choices`. Raises ValueError."""
        try:
            return self.kind.read(text)
        except ValueError:
            raise
        except Exception as error:  # a mistake in the kind of a plug-in's option
            raise ValueError(f"{text!r} cannot be read: {described(error)}") from error

    def value(self, text: str) -> object:
        """Parse a text. Raises ValueError."""
        value = self.read(text)
        if self.kind.choices and value not in self.kind.choices:
            raise ValueError(f"{text!r} is none of {', '.join(self.kind.choices)}")
        return value


@overload
def option(help: str, kind: Kind[T], default: T, **more: Any) -> T: ...
@overload
def option(help: str, kind: Kind[T], *, make_default: Callable[[], T], **more: Any) -> T: ...
@overload
def option(help: str, kind: Kind[T], **more: Any) -> T | None: ...
def option(help: str, kind: Kind[Any], default: Any = None, **more: Any) -> Any:
    """Return a field for an option; `more` are further fields of `Option`.

    For the type checker, the type of the result is that of the option's value. Without a default it may be
    None.
    """
    return _field(help, kind, default=default, **more)


def argument(help: str, kind: Kind[T], **more: Any) -> T:
    """Return a field for a required positional option."""
    value: T = _field(help, kind, is_positional=True, is_required=True, **more)
    return value


def several(help: str, kind: Kind[T], default: Sequence[T] | None = (), **more: Any) -> list[T]:
    """Return a field for an option with several values; the default may be None."""
    make_default: Any = None if default is None else partial(list, default)
    values: list[T] = _field(help, kind, **{"make_default": make_default, "repeats": True, **more})
    return values


def flag(help: str, **more: Any) -> bool:
    """Return a field for a flag, which is true if the option is given."""
    value: bool = _field(help, TEXT, **{"default": False, "is_flag": True, **more})
    return value


def _field(help: str, kind: Kind[Any], **more: Any) -> Any:
    known = Option(help=help, kind=kind, **more)
    if known.make_default is not None:
        return field(default_factory=known.make_default, metadata={"option": known})
    return field(default=known.default, metadata={"option": known})


def options_of(table: type) -> list[Option]:
    """Return the options of a dataclass in the order of its fields."""
    options, heading = [], ""
    for each in fields(table):
        if "option" in each.metadata:
            known: Option = each.metadata["option"]
            heading = heading if known.heading is None else known.heading
            options.append(replace(known, name=each.name, heading=heading))
    return options


def variable(key: str) -> str:
    """Return the environment variable of the option ``--key``."""
    return PREFIX + key.upper().replace("-", "_")


class Parser(argparse.ArgumentParser):
    """Parses a command line. An error is one line on stderr and exit status 2."""

    as_json = False
    """Whether the line of an error is a JSON object."""

    def __init__(self, prog: str, description: str = "", epilog: str = "", **known: Any) -> None:
        """Create a parser. `known` is passed to argparse.

        If `description` or `epilog` has several lines, both are shown unchanged; otherwise they are wrapped.
        """
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
            from gateway.runtime.json_stderr import complain  # noqa: PLC0415  rarely needed

            complain(line, as_json=True)
            self.exit(2)
        self.exit(2, f"{self.prog}: error: {line}\n")

    def add(self, options: Iterable[Option]) -> None:
        """Add options, each under its heading."""
        groups: dict[str, Any] = {"": self}  # the type of a group is private in argparse
        for each in options:
            heading = each.heading or ""
            if heading not in groups:
                groups[heading] = self.add_argument_group(heading)
            group = groups[heading]
            if each.exclusive_group:
                if each.exclusive_group not in groups:
                    groups[each.exclusive_group] = group.add_mutually_exclusive_group()
                group = groups[each.exclusive_group]
            names = [each.name] if each.is_positional else [f"--{each.key}", *each.aliases]
            group.add_argument(*names, **_as_argument(each))

    def settle(self, table: type[T], typed: Mapping[str, object]) -> T:
        """Return the options of a command: from the command line (`typed`), else from the environment.

        Exits with status 2 if an option is not valid.
        """
        options = options_of(table)
        self.refuse_typed(options, typed)
        values = {each.name: typed[each.name] for each in options if each.name in typed}
        for each in options:
            in_environment = os.environ.get(each.variable) if each.is_in_environment else None
            if each.name not in values and in_environment is not None:
                try:
                    values[each.name] = each.value(in_environment)
                except ValueError as error:
                    self.error(f"{each.variable}: {error}")
        return table(**values)

    def refuse_typed(self, options: Iterable[Option], typed: Mapping[str, object]) -> None:
        """Exit with status 2 if an option must not be on the command line, such as one with a password."""
        for each in options:
            check = each.kind.fault_if_typed
            if check is not None and each.name in typed and (fault := check(typed[each.name])):
                self.error(fault)


def spelled_out(arguments: Sequence[str] | None) -> Sequence[str]:
    """Return a command line, by default `sys.argv[1:]`, with ``help`` and ``version`` as options."""
    match sys.argv[1:] if arguments is None else arguments:
        case ["version", *others]:
            return ["--version", *others]
        case ["help", *command]:
            return [*command, "--help"]
        case words:
            return words


class _Withdrawing(argparse.Action):
    """The action of an option that cancels another option given before it."""

    def __init__(self, other: str, **known: Any) -> None:
        super().__init__(**known)
        self._other = other

    def __call__(
        self, _: object, parsed: argparse.Namespace, values: object, _name: str | None = None
    ) -> None:
        setattr(parsed, self.dest, self.const if self.nargs == 0 else values)
        vars(parsed).pop(self._other, None)


def _as_argument(option: Option) -> dict[str, object]:
    """Return the arguments of `add_argument` for an option."""
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

    known |= {"type": read, "metavar": option.kind.unit or None, "choices": option.kind.choices or None}
    if option.is_positional:
        return known if option.is_required else known | {"nargs": "?", "default": _ABSENT}
    if option.repeats:
        known["action"] = "append"
    return known | {"nargs": "*"} if option.takes_many else known


def typed_in(parsed: argparse.Namespace) -> dict[str, object]:
    """Return the values of the options on a command line, by name."""
    return {name: value for name, value in vars(parsed).items() if value is not _ABSENT}


def read(parser: Parser, table: type[T], arguments: Sequence[str]) -> T:
    """Parse a command's options. Exits with status 2, after a line on stderr, if they are not valid."""
    parser.add(options_of(table))
    return parser.settle(table, typed_in(parser.parse_args(arguments)))


def read_some(parser: Parser, table: type[T], arguments: Sequence[str]) -> tuple[T, list[str]]:
    """Parse a command's options; return them and all unknown words. Exits as `read` does."""
    parser.add(options_of(table))
    parsed, others = parser.parse_known_args(arguments)
    return parser.settle(table, typed_in(parsed)), others


class Command(Protocol[P, R_co]):
    """A command: a dataclass of its options, with a method that carries out the command."""

    help: ClassVar[str]
    """The help text."""

    def run(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Carry out the command."""


def run(
    parser: Parser,
    commands: Mapping[str, type[Command[P, R_co]]],
    arguments: Sequence[str],
    *args: P.args,
    **kwargs: P.kwargs,
) -> R_co:
    """Run the command that the first argument names, and return its result.

    Exits with status 2, after a line on stderr, if its options are not valid.
    """
    words = parser.add_subparsers(dest=_COMMAND, required=True, metavar="COMMAND")
    parsers = dict[str, Parser]()
    for name, command in commands.items():
        prog = f"{parser.prog} {name}"
        parsers[name] = words.add_parser(name, help=command.help, prog=prog, description=command.help)
        parsers[name].add(options_of(command))
    typed = typed_in(parser.parse_args(arguments))
    name = str(typed.pop(_COMMAND))
    return parsers[name].settle(commands[name], typed).run(*args, **kwargs)
