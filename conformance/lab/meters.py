"""What a process has used, read from /proc, and which core it may run on.

Where there is no /proc (outside of Linux), nothing is known: None, never a guess.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


class NoSuchProcess(Exception):
    """The process that was to be measured is not there."""


def has_proc(proc: Path = PROC) -> bool:
    """Return whether processes can be measured here."""
    return (proc / "self" / "stat").is_file()


@dataclass(frozen=True, slots=True)
class Used:
    """What a process has used since it began. In seconds."""

    cpu: float
    """User and system time of all its threads, and of the processes that it has, in ticks of mostly 10 ms."""
    waited: float
    """How long its first thread had work and no core, because others had it."""
    first: float = 0.0
    """What its first thread used of `cpu`."""

    def since(self, earlier: "Used") -> "Used":
        """Return what was used since then."""
        return Used(self.cpu - earlier.cpu, self.waited - earlier.waited, self.first - earlier.first)


def used_by(pid: int, proc: Path = PROC) -> Used | None:
    """Return what a process has used. Raises NoSuchProcess."""
    if not has_proc(proc):
        return None
    process = proc / str(pid)
    return Used(
        cpu=_cpu(_read(process / "stat")) + sum(_helper(each, proc) for each in children_of(pid, proc)),
        waited=_waited(process / "schedstat"),
        first=_first(process / "task" / str(pid)),
    )


def cpu_seconds(pid: int, proc: Path = PROC) -> float | None:
    """Return what all threads of a process have used, finer than in ticks where the system tells it.

    None where nothing is known. Raises NoSuchProcess.
    """
    used = used_by(pid, proc)
    if used is None:
        return None
    try:
        tasks = [(task / "schedstat").read_text() for task in (proc / str(pid) / "task").iterdir()]
    except FileNotFoundError:  # the system does not tell, or a thread has just ended
        return used.cpu
    except ProcessLookupError:
        raise NoSuchProcess(f"there is no process {pid}") from None
    return sum(int(text.split()[0]) for text in tasks) / 1e9 or used.cpu


def _helper(pid: int, proc: Path) -> float:
    try:
        used = used_by(pid, proc)
    except NoSuchProcess:  # it has just ended, and what it used is not known any more
        return 0.0
    return 0.0 if used is None else used.cpu


def children_of(pid: int, proc: Path = PROC) -> list[int]:
    """Return the processes that a process has started, and has still; none where the system does not tell."""
    found: list[int] = []
    for task in (proc / str(pid) / "task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended meanwhile
            found += map(int, task.read_text().split())
    return found


def runs(pid: int, words: bytes, proc: Path = PROC) -> bool:
    """Return whether a process has these words in its command line."""
    try:
        return words in (proc / str(pid) / "cmdline").read_bytes()
    except OSError:  # it has just ended
        return False


def memory_of(pid: int) -> int | None:
    """Return the bytes that a process and all that it has started hold. Raises NoSuchProcess."""
    total = rss_bytes(pid)
    if total is None:
        return None
    for child in children_of(pid):
        with suppress(NoSuchProcess):  # it has just ended
            total += memory_of(child) or 0
    return total


def _cpu(stat: str) -> float:
    # The name of the program stands in brackets and may have blanks and brackets in it.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _first(task: Path) -> float:
    """Return it to the nanosecond where the system tells, else in ticks, and 0 where it tells nothing."""
    try:
        return int((task / "schedstat").read_text().split()[0]) / 1e9
    except OSError:
        pass
    try:
        return _cpu((task / "stat").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return 0.0


def _waited(path: Path) -> float:
    """Return 0 where the system does not tell."""
    try:
        return int(path.read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


def stolen(proc: Path = PROC) -> float | None:
    """Return for how many seconds the host gave the cores to other machines, on the average of the cores.

    None where the system does not tell.
    """
    try:
        fields = (proc / "stat").read_text().split("\n", 1)[0].split()
        return int(fields[8]) / os.sysconf("SC_CLK_TCK") / (os.cpu_count() or 1)
    except (OSError, IndexError):
        return None


def rss_bytes(pid: int, proc: Path = PROC) -> int | None:
    """Return the memory that a process holds, in bytes. Raises NoSuchProcess."""
    if not has_proc(proc):
        return None
    for line in _read(proc / str(pid) / "status").splitlines():
        name, _, value = line.partition(":")
        if name == "VmRSS":
            return int(value.split()[0]) * 1024
    raise NoSuchProcess(f"process {pid} has ended")


def two_cores() -> tuple[int, int] | None:
    """Return two cores to use, one for a server and one for its load; None where there is but one."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    return (cores[0], cores[1]) if len(cores) > 1 else None


def pin(pid: int, *cores: int, proc: Path = PROC) -> None:
    """Keep all threads of a process on some cores, those that it starts included. Raises NoSuchProcess."""
    try:
        for task in (proc / str(pid) / "task").iterdir():
            os.sched_setaffinity(int(task.name), cores)
    except (FileNotFoundError, ProcessLookupError):
        raise NoSuchProcess(f"there is no process {pid}") from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        raise NoSuchProcess(f"there is no process {path.parent.name}") from None
