"""What every result has: reports in the formats of the library, a dict, a data frame, and how a notebook shows it."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import _abi, _library
from ._errors import AssayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    Path = Union[str, os.PathLike[str]]

_NOTEBOOK_COLUMNS = 110
_ENDINGS = {"html": "html", "htm": "html", "md": "markdown", "markdown": "markdown", "csv": "csv", "json": "json", "xml": "junit",
            "txt": "text"}


# What would provide a metric, by the prefix of its name (a change of a finding: of its name), in the terms of this package.
_HINTS = [(prefix.encode(), ctypes.create_string_buffer(hint.encode())) for prefix, hint in (
    ("cache.", "counters=True"), ("change.batch", "batch=VALUE"), ("change.iterations", "iterations=VALUE"),
    ("change.layout-off", 'optimization="extended"'), ("change.optimize", 'optimization="all"'),
    ("change.spinning-off", "spinning_off=True"), ("change.threads", "threads=VALUE"), ("change.zoo", 'assay.run("VALUE")'),
    ("compute.utilization", "ceilings=True"), ("efficiency.", "power=True"), ("energy.", "power=True"), ("hardware.", "counters=True"),
    ("latency.p", "time_s, iterations"), ("llm.", "time_s, iterations"), ("memory.bandwidth_utilization", "ceilings=True"),
    ("memory.bandwidth", "counters=True"), ("memory.peak.device", "memory=True"), ("power.", "power=True"),
    ("realtime.", "seconds_per_inference"), ("roofline.", "ceilings=True"), ("state.", 'states=["none"]'), ("unavailable", "full=True"),
    ("workload", "batch, sequence, dims, shapes, inputs, seed"))]


def _hint(metric: bytes) -> int | None:
    return next((ctypes.addressof(hint) for prefix, hint in _HINTS if metric.startswith(prefix)), None)


_HINT = _abi.HintFn(_hint)


def taken(call: Any) -> str:
    """The text that call(char **, size_t *, error *) makes."""
    made, length, error = ctypes.c_void_p(), ctypes.c_size_t(), _abi.Error()
    code = call(ctypes.byref(made), ctypes.byref(length), ctypes.byref(error))
    try:
        _library.check(code, error)
        return ctypes.string_at(made.value or 0, length.value).decode("utf-8", "replace")
    finally:
        _library.load().assay_free(made)


class Report:
    """A result that can be shown."""

    def _render(self, options: Any) -> str:
        raise NotImplementedError

    def report(self, format: str = "text", *, columns: int | None = None, color: bool = False, ascii: bool = False,
               top: int | None = None, table: str | None = None, detail: str | None = None, full: bool = False) -> str:
        """The report as text: "text", "markdown", "html", "csv", "json" and, where there is one, "junit".

        The arguments are those of struct assay_report_options (report.h): `table` chooses the table of CSV, `full` shows what the
        first screen leaves out."""
        from ._options import fill

        options = _abi.Report()
        fill([options], {"format": format, "columns": columns, "color": color, "ascii": ascii, "top": top, "table": table,
                         "detail": detail, "full": full}, "report")
        options.hint = _HINT
        return self._render(options)

    def save_report(self, path: Path, **options: Any) -> None:
        """Writes the report; the extension chooses the format (.html, .md, .csv, .json, .xml, .txt, .svg)."""
        name = os.fspath(path)
        ending = name.rsplit(".", 1)[-1].lower() if "." in os.path.basename(name) else "txt"
        if ending == "svg":
            words = self.figure(**options)
        elif ending in _ENDINGS:
            words = self.report(_ENDINGS[ending], **options)
        else:
            raise ValueError(f"unknown format .{ending}; known: {', '.join('.' + known for known in _ENDINGS)}, .svg")
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write(words)

    def figure(self, name: str | None = None) -> str:
        """A figure as SVG; None: the main one of this kind of result. AssayError: there is none."""
        raise AssayError(f"a {type(self).__name__.lower()} has no figure", "ENOTFOUND")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as the JSON of the command line has it (doc/design.md, section 10); unknown numbers are None."""
        import json

        made: dict[str, Any] = json.loads(self.report("json"))
        return made

    def rows(self, table: str | None = None) -> list[dict[str, Any]]:
        """A table of the report as rows; the table is that of CSV. Numbers are numbers, unknown ones None."""
        import csv

        return [{key: _cell(value) for key, value in row.items()}
                for row in csv.DictReader(self.report("csv", table=table).splitlines(keepends=True))]

    def to_pandas(self, table: str | None = None) -> Any:
        """A table of the report as a pandas.DataFrame; needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows(table))

    def to_polars(self, table: str | None = None) -> Any:
        """A table of the report as a polars.DataFrame; needs polars."""
        import polars

        return polars.DataFrame(self.rows(table), infer_schema_length=None)

    def __str__(self) -> str:
        return self.report()

    def _repr_svg_(self) -> str | None:
        try:
            picture = self.figure()
        except AssayError:
            return None
        return picture[picture.index("<svg") :]  # without the prolog of a file, which is no part of a page

    def _repr_html_(self) -> str:
        import html

        words = html.escape(self.report(columns=_NOTEBOOK_COLUMNS))
        svg = self._repr_svg_()
        picture = ""
        if svg:
            import base64

            data = base64.b64encode(svg.encode()).decode()
            picture = f'<img alt="" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
        return f'<div class="assay">{picture}<pre style="font-family:monospace;line-height:1.25">{words}</pre></div>'


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value == "":
        return None
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value
