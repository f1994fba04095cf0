"""The resources that a process has used, from /proc, and the cores it may run on. Linux only."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


class NoSuchProcess(Exception):
    """The process to measure does not exist."""


def has_proc(proc: Path = PROC) -> bool:
    """Return whether processes can be measured on this system."""
    return (proc / "self" / "stat").is_file()


@dataclass(frozen=True, slots=True)
class Used:
    """The CPU and waiting times of a process since it started, in seconds."""

    cpu: float
    """User and system time of all its threads and child processes, in ticks of usually 10 ms."""
    waited: float
    """How long its first thread was ready to run without a core; 0 if the kernel does not record it."""
    first: float
    """The CPU time of its first thread."""

    def since(self, earlier: "Used") -> "Used":
        """Return the times since an earlier measurement."""
        return Used(self.cpu - earlier.cpu, self.waited - earlier.waited, self.first - earlier.first)


def used_by(pid: int, proc: Path = PROC) -> Used:
    """Return the CPU and waiting times of a process. Raises NoSuchProcess."""
    process = proc / str(pid)
    cpu = _ticks(_read(process / "stat"))
    for child in children_of(pid, proc):
        with suppress(NoSuchProcess):  # it has just ended
            cpu += used_by(child, proc).cpu
    first, waited = _scheduled(process / "task" / str(pid))
    return Used(cpu, waited, first)


def cpu_seconds(pid: int, proc: Path = PROC) -> float:
    """Return the CPU time of the current threads of a process, in seconds. Raises NoSuchProcess.

    The resolution is a nanosecond if the kernel has such statistics, otherwise a tick.
    """
    _read(proc / str(pid) / "stat")
    return sum(_scheduled(task)[0] for task in (proc / str(pid) / "task").iterdir())


def children_of(pid: int, proc: Path = PROC) -> list[int]:
    """Return the child processes of a process; none if the kernel does not list them."""
    found: list[int] = []
    for task in (proc / str(pid) / "task").glob("*/children"):
        with suppress(OSError):  # a thread that has just ended
            found += map(int, task.read_text().split())
    return found


def runs(pid: int, words: bytes, proc: Path = PROC) -> bool:
    """Return whether the command line of a process contains `words`."""
    try:
        return words in (proc / str(pid) / "cmdline").read_bytes()
    except OSError:  # it has just ended
        return False


def memory_of(pid: int) -> int:
    """Return the bytes of memory that a process and all its descendants hold. Raises NoSuchProcess."""
    total = rss_bytes(pid)
    for child in children_of(pid):
        with suppress(NoSuchProcess):  # it has just ended
            total += memory_of(child)
    return total


def rss_bytes(pid: int, proc: Path = PROC) -> int:
    """Return the bytes of memory that a process holds. Raises NoSuchProcess."""
    for line in _read(proc / str(pid) / "status").splitlines():
        name, _, value = line.partition(":")
        if name == "VmRSS":
            return int(value.split()[0]) * 1024
    raise NoSuchProcess(f"process {pid} has ended")


def stolen(proc: Path = PROC) -> float:
    """Return the seconds for which the host of a virtual machine took a core, averaged over the cores."""
    fields = _read(proc / "stat").split("\n", 1)[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") / (os.cpu_count() or 1)


def two_cores() -> tuple[int, int] | None:
    """Return two cores, one for a server and one for its load; None if only one is available."""
    cores = sorted(os.sched_getaffinity(0))
    return (cores[0], cores[1]) if len(cores) > 1 else None


def pin(pid: int, *cores: int, proc: Path = PROC) -> None:
    """Pin the threads of a process to some cores. New threads and processes inherit the cores.

    Raises NoSuchProcess.
    """
    try:
        for task in (proc / str(pid) / "task").iterdir():
            os.sched_setaffinity(int(task.name), cores)
    except (FileNotFoundError, ProcessLookupError):
        raise NoSuchProcess(f"there is no process {pid}") from None


def _ticks(stat: str) -> float:
    """Return the user and system time in a `stat` file, in seconds."""
    # The program's name is in brackets, and may itself contain blanks and brackets.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _scheduled(task: Path) -> tuple[float, float]:
    """Return how long a thread has run and has waited for a core, in seconds; 0 and 0 if it has ended."""
    with suppress(OSError):
        ran, waited, _ = (task / "schedstat").read_text().split()
        return int(ran) / 1e9, int(waited) / 1e9
    with suppress(NoSuchProcess):  # a kernel without these statistics
        return _ticks(_read(task / "stat")), 0.0
    return 0.0, 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        if path.parent.name.isdigit():
            raise NoSuchProcess(f"there is no process {path.parent.name}") from None
        raise NoSuchProcess(f"there is no {path}: processes are measured on Linux alone") from None
