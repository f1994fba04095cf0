"""Runs a program that ends when the process that started it does, however that ends: on Linux.

The arguments are that process's id, the number of the signal that the program then gets, and the program with
its own arguments. It takes this process's place, and keeps its id. Sockets that were handed over to the one
who started it (`activation`) are handed on.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, number: int, command: list[str]) -> None:
    """Become the program. Return if whoever started this has ended already. Raises OSError."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if os.getppid() != parent:
        return
    if "LISTEN_FDS" in os.environ:
        os.environ["LISTEN_PID"] = str(os.getpid())
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
