"""The files that the runner reads of a plug-in, which is a package with a dialect of its own.

The entry point in the group ``c4gateway.dialects`` names a module. The files are in its top package, or there
in the folder with the name of the dialect, if that has a script. The module is not imported, since the runner
must not use what it tests.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distributions
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

GROUP = "c4gateway.dialects"


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder with the files of a plug-in's dialect."""

    name: str
    """The dialect's name."""
    path: Path

    @property
    def script(self) -> Path:
        """The module with the dialect's `DIALECT`, as in this package."""
        return self.path / "script.py"

    @property
    def transcripts(self) -> Path:
        """The folder that has the folder with the dialect's transcripts."""
        return self.path / "transcripts"

    @property
    def protocol(self) -> Path:
        """The document with the dialect's clauses."""
        return self.path / "PROTOCOL.md"


def folders() -> list[Folder]:
    """Return the folders of the plug-ins that have a script, sorted by the names of their dialects."""
    found = list[Folder]()
    for point in sorted(_points(), key=lambda each: each.name):
        try:
            spec = find_spec(point.module.partition(".")[0])
        except Exception:  # the entry point names no module, so the gateway leaves it out
            continue
        top = [Path(each) for each in (spec and spec.submodule_search_locations) or ()]
        places = [Folder(point.name, path) for each in top for path in (each / point.name, each)]
        found += [each for each in places if each.script.is_file()][:1]
    return found


def _points() -> Iterator[EntryPoint]:
    for package in distributions():
        try:
            yield from package.entry_points.select(group=GROUP)
        except Exception:  # its metadata are damaged, so the gateway leaves it out
            continue


def script(folder: Folder) -> object:
    """Return the `DIALECT` of a plug-in's script. Raises any exception."""
    spec = spec_from_file_location(f"c4gateway_script_of_{folder.name}", folder.script)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: object = module.DIALECT
    return found
