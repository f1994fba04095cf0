"""A site for each test."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from web_world import Site

from adapters.web.page import rendering


class Compiled(BytecodeCache):
    """The code of all templates that were compiled here: each site would compile them again."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()


@pytest.fixture(autouse=True, scope="session")
def _compiled_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "Environment", partial(Environment, bytecode_cache=Compiled()))
        yield


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """The application over an empty database."""
    made = Site(tmp_path)
    yield made
    made.database.close()
