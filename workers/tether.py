"""Start a program that is told to stop when its parent dies, however that happens.

python -I -S tether.py PARENT_PID PROGRAM ARGUMENT...

A process of its own, in the standard library alone: code between fork and exec is not safe in a program with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # prctl(2)


def main() -> None:
    """Tie this process to its parent and become the program."""
    parent, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit(1)  # The parent died before the tie was made.
    os.execv(command[0], command)  # noqa: S606  # no shell is what is wanted


if __name__ == "__main__":
    main()
