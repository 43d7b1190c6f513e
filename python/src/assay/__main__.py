"""python -m assay: the command-line program, in place of this process."""

from __future__ import annotations

import os
import sys

from ._errors import LibraryError


def main() -> int:
    """Does not return if the program was found."""
    from ._explain import environment
    from ._library import program_path

    try:
        program = program_path()
        os.execve(program, [program, *sys.argv[1:]], environment())
    except (LibraryError, OSError) as error:
        print(f"assay: {error}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
