"""Packages of others, with entry points, as an installer would write them."""

from collections.abc import Mapping
from pathlib import Path


def install(
    folder: Path, package: str, group: str, points: Mapping[str, str], modules: Mapping[str, str]
) -> None:
    """Install a package into a folder of the import path: its entry points by name, its modules by name."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)
