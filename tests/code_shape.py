"""The size and shape of the code: ``python tests/code_shape.py [ROOT]`` prints lines, functions and imports.

Reads the source, and imports nothing of it. The depth of a module is the length of the longest chain of
imports that begins there; that of a package is its deepest module's.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = ("gateway", "adapters", "conformance")
LONGEST = 10
"""Functions that are listed."""


class Module:
    """A module of ours, and what it imports."""

    def __init__(self, root: Path, path: Path) -> None:
        parts = path.relative_to(root).with_suffix("").parts
        self.name = ".".join(parts).removesuffix(".__init__")
        self.package = ".".join(parts[:-1][:2])
        """The package that the module is in, or the one around it where that is in one itself."""
        self.text = path.read_text()
        self.lines = self.text.count("\n")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All of the tree."""
        return [*ast.walk(self.tree)]

    def functions(self) -> Iterator[tuple[int, str]]:
        """Yield the lines and the name of each function."""
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                yield node.end_lineno - node.lineno + 1, f"{self.name}.{node.name}"

    def imports(self, known: Mapping[str, object]) -> set[str]:
        """Return the known modules that this one imports, wherever in its text."""
        found: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                wholes = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {whole if whole in known else node.module for whole in wholes}
        return found & {*known}


def modules(root: Path) -> dict[str, Module]:
    """Return all modules of ours below `root` by their names, such as ``gateway.game.board``."""
    paths = (path for package in OURS for path in sorted((root / package).rglob("*.py")))
    found = (Module(root, path) for path in paths)
    return {module.name: module for module in found}


def arrows(found: Mapping[str, Module]) -> dict[str, set[str]]:
    """Return which of the modules each of them imports."""
    return {name: module.imports(found) for name, module in found.items()}


def depths(imported: Mapping[str, set[str]]) -> dict[str, int]:
    """Return how deep each module is, those left out that are in a cycle or import one that is."""
    depth: dict[str, int] = {}
    while ready := [name for name, to in imported.items() if name not in depth and to <= depth.keys()]:
        depth |= {name: 1 + max((depth[each] for each in imported[name]), default=0) for name in ready}
    return depth


def cycles(imported: Mapping[str, set[str]]) -> set[str]:
    """Return the modules whose imports lead back to themselves."""
    depth = depths(imported)
    left = {name: {*to} for name, to in imported.items() if name not in depth}
    while outer := [name for name in left if not any(name in to for to in left.values())]:
        for name in outer:  # leads into a cycle, and is in none
            del left[name]
    return {*left}


def main(root: Path) -> None:
    """Print the tables."""
    found = modules(root)
    imported = arrows(found)
    depth = depths(imported)
    packages: dict[str, list[Module]] = defaultdict(list)
    for module in found.values():
        packages[module.package].append(module)
    print(f"{'package':28} {'modules':>8} {'lines':>8} {'depth':>8}")
    for top in OURS:
        packages[f"all of {top}"] = [module for module in found.values() if module.package.startswith(top)]
    packages["all"] = [*found.values()]
    for package, members in sorted(packages.items(), key=lambda item: ("all" in item[0], item[0])):
        deepest = max(depth.get(module.name, 0) for module in members)
        print(f"{package:28} {len(members):8} {sum(each.lines for each in members):8} {deepest:8}")
    print(f"\nin cycles of imports: {', '.join(sorted(cycles(imported))) or 'none'}\n\nlongest functions")
    functions = sorted((each for module in found.values() for each in module.functions()), reverse=True)
    for length, name in functions[:LONGEST]:
        print(f"{length:8} {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
