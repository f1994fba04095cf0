"""Python files of the user, and what is in them: classes, functions and objects that play.

Knows how a file is found, imported and searched for a name, and how a function in it is called. Does not know
any game. Names must come from the user's command line, never from the network.
"""

import ast
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from gateway.engines import UnknownEngine, in_words

_SHOWN = 12
"""The most names that a list has."""


def code_in(file: str) -> CodeType:
    """Compile a file, without executing it. Raises UnknownEngine."""
    try:
        return compile(Path(file).read_bytes(), file, "exec")
    except OSError as error:
        raise UnknownEngine(f"the file {file!r} cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise UnknownEngine(f"the file {file!r} cannot be executed: {in_words(error)}") from error


def check(kind: str, text: str) -> None:
    """Check FILE:NAME, the text after ``kind:``, without executing the file. Raises UnknownEngine."""
    code_in(_file_and_name(kind, text)[0])


def named(kind: str, text: str) -> Any:
    """Import the file of FILE:NAME, the text after ``kind:``, and return what is called NAME in it.

    Raises UnknownEngine, which lists what there is if there is no such name.
    """
    file, name = _file_and_name(kind, text)
    code_in(file)
    try:
        module = _imported(Path(file).resolve())
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise UnknownEngine(f"the file {file!r} cannot be executed: {in_words(error)}") from error
    if not hasattr(module, name):
        raise UnknownEngine(f"there is no {name!r} in {file}, but {_listed(file)}")
    return getattr(module, name)


def call(function: Callable[..., Any], main: Any, offers: Mapping[str, Any]) -> Any:
    """Call a function or class with those of the offers that its parameters name.

    Its first parameter gets `main` if it has another name. Raises UnknownEngine if it needs more, and any
    exception of the user's code.
    """
    require(function, offers)
    arguments, keywords = list[Any](), dict[str, Any]()
    for number, each in enumerate(_parameters(function)):
        if each.name in offers or (number == 0 and each.default is each.empty):
            value = offers.get(each.name, main)
            if each.kind is each.KEYWORD_ONLY or len(arguments) < number:
                keywords[each.name] = value
            else:
                arguments.append(value)
    return function(*arguments, **keywords)


def require(function: Callable[..., Any], offers: Mapping[str, Any], *, first: bool = True) -> None:
    """Raise UnknownEngine if the function has parameters that are `missing`."""
    if lacking := missing(function, offers, first=first):
        name = getattr(function, "__qualname__", repr(function))
        raise UnknownEngine(f"{name} needs {', '.join(lacking)}, but there is only {', '.join(offers)}")


def missing(function: Callable[..., Any], offers: Mapping[str, Any], *, first: bool = True) -> list[str]:
    """Return the parameters that have no default and are not offered; with `first` after the first one."""
    return [
        each.name
        for number, each in enumerate(_parameters(function))
        if each.name not in offers and each.default is each.empty and (number > 0 or not first)
    ]


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters of a function or class; empty if Python cannot tell."""
    return [each.name for each in _parameters(function)]


def plays(found: Any, *methods: str) -> bool:
    """Whether an object, or those of a class, have one of the methods or can be called."""
    if any(callable(getattr(found, each, None)) for each in methods):
        return True
    return any(
        "__call__" in vars(each) for each in (found if inspect.isclass(found) else type(found)).__mro__
    )


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # as for some functions in C
        return []
    return [each for each in found if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def _file_and_name(kind: str, text: str) -> tuple[str, str]:
    """Split FILE:NAME. There may be colons in the name of the file. Raises UnknownEngine."""
    file, _, name = text.rpartition(":")
    if file and name.isidentifier():
        return file, name
    if not name and file:  # FILE:
        text = file
    names = f": there is {_listed(text)}" if Path(text).is_file() else ""
    raise UnknownEngine(f"{kind}:{text} lacks a name, as in {kind}:FILE.py:NAME{names}")


def _listed(file: str) -> str:
    """Return the names of the classes, functions and objects that a file defines. Raises UnknownEngine."""
    code_in(file)
    names = list[str]()
    for each in ast.parse(Path(file).read_bytes()).body:
        if isinstance(each, ast.ClassDef | ast.FunctionDef):
            names.append(each.name)
        elif isinstance(each, ast.Assign):
            names += [target.id for target in each.targets if isinstance(target, ast.Name)]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}" if names else "no class or function"


def _imported(file: Path) -> ModuleType:
    """Import a file, once, as a module of its package if it is in one. Raises anything.

    Its folder, and the folder that its package is in, are added to ``sys.path``.
    """
    folder, name = file.parent, file.stem
    _search(folder)
    while (folder / "__init__.py").is_file():
        folder, name = folder.parent, f"{folder.name}.{name}"
    if folder != file.parent:
        _search(folder)
        module = import_module(name)
        if not _is_of(module, file):
            raise ImportError(f"there is another module {name!r}, {getattr(module, '__file__', None)}")
        return module
    if name in sys.modules and not _is_of(sys.modules[name], file):
        name = str(file)
    if name not in sys.modules:
        loader = SourceFileLoader(name, str(file))
        spec = spec_from_loader(name, loader)
        assert spec is not None
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _search(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _is_of(module: ModuleType, file: Path) -> bool:
    found = getattr(module, "__file__", None)
    return found is not None and os.path.realpath(found) == str(file)
