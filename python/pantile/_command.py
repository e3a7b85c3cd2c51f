"""The command ``pantile``: program texts by its core, Python by the launcher of MPI."""

import signal
import sys

from pantile import _core, _launch


def main(words: list[str] | None = None) -> int:
    """Does what the words after the name of the command say, and gives the exit code."""
    words = sys.argv[1:] if words is None else words
    try:
        script = _launch.parse(words)
        if script is not None:
            return _launch.start(script)
    except _launch.Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return refused.code
    # The core runs without the interpreter, which could not raise KeyboardInterrupt meanwhile.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.command(["pantile", *words])


if __name__ == "__main__":
    sys.exit(main())
