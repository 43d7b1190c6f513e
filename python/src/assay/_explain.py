"""Timelines of other profilers. The C API has no call for them: the command-line program reads them, in a process of its own."""

from __future__ import annotations

import os
from typing import Any

from . import _library
from ._errors import error_of
from ._report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._options import Path

_CODES = {2: "EINVAL", 130: "EINTERRUPTED"}


def program(*arguments: str) -> bytes:
    """What the program prints. AssayError: it failed, with what it said."""
    import subprocess

    done = subprocess.run([_library.program_path(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          env=environment())
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("assay: ")
        raise error_of(_CODES.get(done.returncode, "EFORMAT"), said or f"assay ended with status {done.returncode}")
    return done.stdout


def environment() -> dict[str, str]:
    """The environment of the program: with the ONNX Runtime that Python has, unless one is named."""
    runtime = _library.runtime_path()
    return {**os.environ, "ASSAY_ORT_LIBRARY": runtime} if runtime else dict(os.environ)


class Explanation(Report):
    """What a timeline says: the diagnosis, and the numbers behind it. Of two timelines: what changed."""

    def __init__(self, traces: list[str], options: list[str]) -> None:
        self._arguments = [*options, "--", *traces]
        self._dict: dict[str, Any] | None = None
        self.to_dict()  # what cannot be read is refused by the call that names it

    def to_dict(self) -> dict[str, Any]:
        if self._dict is None:
            import json

            self._dict = json.loads(program("explain", "--quiet", "--json", *self._arguments))
        made: dict[str, Any] = self._dict
        return made

    def _render(self, options: Any) -> str:
        given = ["--format", options.format.decode()]
        for name in ("columns", "top"):
            if getattr(options, name):
                given += [f"--{name}", str(getattr(options, name))]
        if options.table:
            given += ["--table", options.table.decode()]
        given += [flag for flag, on in (("--full", options.full), ("--ascii", options.ascii)) if on]
        return program("explain", "--quiet", *given, *self._arguments).decode("utf-8", "replace")

    @property
    def diagnosis(self) -> str:
        """The one thing that is wrong: "launch-overhead", "transfers", "starved", …; "" of two timelines."""
        return str(self.to_dict().get("diagnosis", {}).get("id", ""))

    def __repr__(self) -> str:
        return f"<Explanation: {self.diagnosis or 'of two timelines'}>"


def explain(*traces: Path, format: str | None = None, merge: bool = False) -> Explanation:
    """Reads a timeline that another profiler wrote and says what is wrong. Several are ranks of one job, where they say so, or parts
    of one (`merge`); two others are compared. `format`: that of the traces; None: recognised by their content."""
    if not traces:
        raise TypeError("explain() needs a trace")
    return Explanation([os.fspath(trace) for trace in traces],
                       [*(["--from", format] if format else []), *(["--merge"] if merge else [])])
