"""What a process has used, read from a /proc of the test's own, and from this process."""

import os
import subprocess
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
    two_cores,
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
    (tmp_path / "7" / "schedstat").write_text("5000000000 1500000000 12\n")
    return tmp_path


def test_user_and_system_time_are_added_and_waiting_is_read(proc: Path) -> None:
    assert used_by(7, proc) == Used(cpu=5.0, waited=1.5, first=3.0)


def test_what_its_own_processes_used_is_added(proc: Path) -> None:
    for number, children in {7: "8 10 ", 8: "9 "}.items():
        (proc / f"{number}" / "task" / f"{number}").mkdir(parents=True, exist_ok=True)
        (proc / f"{number}" / "task" / f"{number}" / "children").write_text(children)
    for number in (8, 9):
        (proc / f"{number}").mkdir(exist_ok=True)
        (proc / f"{number}" / "stat").write_text((proc / "7" / "stat").read_text())
    assert used_by(7, proc) == Used(cpu=15.0, waited=1.5, first=3.0)  # the tenth has ended


def test_waiting_is_nought_where_the_system_does_not_tell(proc: Path) -> None:
    (proc / "7" / "schedstat").unlink()
    assert used_by(7, proc) == Used(cpu=5.0, waited=0.0, first=3.0)


def test_first_thread_is_told_to_the_nanosecond_where_the_system_does(proc: Path) -> None:
    (proc / "7" / "task" / "7" / "schedstat").write_text("3141592653 0 12\n")
    assert used_by(7, proc) == Used(cpu=5.0, waited=1.5, first=3.141592653)


def test_first_thread_has_used_nought_where_the_system_does_not_tell(proc: Path) -> None:
    (proc / "7" / "task" / "7" / "stat").unlink()
    assert used_by(7, proc) == Used(cpu=5.0, waited=1.5, first=0.0)


def test_use_since_is_the_difference() -> None:
    assert Used(5.0, 1.5, 4.0).since(Used(2.0, 1.0, 1.5)) == Used(3.0, 0.5, 2.5)


def test_memory_is_told_in_bytes(proc: Path) -> None:
    assert rss_bytes(7, proc) == 2048 * 1024


def test_nothing_is_known_without_proc(tmp_path: Path) -> None:
    assert not has_proc(tmp_path)
    assert used_by(7, tmp_path) is None
    assert rss_bytes(7, tmp_path) is None


def test_process_that_is_not_there_is_an_error(proc: Path) -> None:
    with pytest.raises(NoSuchProcess, match="no process 8"):
        used_by(8, proc)
    with pytest.raises(NoSuchProcess, match="no process 8"):
        rss_bytes(8, proc)
    with pytest.raises(NoSuchProcess, match="no process 8"):
        pin(8, 0, proc=proc)


def test_process_that_has_ended_holds_no_memory(proc: Path) -> None:
    (proc / "7" / "status").write_text("Name:\tx\nState:\tZ (zombie)\n")
    with pytest.raises(NoSuchProcess, match="7 has ended"):
        rss_bytes(7, proc)


@pytest.mark.skipif(not has_proc(), reason="no /proc here")
def test_own_process_has_used_something() -> None:
    used, memory = used_by(os.getpid()), rss_bytes(os.getpid())
    assert used is not None
    assert used.cpu > 0
    assert memory is not None
    assert memory > 1_000_000


def test_cores_are_two_different_ones_or_none() -> None:
    cores = two_cores()
    assert cores is None or cores[0] != cores[1]


def test_time_that_the_host_took_is_read_where_the_system_tells(proc: Path) -> None:
    assert stolen(proc) is None
    (proc / "stat").write_text(f"cpu  9 9 9 9 9 9 9 {6 * TICKS} 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
    assert stolen(proc) == 6.0 / (os.cpu_count() or 1)


def test_cpu_time_is_added_over_all_threads(proc: Path) -> None:
    for thread, used in (("7", 1_500_000_000), ("8", 500_000)):
        (proc / "7" / "task" / thread).mkdir(exist_ok=True)
        (proc / "7" / "task" / thread / "schedstat").write_text(f"{used} 0 1\n")
    assert cpu_seconds(7, proc) == 1.5005
    (proc / "7" / "task" / "8" / "schedstat").unlink()
    assert cpu_seconds(7, proc) == 5.0  # in ticks


@pytest.mark.skipif(not has_proc(), reason="no /proc here")
def test_memory_of_a_process_is_that_of_all_that_it_has_started() -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as child:
        own, whole = rss_bytes(os.getpid()), memory_of(os.getpid())
        child.kill()
    assert own is not None
    assert whole is not None
    assert whole > own
