"""Two gateways with one lobby, as processes of their own, and the registry in which they find each other."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from worlds.server import EVERY_PORT, Served, await_line, begun

from gateway.server import local_redis

HAS_REGISTRY = any(map(shutil.which, local_redis.PROGRAMS))


@contextmanager
def registry_in(folder: Path) -> Iterator[None]:
    """Run a registry in a folder; it is killed at the end."""
    with subprocess.Popen(local_redis.command(folder), stdout=subprocess.PIPE, bufsize=0) as process:
        try:
            assert process.stdout is not None
            await_line(process.stdout, "ready to accept connections")
            yield
        finally:
            process.kill()


@contextmanager
def registry() -> Iterator[str]:
    """Run a registry of this test's own; give its URL."""
    with TemporaryDirectory(prefix="c4", dir="/tmp") as path, registry_in(Path(path)):
        yield local_redis.url(Path(path))


@contextmanager
def node(name: str, url: str, *options: str, addresses: int = 4) -> Iterator[Served]:
    command = [sys.executable, "-m", "gateway", "--cluster", url, "--node", name, "--web", "0", *EVERY_PORT]
    with begun([*command, "--rounds", "1", *(options or ("--db", "none"))], addresses) as gateway:
        yield gateway


@contextmanager
def two_nodes(*options: str) -> Iterator[tuple[Served, Served]]:
    """Two nodes that know each other, of which the first one pairs."""
    with registry() as url, node("a", url, *options) as one, node("b", url, *options) as other:
        one.await_log("linked with node b")
        other.await_log("node a pairs")
        yield one, other
