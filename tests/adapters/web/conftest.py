"""A site for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from web_world import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """The application over an empty database."""
    made = Site(tmp_path)
    yield made
    made.database.close()
