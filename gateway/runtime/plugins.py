"""Plug-ins: objects in packages of others, named by entry points (importlib.metadata).

Knows the metadata of installed packages; does not know what a plug-in is for. To read the metadata takes
about 50 ms and runs no code of a plug-in, so it is done only where plug-ins are asked for.
"""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class PluginError(Exception):
    """A plug-in cannot be used. The message is one line with the reason and what to do."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of an installed package."""

    name: str
    package: str
    """The name of the package as it was installed."""
    point: "EntryPoint"

    def load(self) -> object:
        """Import the plug-in's module, and return the object that is named. Raises PluginError."""
        try:
            found: object = self.point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the code of others may raise anything, such as SystemExit
            raise self.error(error) from error
        return found

    def error(self, why: str | BaseException) -> PluginError:
        """Return the exception for a plug-in that cannot be used."""
        words = why if isinstance(why, str) else f"{type(why).__name__}: {why}"
        remedy = f"to remove it: {sys.executable} -m pip uninstall {self.package}"
        text = f"the plug-in {self.name!r} of the package {self.package!r} cannot be used: {words}; {remedy}"
        return PluginError(" ".join(text.split()))


def plugins(group: str) -> list[Plugin]:
    """Return the entry points of a group, sorted by their names. Does not import them."""
    from importlib.metadata import entry_points  # noqa: PLC0415  it takes 30 ms

    points = entry_points(group=group)
    found = [Plugin(each.name, each.dist.name if each.dist else "", each) for each in points]
    return sorted(found, key=lambda each: (each.name, each.package))
