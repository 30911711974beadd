"""Run a command; fail where it took more seconds of a processor than it may: `python -m tests.within 240 make test`."""

from __future__ import annotations

import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage


def main(limit: str, *command: str) -> int:
    """The command's exit code, or 1 where it took too long."""
    code = subprocess.run(command, check=False).returncode
    taken = getrusage(RUSAGE_CHILDREN)
    sys.stdout.write(f"took {taken.ru_utime:.0f} + {taken.ru_stime:.0f} s of a processor, of {limit}\n")
    return code or int(taken.ru_utime + taken.ru_stime > float(limit))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
