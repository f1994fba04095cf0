"""Where the conformance runner looks for the files of a plug-in."""

from pathlib import Path

import pytest
from worlds.plugins import install

from conformance.dialects.plugins import GROUP, folders


@pytest.mark.parametrize("damage", [b"\xff", b"[other]\nodd\n"])
@pytest.mark.parametrize("value", ["", ":DIALECT", "odd odd:DIALECT", "..:DIALECT", "nowhere_at_all:DIALECT"])
def test_broken_entry_points_hide_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, damage: bytes
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "c4odd", GROUP, {"odd": value}, {})
    install(tmp_path, "c4broken", GROUP, {}, {})
    (tmp_path / "c4broken-1.0.dist-info" / "entry_points.txt").write_bytes(damage)
    install(tmp_path, "c4zither", GROUP, {"zither": "c4zither_files:DIALECT"}, {})
    package = tmp_path / "c4zither_files"
    package.mkdir()
    for name in ("__init__.py", "script.py"):
        (package / name).touch()
    assert [(each.name, each.path) for each in folders()] == [("zither", package)]
