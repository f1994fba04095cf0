"""What the tests of connections share beside their world."""

import pytest


@pytest.fixture(params=["lines", "websocket"])
def framing(request: pytest.FixtureRequest) -> str:
    """How the clients of a test write their texts."""
    return str(request.param)
