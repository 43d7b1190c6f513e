"""Progress of a measurement: a record for the caller's function, a bar on a terminal, a line in a notebook."""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple

from ._library import text

_WIDTH = 24


class Progress(NamedTuple):
    """How far a measurement is: struct assay_progress (run.h). None: not known."""

    phase: str
    launch: int
    launches: int
    done: float | None
    point: int
    points: int
    best: str
    left_s: float | None
    latency_s: float | None
    half_width: float | None

    def line(self) -> str:
        """In one line, without the bar."""
        parts = [self.phase]
        if self.points or self.point:
            parts.append(f"{self.point}/{self.points}" if self.points else f"{self.point}")
        elif self.launches > 1:
            parts.append(f"launch {self.launch}/{self.launches}")
        if self.done is not None:
            parts.append(f"{self.done:.0%}")
        if self.best:
            parts.append(f"best {self.best}")
        if self.left_s is not None:
            parts.append(f"{self.left_s:.0f} s left")
        return ", ".join(parts)


def progress_of(struct: Any) -> Progress:
    """The record of the library's struct, in which 0 stands for not known."""
    return Progress(text(struct.phase), struct.launch, struct.launches, struct.done if struct.done >= 0 else None, struct.point,
                    struct.points, text(struct.best), struct.left_s or None, struct.latency_s or None, struct.half_width or None)


class _Terminal:
    def __init__(self) -> None:
        self._shown = 0

    def __call__(self, now: Progress) -> None:
        filled = 0 if now.done is None else round(now.done * _WIDTH)
        line = f"[{'#' * filled}{' ' * (_WIDTH - filled)}] {now.line()}"
        sys.stderr.write(f"\r{line:<{self._shown}}")
        sys.stderr.flush()
        self._shown = len(line)

    def end(self) -> None:
        if self._shown:
            sys.stderr.write(f"\r{'':<{self._shown}}\r")
            sys.stderr.flush()


class _Notebook:
    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None

    def __call__(self, now: Progress) -> None:
        shown = {"text/plain": now.line(), "text/html": f'<progress max="1" {_value(now)}></progress> {_escape(now.line())}'}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def end(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _value(now: Progress) -> str:
    return "" if now.done is None else f'value="{now.done:.3f}"'


def _escape(line: str) -> str:
    import html

    return html.escape(line)


def _kernel_display() -> Any:
    """display() of IPython, if this is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    return ipython.display.display if ipython and type(shell).__name__ == "ZMQInteractiveShell" else None


def shown(wish: bool | Callable[[Progress], object] | None) -> tuple[Callable[[Progress], object] | None, Callable[[], None]]:
    """What to call with progress (None: nothing) and at the end. wish None: a bar where someone sees it."""
    if callable(wish):
        return wish, lambda: None
    if wish is False:
        return None, lambda: None
    display = _kernel_display()
    if display:
        notebook = _Notebook(display)
        return notebook, notebook.end
    if wish or (hasattr(sys.stderr, "isatty") and sys.stderr.isatty()):
        terminal = _Terminal()
        return terminal, terminal.end
    return None, lambda: None
