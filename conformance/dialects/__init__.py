"""The dialects, one module each: what the runner and the laboratory need to know about each.

Nothing here comes from the gateway. Each dialect is implemented a second time from its PROTOCOL.md, so that a
server can be checked. `DIALECTS` has the dialects of the modules in this folder, `dialects()` also those of
plug-ins.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from conformance.dialects import plugins
from conformance.dialects.script import Dialect


def _built_in() -> dict[str, Dialect]:
    modules = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
    found = [each.DIALECT for each in modules if hasattr(each, "DIALECT")]
    return {each.name: each for each in found}


DIALECTS: dict[str, Dialect] = _built_in()
"""The built-in dialects, by name."""


@dataclass(frozen=True, slots=True)
class Found:
    """All dialects by name, the folders of plug-ins by dialect, and a line for each plug-in left out."""

    dialects: dict[str, Dialect]
    folders: dict[str, plugins.Folder]
    faults: tuple[str, ...]


@cache
def found() -> Found:
    """Return the built-in dialects and those of plug-ins. Loads the plug-ins' scripts on the first call."""
    known, folders, faults = {**DIALECTS}, dict[str, plugins.Folder](), list[str]()
    for folder in plugins.folders():
        if folder.name in known:  # the gateway leaves it out and says so
            continue
        try:
            script = plugins.script(folder)
            if not isinstance(script, Dialect) or script.name != folder.name:
                raise TypeError(f"its DIALECT is not the Dialect of the name {folder.name!r}")
        except (Exception, SystemExit) as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())
            faults.append(f"the plug-in {folder.name!r} is left out, since {folder.script} fails: {words}")
        else:
            known[folder.name], folders[folder.name] = script, folder
    return Found(known, folders, (*faults,))


def dialects() -> dict[str, Dialect]:
    """Return the dialects that the runner knows, by name."""
    return found().dialects
