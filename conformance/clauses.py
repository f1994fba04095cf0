"""Which clauses the protocol documents contain, and which of these no transcript cites.

Reads the clause numbers in `adapters/<dialect>/PROTOCOL.md`, in the installed `adapters` package, and in the
documents of plug-ins. Imports no module of that package.
"""

import importlib.util
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from conformance.steps import Clause, Transcript

_CLAUSE = re.compile(r"^\*\*(\d+(?:\.\d+)+)\*\*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Coverage:
    """All clauses, in order, and those that no transcript cites (`uncovered`).

    `problems`: sentences about mistakes in documents and citations; empty if there are none.
    """

    clauses: tuple[Clause, ...]
    uncovered: tuple[Clause, ...]
    problems: tuple[str, ...]

    @property
    def complete(self) -> bool:
        return not self.uncovered and not self.problems


def protocols_folder() -> Path | None:
    """Return the folder of the installed `adapters` package; None if there is none."""
    spec = importlib.util.find_spec("adapters")
    locations = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(locations[0]) if locations else None


def coverage(
    folder: Path | None, transcripts: Iterable[Transcript], plugins: Mapping[str, Path] = MappingProxyType({})
) -> Coverage:
    """Compare the clauses of all PROTOCOL.md files under `folder` with those that transcripts cite.

    `plugins` are the documents of further dialects, by the dialects' names.
    """
    ours = sorted(folder.glob("*/PROTOCOL.md")) if folder else []
    documents = [*((path.parent.name, path) for path in ours), *plugins.items()]
    found = [(path, _clauses_of(dialect, path)) for dialect, path in documents]
    problems = [] if found else [f"no PROTOCOL.md under {folder or 'an installed adapters package'}"]
    for path, clauses in found:
        twice = [clause.number for clause, count in Counter(clauses).items() if count > 1]
        problems += [f"{path}: clause {number} stands there twice" for number in twice]
        problems += [] if clauses else [f"{path}: no clause begins with its number, as in **1.1**"]
    known = {clause for _, clauses in found for clause in clauses}
    cited: set[Clause] = set()
    for transcript in transcripts:
        cited.update(transcript.clauses)
        unknown = [clause for clause in transcript.clauses if clause not in known]
        problems += [f"{transcript.path}: there is no clause {clause}" for clause in unknown]
    in_order = sorted(known, key=lambda clause: clause.order)
    return Coverage(tuple(in_order), tuple(c for c in in_order if c not in cited), tuple(problems))


def _clauses_of(dialect: str, path: Path) -> list[Clause]:
    return [
        Clause(dialect, number)
        for number in _CLAUSE.findall(path.read_text(encoding="utf-8", errors="replace"))
    ]
