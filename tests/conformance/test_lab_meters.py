"""What a process has used, read from a /proc of the test's own, and from this process."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.lab.meters import (
    NoSuchProcess,
    Used,
    cpu_seconds,
    has_proc,
    memory_of,
    pin,
    rss_bytes,
    stolen,
    used_by,
)

TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    for name in ("self", "7"):
        (tmp_path / name).mkdir()
    before = " ".join(str(number) for number in range(1, 11))
    stat = f"7 (a ) name) S {before} {3 * TICKS} {2 * TICKS} 99 99"
    (tmp_path / "self" / "stat").write_text(stat)
    (tmp_path / "7" / "stat").write_text(stat)
    (tmp_path / "7" / "task" / "7").mkdir(parents=True)
    (tmp_path / "7" / "task" / "7" / "stat").write_text(stat.replace(f" {3 * TICKS} ", f" {1 * TICKS} "))
    (tmp_path / "7" / "status").write_text("Name:\tx\nVmRSS:\t   2048 kB\n")
    return tmp_path


def test_use_of_a_process_is_that_of_its_threads_and_of_its_children(proc: Path) -> None:
    assert used_by(7, proc) == Used(cpu=5.0, waited=0.0, first=3.0)
    (proc / "7" / "task" / "7" / "schedstat").write_text("3141592653 1500000000 12\n")
    assert used_by(7, proc) == Used(cpu=5.0, waited=1.5, first=3.141592653)
    for number, children in {7: "8 10 ", 8: "9 "}.items():
        (proc / f"{number}" / "task" / f"{number}").mkdir(parents=True, exist_ok=True)
        (proc / f"{number}" / "task" / f"{number}" / "children").write_text(children)
    for number in (8, 9):
        (proc / f"{number}").mkdir(exist_ok=True)
        (proc / f"{number}" / "stat").write_text((proc / "7" / "stat").read_text())
    used = used_by(7, proc)
    assert used.cpu == 15.0  # the tenth has ended
    assert used.since(Used(2.0, 1.0, 1.5)) == Used(13.0, 0.5, used.first - 1.5)


def test_cpu_time_is_added_over_all_threads(proc: Path) -> None:
    for thread, used in (("7", 1_500_000_000), ("8", 500_000)):
        (proc / "7" / "task" / thread).mkdir(exist_ok=True)
        (proc / "7" / "task" / thread / "schedstat").write_text(f"{used} 0 1\n")
    assert cpu_seconds(7, proc) == 1.5005


def test_memory_is_in_bytes(proc: Path) -> None:
    assert rss_bytes(7, proc) == 2048 * 1024
    (proc / "7" / "status").write_text("Name:\tx\nState:\tZ (zombie)\n")
    with pytest.raises(NoSuchProcess, match="7 has ended"):
        rss_bytes(7, proc)


@pytest.mark.skipif(not has_proc(), reason="no /proc here")
def test_memory_of_a_process_is_that_of_all_that_it_has_started() -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as child:
        own, whole = rss_bytes(os.getpid()), memory_of(os.getpid())
        child.kill()
    assert whole > own > 1_000_000


@pytest.mark.parametrize("ask", [used_by, cpu_seconds, rss_bytes])
def test_process_that_is_not_there_is_an_error(ask: Callable[[int, Path], object], proc: Path) -> None:
    with pytest.raises(NoSuchProcess, match="no process 8"):
        ask(8, proc)
    with pytest.raises(NoSuchProcess, match="no process 8"):
        pin(8, 0, proc=proc)


def test_time_that_the_host_took_is_per_core(proc: Path) -> None:
    with pytest.raises(NoSuchProcess, match="on Linux alone"):
        stolen(proc)
    (proc / "stat").write_text(f"cpu  9 9 9 9 9 9 9 {6 * TICKS} 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
    assert stolen(proc) == 6.0 / (os.cpu_count() or 1)
