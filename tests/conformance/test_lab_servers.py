"""Servers that the lab starts for itself, and what it says where it cannot."""

import os
import pwd
import signal
from pathlib import Path

import pytest

from conformance.lab.servers import cluster, postgres, redis_program, redis_server
from conformance.lab.workers import LoadError

REDIS = redis_program()
needs_redis = pytest.mark.skipif(REDIS is None, reason="no Redis server here")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that has all the programs that are installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@needs_redis
@pytest.mark.parametrize("name", ["redis-server", "valkey-server"])
async def test_redis_server_may_be_either_program_and_begins_anew_with_no_memory(
    name: str, programs: Path
) -> None:
    assert REDIS is not None
    (programs / name).symlink_to(REDIS)
    async with redis_server() as server:
        assert await server.ask("SET x 1") == "OK"
        await server.kill()
        assert await server.ask("GET x") == ""
        await server.start()
        assert await server.ask("GET x") == "$-1"


async def test_redis_server_that_is_not_there_is_named(programs: Path) -> None:
    with pytest.raises(LoadError, match="there is no redis-server, and no valkey-server"):
        async with redis_server():
            pass


async def test_what_a_redis_server_says_that_ends_at_once_is_told(programs: Path) -> None:
    program = programs / "redis-server"
    program.write_text("#!/bin/sh\necho 'Bad directive' >&2\n")
    program.chmod(0o755)
    with pytest.raises(LoadError, match="does not answer; it says: Bad directive"):
        async with redis_server():
            pass


async def test_postgresql_that_only_root_could_run_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwall", lambda: [pwd.getpwuid(0)])
    with pytest.raises(LoadError, match="does not run as root, and there is no user postgres or nobody"):
        async with postgres():
            pass


@needs_redis
@pytest.mark.lab
async def test_node_that_was_stopped_does_not_outlive_its_cluster() -> None:
    async with cluster("ab", []) as found:
        node = found.nodes[1]
        node.halt()
    assert node.server.process.returncode == -signal.SIGKILL
