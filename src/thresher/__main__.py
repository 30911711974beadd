"""`python -m thresher`, and `thresher`: the command line."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""What shells expect of a command that Ctrl-C ended."""


def main() -> None:
    """Run the command line, which takes a moment to load: who interrupts that is shown no traceback either."""
    try:
        from thresher.cli.app import main as run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
