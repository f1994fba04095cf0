"""What the tests of engines in files share."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Return what writes a file in the test's folder; modules that are imported from there are forgotten."""
    monkeypatch.setattr("sys.path", [*sys.path])

    def writing(text: str, name: str = "player.py") -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    yield writing
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]
