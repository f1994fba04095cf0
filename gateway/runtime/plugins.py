"""Plug-ins: objects in packages of others, named by entry points (importlib.metadata).

Knows the metadata of installed packages; does not know what a plug-in is for. To read the metadata takes
about 50 ms and runs no code of a plug-in, so it is done only where plug-ins are asked for.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.game.text import described, visible

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint


class PluginError(Exception):
    """A plug-in cannot be used. The message is one line with the reason and what to do."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of an installed package."""

    name: str
    package: str
    """The name of the package as it was installed."""
    point: "EntryPoint"
    fault: str = ""
    """Why the entry point cannot be read; empty if it can."""

    def load(self) -> object:
        """Import the plug-in's module, and return the object that is named. Raises PluginError."""
        if self.fault:
            raise self.error(self.fault)
        if self.point.pattern.match(self.point.value) is None:
            raise self.error(f"its entry point names {self.point.value!r}, and not MODULE:OBJECT")
        with self.guarded():
            found: object = self.point.load()
        return found

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn what the plug-in's code raises in the block into PluginError. Also decorates a function.

        What the code prints meanwhile goes to stderr: a program may read the output of a command.
        """
        try:
            with redirect_stdout(sys.stderr):
                yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the code of others may raise anything, such as SystemExit
            raise self.error(error) from error

    def error(self, why: str | BaseException) -> PluginError:
        """Return the exception for a plug-in that cannot be used."""
        words = why if isinstance(why, str) else described(why)
        remedy = f"to remove it: {sys.executable} -m pip uninstall {self.package}"
        text = f"the plug-in {self.name!r} of the package {self.package!r} cannot be used: {words}; {remedy}"
        return PluginError(visible(" ".join(text.split())))


def plugins(group: str) -> list[Plugin]:
    """Return the entry points of a group, sorted by their names. Does not import them."""
    from importlib.metadata import entry_points  # noqa: PLC0415  it takes 30 ms

    try:
        points = entry_points(group=group)
        found = [Plugin(each.name, (each.dist and each.dist.name) or "?", each) for each in points]
    except Exception:  # the metadata of one package are damaged, which then hide those of all others
        found = _by_package(group)
    return sorted(found, key=lambda each: (each.name, each.package))


def _by_package(group: str) -> list[Plugin]:
    """Return the entry points of a group. A package with damaged metadata has one that cannot be loaded."""
    from importlib.metadata import EntryPoint, distributions  # noqa: PLC0415  as above

    found = dict[str, list[Plugin]]()
    for each in distributions():
        package = _name_of(each)
        try:
            points = [Plugin(point.name, package, point) for point in each.entry_points.select(group=group)]
        except Exception as error:
            fault = f"its metadata in {each.locate_file('')} are damaged: {described(error)}"
            points = [Plugin("?", package, EntryPoint("?", "?", group), fault)]
        if package == "?":
            found.setdefault(package, []).extend(points)
        else:
            found.setdefault(package, points)  # as for an import, the first on the path counts
    return [plugin for plugins in found.values() for plugin in plugins]


def _name_of(package: "Distribution") -> str:
    """Return the name of a package, or a question mark if its metadata do not have it."""
    try:
        return package.name or "?"
    except Exception:  # as above
        return "?"
