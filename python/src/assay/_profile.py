"""A profile and what it contains: trials, launches, layers, series, metrics. Everything is read when it is asked for."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Generic, Iterator, TypeVar, overload

from . import _abi, _library
from ._errors import ClosedError
from ._library import Handle, text
from ._metric import STATES, Metric
from ._report import Report, taken

T = TypeVar("T")
TRIAL_STATES = ("running", "ok", "failed", "skipped", "interrupted")  # by their number in the library


class Record:
    """Facts that belong together, as attributes; `to_dict()` has them all."""

    _values: dict[str, Any]

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__["_values"] = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self.__dict__.get('_values', ()))}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(self) is type(other) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._values,)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._values.items() if value not in ("", None, []))
        return f"{type(self).__name__}({shown})"

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dict."""
        return dict(self._values)


class Environment(Record):
    """The machine, when the profile was made."""


class Model(Record):
    """A model that was run."""


class Finding(Record):
    """A conclusion of a rule, with its evidence."""


class Ceiling(Record):
    """A measured peak of a device."""


class Target(Record):
    """What a trial ran on."""


class Input(Record):
    """An input of a workload, with all dimensions fixed."""


class Layer(Record):
    """One layer: what the engine runs and times as a unit. `time` is a metric in s."""


class Layers(Record):
    """The layers of a trial as a whole: how they were timed, the engine's fixed cost, what is unattributed."""


class Series(Record):
    """A metric over time; `times` (s since the run began) and `values` are sequences of numbers."""


class Stability(Record):
    """Whether the latency was stable, and what to do about it."""


def plain(value: Any, counted: dict[str, int], name: str) -> Any:
    """A member of a struct of the library as a Python value."""
    if isinstance(value, bytes) or value is None:
        return text(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, ctypes._Pointer):  # an array of strings
        return [text(value[i]) for i in range(counted[name])]
    return value


def record(kind: type[Any], struct: Any, unknown: Sequence[str] = (), least: int = 0) -> Any:
    """A record of a filled struct; the members in `unknown` are None below `least`."""
    fields = [name for name, _ in struct._fields_ if name != "size"]
    counted = {name: int(getattr(struct, count)) for name in fields
               for count in (f"{name}_count", f"{name[:-1]}_count") if count in fields}
    values = {}
    for name in fields:
        if name.endswith("_count") and (name[:-6] in fields or f"{name[:-6]}s" in fields):
            continue
        value = plain(getattr(struct, name), counted, name)
        values[name] = None if name in unknown and isinstance(value, (int, float)) and value < least else value
    return kind(values)


def filled(kind: Any, call: Callable[[Any], bool]) -> Any:
    """A struct that call(pointer) fills; None: there was nothing to fill it with."""
    struct = kind()
    struct.size = ctypes.sizeof(struct)
    return struct if call(ctypes.byref(struct)) else None


def metric_of(struct: Any) -> Metric:
    """A metric of the library."""
    return Metric(struct.value, text(struct.unit), STATES[struct.state], text(struct.source),
                  text(struct.note) or ("" if struct.state else "unknown"), text(struct.name))


class Metrics(Mapping[str, Metric]):
    """Metrics by their names. A name that assay knows but this set lacks gives an unavailable metric; an unknown one is a KeyError."""

    def __init__(self, handle: Handle, pointer: int | None) -> None:
        self._handle = handle
        self._at = pointer

    def _set(self) -> int | None:
        return self._at if self._handle.pointer else None

    def __len__(self) -> int:
        return int(_library.load().assay_metrics_count(self._set())) if self._set() else 0

    def __iter__(self) -> Iterator[str]:
        at = _library.load().assay_metrics_at
        for index in range(len(self)):
            yield text(at(self._set(), index).contents.name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._set() is not None and bool(
            _library.load().assay_metrics_get(self._set(), name.encode()))

    def __getitem__(self, name: str) -> Metric:
        library = _library.load()
        found = library.assay_metrics_get(self._set(), name.encode()) if self._set() else None
        if found:
            return metric_of(found.contents)
        info = library.assay_metric_lookup(name.encode())
        if not info:
            import difflib

            near = difflib.get_close_matches(name, list(self), 3)
            raise KeyError(f"{name!r} is no metric{'; similar: ' + ', '.join(near) if near else ''}")
        why = text(info.contents.unread) or "this was not measured"
        return Metric.unavailable(why, text(info.contents.unit), name)

    def __repr__(self) -> str:
        return f"<Metrics: {', '.join(self)}>"

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """As in the JSON of the command line."""
        return {name: metric.to_dict() for name, metric in self.items()}


class Items(Sequence[T], Generic[T]):
    """Children of an object of the library, read one by one."""

    def __init__(self, count: int, at: Callable[[int], T]) -> None:
        self._count = count
        self._at = at

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(self._count))]
        position = index + self._count if index < 0 else index
        if not 0 <= position < self._count:
            raise IndexError(f"index {index} of {self._count}")
        return self._at(position)

    def __repr__(self) -> str:
        return f"[{', '.join(repr(item) for item in self[:8])}{', …' if len(self) > 8 else ''}]"


def counted(read: Callable[[int], Any]) -> int:
    """How many children there are, where the library does not say: it answers for every index below."""
    high = 1
    while read(high - 1) is not None:
        high *= 2
    low = high // 2
    while low < high - 1:
        middle = (low + high) // 2
        if read(middle - 1) is None:
            high = middle
        else:
            low = middle
    return low


def numbers(handle: Handle, pointer: Any, count: int) -> memoryview[float]:
    """An array of doubles of the library, without a copy, read-only: numpy.asarray() of it does not copy either. It keeps what it
    is borrowed from alive."""
    if not pointer or not count:
        return memoryview(b"").cast("d")
    array = (ctypes.c_double * count).from_address(ctypes.addressof(pointer.contents))
    array._owner = handle  # type: ignore[attr-defined]
    return memoryview(array).cast("B").cast("d").toreadonly()


class Launch:
    """One worker process of a trial."""

    def __init__(self, handle: Handle, pointer: int) -> None:
        self._handle, self._at = handle, pointer
        info = filled(_abi.LaunchInfo, lambda to: _library.load().assay_launch_read(self._here(), to))
        self.id: int = info.id
        self.state: str = TRIAL_STATES[info.state]
        self.reason: str = text(info.reason)
        self.streams: int = info.streams
        self.sample_count: int = info.sample_count
        self.warmup: int = info.warmup
        """Leading samples of the first stream that statistics leave out."""

    def _here(self) -> int | None:
        return self._at if self._handle.pointer else None

    @property
    def metrics(self) -> Metrics:
        """Of this launch alone."""
        return Metrics(self._handle, _library.load().assay_launch_metrics(self._here()))

    def samples(self, stream: int = 0) -> memoryview[float]:
        """Durations in ns of one stream, in the order they were taken. Not copied: numpy.asarray(launch.samples()) is a view."""
        count = ctypes.c_size_t()
        found = _library.load().assay_launch_samples(self._here(), stream, ctypes.byref(count))
        return numbers(self._handle, found, count.value)

    def __repr__(self) -> str:
        return f"<Launch {self.id}: {self.state}, {self.sample_count} samples>"


class Trial:
    """One workload on one target, measured by one or more launches."""

    def __init__(self, handle: Handle, pointer: int) -> None:
        self._handle, self._at = handle, pointer
        info = filled(_abi.TrialInfo, lambda to: _library.load().assay_trial_read(self._here(), to))
        facts = record(Record, info, ("batch", "more_iterations"))
        self.id: int = facts.id
        self.state: str = TRIAL_STATES[facts.state]
        self.reason: str = facts.reason
        self.label: str = facts.label
        self.role: str = facts.role
        self.batch: int | None = facts.batch
        self.notes: list[str] = facts.notes
        self.stability = Stability({"verdict": facts.stability, "reasons": facts.stability_reasons,
                                    "more_iterations": facts.more_iterations})

    def _here(self) -> int | None:
        return self._at if self._handle.pointer else None

    def _record(self, kind: type[Any], struct: Any, call: Any, unknown: Sequence[str] = (), least: int = 0) -> Any:
        found = filled(struct, lambda to: call(self._here(), to))
        return record(kind, found, unknown, least) if found else kind({})

    @property
    def metrics(self) -> Metrics:
        """Of the trial; `trial["latency.p50"]` is the same as `trial.metrics["latency.p50"]`."""
        return Metrics(self._handle, _library.load().assay_trial_metrics(self._here()))

    def __getitem__(self, name: str) -> Metric:
        return self.metrics[name]

    @property
    def model(self) -> Model:
        """What ran."""
        made: Model = self._record(Model, _abi.Model, _library.load().assay_trial_model, ("parameters", "weight_bytes", "node_count"))
        return made

    @property
    def target(self) -> Target:
        """What it ran on."""
        made: Target = self._record(Target, _abi.TargetInfo, _library.load().assay_trial_target, ("threads", "streams"), 1)
        return made

    @property
    def inputs(self) -> Items[Input]:
        """With all dimensions fixed."""
        def at(index: int) -> Any:
            found = filled(_abi.Input, lambda to: _library.load().assay_trial_input(self._here(), index, to))
            if not found:
                return None
            shape = tuple(found.dims[i] for i in range(found.rank)) if found.rank >= 0 else None
            return Input({"name": text(found.name), "dtype": text(found.dtype), "shape": shape, "fill": text(found.fill),
                          "state": text(found.state)})
        return Items(counted(at), at)

    @property
    def launches(self) -> Items[Launch]:
        """The worker processes."""
        call = _library.load().assay_trial_launch
        return Items(counted(lambda index: call(self._here(), index)), lambda index: Launch(self._handle, call(self._here(), index)))

    @property
    def layer_summary(self) -> Layers:
        """How layers were timed, and what of the latency belongs to none."""
        made: Layers = self._record(Layers, _abi.Layers, _library.load().assay_trial_layers)
        return made

    @property
    def layers(self) -> Items[Layer]:
        """In execution order."""
        summary = filled(_abi.Layers, lambda to: _library.load().assay_trial_layers(self._here(), to))
        return Items(summary.count if summary else 0, self._layer)

    def _layer(self, index: int) -> Layer:
        found = filled(_abi.Layer, lambda to: _library.load().assay_trial_layer(self._here(), index, to))
        values = record(Record, found).to_dict()
        state, note = STATES[values.pop("state")], values["note"]
        seconds = values.pop("time_ns")
        time = Metric.unavailable(note or "not timed", "s") if seconds is None else Metric(seconds / 1e9, "s", state, "clock", note)
        interval = [values.pop(name) for name in ("low_ns", "high_ns")]
        between = None if None in interval else (interval[0] / 1e9, interval[1] / 1e9)
        return Layer({"title": values.pop("title"), "name": values.pop("name"), "op": values.pop("op"), "time": time,
                      "interval": between, "nodes": values.pop("from"), **values})

    @property
    def series(self) -> Items[Series]:
        """Metrics over time; a channel that could not be read is one without values."""
        def at(index: int) -> Any:
            found = filled(_abi.Series, lambda to: _library.load().assay_trial_series(self._here(), index, to))
            if not found:
                return None
            return Series({
                "name": text(found.name), "unit": text(found.unit), "state": STATES[found.state], "source": text(found.source),
                "note": text(found.note), "probe": text(found.probe), "launch": found.launch, "counter": found.counter,
                "times_ns": numbers(self._handle, found.times_ns, found.count),
                "values": numbers(self._handle, found.values, found.count),
            })
        return Items(counted(at), at)

    def __repr__(self) -> str:
        label = f" {self.label}" if self.label else ""
        reason = f", {self.reason}" if self.reason else ""
        return f"<Trial {self.id}{label}: {self.state}{reason}>"


class Profile(Report):
    """The result of a measurement, or a file that was opened.

    `profile["latency.p50"]` is a metric of the first trial that ran; `profile.trials` has them all. Closing is optional: memory is
    freed with the last object that reads it."""

    def __init__(self, handle: Handle) -> None:
        self._handle: Handle | None = handle
        info = filled(_abi.ProfileInfo, lambda to: _library.load().assay_profile_read(handle.pointer, to))
        self.path: str = text(info.path)
        self.kind: str = text(info.kind)
        self.created: str = text(info.created)
        self.assay_version: str = text(info.assay)
        self.complete: bool = info.complete
        self.interrupted: bool = info.interrupted

    def _open(self) -> Handle:
        if self._handle is None:
            raise ClosedError("the profile is closed")
        return self._handle

    def close(self) -> None:
        """Lets go of the file. Arrays that were read stay valid."""
        self._handle = None

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def trials(self) -> Items[Trial]:
        """One per workload and target, failed ones included."""
        handle, library = self._open(), _library.load()
        return Items(library.assay_profile_trials(handle.pointer),
                     lambda index: Trial(handle, library.assay_profile_trial(handle.pointer, index)))

    @property
    def trial(self) -> Trial:
        """The first trial that ran; else the first. LookupError: there is none."""
        trials = self.trials
        if not trials:
            raise LookupError("the profile has no trial")
        return next((trial for trial in trials if trial.state == "ok"), trials[0])

    def __getitem__(self, name: str) -> Metric:
        return self.trial.metrics[name]

    @property
    def metrics(self) -> Metrics:
        """Of `trial`."""
        return self.trial.metrics

    @property
    def layers(self) -> Items[Layer]:
        """Of `trial`."""
        return self.trial.layers

    @property
    def environment(self) -> Environment:
        """The machine, when the profile was made."""
        found = filled(_abi.Environment, lambda to: _library.load().assay_profile_environment(self._open().pointer, to))
        made: Environment = record(Environment, found, ("packages", "cores", "threads"), 1)
        return made

    def _each(self, kind: type[Any], struct: Any, call: Any, unknown: Sequence[str] = ()) -> Items[Any]:
        handle = self._open()

        def at(index: int) -> Any:
            found = filled(struct, lambda to: call(handle.pointer, index, to))
            return record(kind, found, unknown) if found else None
        return Items(counted(at), at)

    @property
    def models(self) -> Items[Model]:
        """What was run."""
        return self._each(Model, _abi.Model, _library.load().assay_profile_model, ("parameters", "weight_bytes", "node_count"))

    @property
    def findings(self) -> Items[Finding]:
        """What to change, and why."""
        return self._each(Finding, _abi.Finding, _library.load().assay_profile_finding)

    @property
    def ceilings(self) -> Items[Ceiling]:
        """Measured peaks of the devices."""
        return self._each(Ceiling, _abi.Ceiling, _library.load().assay_profile_ceiling)

    def _render(self, options: Any) -> str:
        handle = self._open()
        return taken(lambda *to: _library.load().assay_report(handle.pointer, ctypes.byref(options), *to))

    def figure(self, name: str | None = None) -> str:
        """A figure as SVG: "layers", "latency", "roofline", "sweep", … (doc/charts.md); None: the main one of this kind of profile.
        AssayError with the reason: the profile has no data for it."""
        handle = self._open()
        which = name.encode() if name else None
        return taken(lambda *to: _library.load().assay_report_figure(handle.pointer, which, *to))

    def __repr__(self) -> str:
        where = f" {self.path}" if self.path else ""
        if self._handle is None:
            return f"<{type(self).__name__}{where}: closed>"
        trials = self.trials
        what = repr(trials[0])[1:-1] if len(trials) == 1 else f"{len(trials)} trials"
        return f"<{type(self).__name__}{where}: {self.kind}, {what}{'' if self.complete else ', not complete'}>"
