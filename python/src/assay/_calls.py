"""The calls of the library, with its options as keyword arguments."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable

from . import _abi, _library, _options
from ._library import Cancel, Handle, text
from ._profile import Items, Metrics, Profile, Record, counted, filled, plain
from ._progress import progress_of, shown
from ._report import Report, taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Sequence, Unpack

    from ._options import GoalOptions, Path, RunOptions, WorkloadOptions

    Words = str | int | Sequence[str | int]


# --- what the measuring calls share ------------------------------------------------------------------------------------------------


class _Guard:
    """The callbacks of one call. What one of them raises stops the measurement and is raised again when it has ended: an exception
    cannot pass through C."""

    def __init__(self, progress: Any, remark: Any, cancel: Any) -> None:
        if cancel is not None and not isinstance(cancel, Cancel):
            raise TypeError(f"cancel takes an assay.Cancel, not {type(cancel).__name__}")
        for name, value in (("progress", progress if not isinstance(progress, bool) else None), ("remark", remark)):
            if value is not None and not callable(value):
                raise TypeError(f"{name} takes a function, not {type(value).__name__}")
        self.cancel: Cancel = cancel or Cancel()
        self.failure: BaseException | None = None
        on_progress, self.end = shown(progress)
        self.progress_fn = _abi.ProgressFn(lambda _, now: self._call(on_progress, lambda: progress_of(now.contents))) \
            if on_progress else _abi.ProgressFn()
        self.remark_fn = _abi.RemarkFn(lambda _, words: self._call(remark, lambda: text(words))) if remark else _abi.RemarkFn()

    def _call(self, function: Callable[[Any], object], argument: Callable[[], Any]) -> None:
        if self.failure is None:
            try:
                function(argument())
            except BaseException as error:  # noqa: BLE001 - raised again when the measurement has ended
                self.failure = error
                self.cancel()

    def give(self, callbacks: Any) -> None:
        callbacks.progress, callbacks.remark = self.progress_fn, self.remark_fn
        callbacks.interrupt = ctypes.pointer(self.cancel.flag)


def _model(model: Path) -> bytes:
    return _options.encode("model", model)


def _runtime(engine: bytes | None, library: bytes | None) -> bytes | None:
    """The library of the engine, if it is ONNX Runtime and nothing else names one: that of the PyPI package."""
    if library or engine not in (None, b"ort"):
        return library
    runtime = _library.runtime_path()
    return os.fsencode(runtime) if runtime else None


def _run_options(model: bytes | None, given: dict[str, Any], more: list[Any], call: str) -> tuple[Any, _Guard]:
    run = _abi.Run()
    guard = _Guard(given.pop("progress", None), given.pop("remark", None), given.pop("cancel", None))
    _options.fill([*more, run], given, call)
    run.workload.model = model
    run.target.library = _runtime(run.target.engine, run.target.library)
    guard.give(run.callbacks)
    return run, guard


def _measured(function: Any, run: Any, guard: _Guard, *more: Any) -> Profile:
    made, error = ctypes.c_void_p(), _abi.Error()
    arguments = [ctypes.byref(options) for options in (run, *more)]
    try:
        code, stopped = _library.interruptible(
            lambda: function(*arguments, ctypes.byref(made), ctypes.byref(error)), guard.cancel)
    finally:
        guard.end()
    profile = Profile(Handle(made.value, _library.load().assay_profile_close)) if made.value else None
    if guard.failure is not None:
        raise guard.failure
    _library.finish(code, error, stopped, profile)
    assert profile is not None
    return profile


def _made(function: Any, free: Any, *options: Any, cancel: Cancel | None = None) -> Handle:
    """The object of a call that measures nothing."""
    made, error = ctypes.c_void_p(), _abi.Error()
    arguments = [ctypes.byref(one) for one in options]
    code, stopped = _library.interruptible(lambda: function(*arguments, ctypes.byref(made), ctypes.byref(error)), cancel or Cancel())
    handle = Handle(made.value, free) if made.value else None
    _library.finish(code, error, stopped, None)
    assert handle is not None
    return handle


# --- measuring -----------------------------------------------------------------------------------------------------------------------


def run(model: Path, **options: Unpack[RunOptions]) -> Profile:
    """Profiles one model on one device, each launch in a worker process.

    `model` is a path, or the name of a model of the zoo. The keywords are the members of struct assay_run_options (run.h): what is
    run (batch, sequence, shapes={"x": "1x3x224x224"}), on what (device, threads, optimization), how long (launches, iterations,
    time_s, layers="auto"), what is watched (power, memory, counters) and kept (output="run.assay", ceilings).

    `progress` is a function that takes a Progress, True for a bar, False for none; by default there is one on terminals and in
    notebooks. Ctrl-C stops the worker and raises Interrupted, whose `profile` has what was measured; `cancel` takes an
    assay.Cancel, with which another thread does the same (the error is Cancelled). If a launch fails, the AssayError has the profile
    too.

    >>> profile = run("cfc", iterations=50, launches=1)
    >>> profile.trial.state, profile["latency.p50"].state, profile["latency.p50"] > 0
    ('ok', 'measured', True)
    >>> profile["energy.inference.gross"].state
    'unavailable'
    """
    call, guard = _run_options(_model(model), dict(options), [], "run")
    return _measured(_library.load().assay_run, call, guard)


def compare(*models: Path, devices: Words | None = None, no_drift: bool = False, no_placement: bool = False,
            **options: Unpack[RunOptions]) -> Profile:
    """One model on several devices, or several models on one, in launches that alternate; verdicts are in the report.

    >>> profile = compare("cfc:units=8,outputs=2", "cfc:units=16,outputs=2", launches=2, iterations=20)
    >>> [trial.state for trial in profile.trials], "speedup" in profile.to_dict()["comparison"]["rows"][1]
    (['ok', 'ok'], True)
    """
    if not models:
        raise TypeError("compare() needs a model")
    own = _abi.Compare()
    given: dict[str, Any] = {**options, "devices": devices, "no_drift": no_drift, "no_placement": no_placement}
    names = [_model(model) for model in models]
    call, guard = _run_options(None, given, [own], "compare")
    if len(models) == 1:
        call.workload.model = names[0]
    else:
        own.models = ctypes.cast(_options.strings(names), ctypes.POINTER(ctypes.c_char_p))
        own.model_count = len(models)
    return _measured(_library.load().assay_compare, call, guard, own)


def sweep(model: Path, *, devices: Words | None = None, precision: Words | None = None, optimization: Words | None = None,
          threads: Words | None = None, sequence: Words | None = None, batch: Words | None = None, spinning: Words | None = None,
          confirm: bool = False, resume: bool = False, **options: Unpack[GoalOptions]) -> Profile:
    """One model at every point of a grid; what is best, and where a larger batch stops paying off, are in the report.

    A list spans an axis: batch=[1, 2, 4]. What is best is chosen by goal ("throughput", "latency", "energy"), slo="p99=20ms",
    memory_budget="500MB", allow_drift.

    >>> profile = sweep("cfc", batch=[1, 2], launches=1, iterations=20)
    >>> [point["values"]["batch"] for point in profile.to_dict()["sweep"]["points"]]
    ['1', '2']
    """
    own = _abi.Sweep()
    axes = {"devices": devices, "precision": precision, "optimization": optimization, "threads": threads, "sequence": sequence,
            "batch": batch, "spinning": spinning}
    call, guard = _run_options(_model(model), {**options, **axes, "confirm": confirm, "resume": resume}, [own], "sweep")
    return _measured(_library.load().assay_sweep, call, guard, own)


def tune(model: Path, *, budget_s: float | None = None, configurations: int | None = None, devices: Words | None = None,
         precision: Words | None = None, optimization: Words | None = None, threads: Words | None = None,
         sequence: Words | None = None, batch: Words | None = None, spinning: Words | None = None,
         **options: Unpack[GoalOptions]) -> Profile:
    """Searches for the best configuration within a time budget (goal="latency" by default); what was found is in the report.

    >>> profile = tune("cfc", budget_s=3, configurations=2, launches=1, iterations=20)
    >>> profile.kind, profile.to_dict()["tune"]["goal"]
    ('tune', 'latency')
    """
    own = _abi.Tune()
    axes = {"devices": devices, "precision": precision, "optimization": optimization, "threads": threads, "sequence": sequence,
            "batch": batch, "spinning": spinning}
    call, guard = _run_options(_model(model), {**options, **axes, "budget_s": budget_s, "configurations": configurations}, [own], "tune")
    return _measured(_library.load().assay_tune, call, guard, own)


def bench(*, only: Words | None = None, devices: Words | None = None, against: Path | None = None,
          **options: Unpack[RunOptions]) -> Profile:
    """The standard set of small models, if wished against the profile of an earlier call (`against`)."""
    own = _abi.Bench()
    call, guard = _run_options(None, {**options, "only": only, "devices": devices, "against": against}, [own], "bench")
    return _measured(_library.load().assay_bench, call, guard, own)


def advise(model: Path, *, rules: Sequence[str] | None = None, verify: bool = False, budget_s: float | None = None,
           **options: Unpack[RunOptions]) -> Profile:
    """What to change: the findings of the profile. `verify` applies what can be applied, and measures it."""
    own = _abi.Advise()
    call, guard = _run_options(_model(model), dict(options), [], "advise")
    _options.fill([own], {"rules": rules, "verify": verify, "budget_s": budget_s}, "advise")
    return _measured(_library.load().assay_advise, call, guard, own)


# --- without running -----------------------------------------------------------------------------------------------------------------


class Inspection(Report):
    """What a model computes, moves and holds."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @property
    def metrics(self) -> Metrics:
        """Totals: FLOPs, bytes, parameters, memory."""
        return Metrics(self._handle, _library.load().assay_inspection_metrics(self._handle.pointer))

    def __getitem__(self, name: str) -> Any:
        return self.metrics[name]

    @property
    def conflicts(self) -> int:
        """Number of shapes of the model that contradict each other."""
        return int(_library.load().assay_inspection_conflicts(self._handle.pointer))

    def _render(self, options: Any) -> str:
        return self._against(None, options)

    def _against(self, other: int | None, options: Any) -> str:
        return taken(lambda *to: _library.load().assay_inspection_report(self._handle.pointer, other, ctypes.byref(options), *to))

    def difference(self, other: Inspection, format: str = "text", **options: Any) -> str:
        """A report on how the other model differs from this one."""
        view = _abi.Report()
        _options.fill([view], {"format": format, **options}, "difference")
        return self._against(other._handle.pointer, view)

    def __repr__(self) -> str:
        return f"<Inspection: {', '.join(f'{name}={metric}' for name, metric in list(self.metrics.items())[:4])}>"


def inspect(model: Path, **options: Unpack[WorkloadOptions]) -> Inspection:
    """Reads a model, but not its weights.

    >>> inspection = inspect("cfc", batch=2)
    >>> inspection["compute.flops"].state, int(inspection["compute.flops"]), inspection.conflicts
    ('derived', 53776, 0)
    """
    call = _abi.Inspect()
    _options.fill([call], dict(options), "inspect")
    call.workload.model = _model(model)
    return Inspection(_made(_library.load().assay_inspect, _library.load().assay_inspection_free, call))


class Check(Report):
    """Whether a model runs on a target, and well. `verdict` is "pass", "warn", "fail", or "none" if the target did not answer."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.verdict: str = ("pass", "warn", "fail", "none")[_library.load().assay_check_verdict(handle.pointer)]

    @property
    def items(self) -> Items[CheckItem]:
        """The problems."""
        def at(index: int) -> Any:
            found = filled(_abi.CheckItem, lambda to: _library.load().assay_check_item(self._handle.pointer, index, to))
            return CheckItem(_plain_members(found)) if found else None
        return Items(counted(at), at)

    def _render(self, options: Any) -> str:
        return taken(lambda *to: _library.load().assay_check_report(self._handle.pointer, ctypes.byref(options), *to))

    def __repr__(self) -> str:
        return f"<Check: {self.verdict}, {len(self.items)} items>"


class CheckItem(Record):
    """A problem: rule, severity, node, op, reason, fix, source."""


def _plain_members(struct: Any) -> dict[str, Any]:
    return {name: plain(getattr(struct, name), {}, name) for name, _ in struct._fields_ if name != "size"}


def check(model: Path, target: str, *, chip: str | None = None, engine: str | None = None, library: Path | None = None,
          timeout_s: float | None = None, cancel: Cancel | None = None, **options: Unpack[WorkloadOptions]) -> Check:
    """Whether all of a model will run on a target ("ane", or a device, which is asked), and well.

    >>> check("resnet50", "ane").verdict in ("pass", "warn")
    True
    """
    call = _abi.Check()
    _options.fill([call], {**options, "target": target, "chip": chip, "engine": engine, "library": library, "timeout_s": timeout_s},
                  "check")
    call.library = _runtime(call.engine, call.library)
    call.workload.model = _model(model)
    cancel = cancel or Cancel()
    call.interrupt = ctypes.pointer(cancel.flag)
    return Check(_made(_library.load().assay_check, _library.load().assay_check_free, call, cancel=cancel))


class Prediction(Profile):
    """Estimates for another chip: a profile with a trial per unit, every value estimated."""

    def __init__(self, handle: Handle) -> None:
        self._prediction = handle
        super().__init__(Handle(_library.load().assay_prediction_profile(handle.pointer), None, handle))

    def _render(self, options: Any) -> str:
        self._open()
        return taken(lambda *to: _library.load().assay_prediction_report(self._prediction.pointer, ctypes.byref(options), *to))


def predict(model: Path, chip: str, *, unit: str | None = None, precision: str | None = None,
            **options: Unpack[WorkloadOptions]) -> Prediction:
    """Estimated performance on a chip ("M1 Max", "this" machine, or a profile with ceilings).

    >>> prediction = predict("resnet50", "M1 Max", unit="gpu")
    >>> prediction["latency.p50"].state, 1e-4 < prediction["latency.p50"] < 1
    ('estimated', True)
    """
    call = _abi.Predict()
    _options.fill([call], {**options, "chip": chip, "unit": unit, "precision": precision}, "predict")
    call.workload.model = _model(model)
    return Prediction(_made(_library.load().assay_predict, _library.load().assay_prediction_free, call))


class Device(Record):
    """A device: name, kind, engine, version, hardware, whether it is usable (`available`) and why not (`reason`)."""


def devices(*, engine: str | None = None, library: Path | None = None, device: str | None = None, timeout_s: float | None = None,
            progress: Any = False, cancel: Cancel | None = None) -> list[Device]:
    """The devices of this machine; each is tried with a tiny model in a separate process.

    >>> [device.kind for device in devices(device="cpu") if device.available]
    ['cpu']
    """
    call = _abi.Devices()
    guard = _Guard(progress, None, cancel)
    _options.fill([call], {"engine": engine, "library": library, "device": device, "timeout_s": timeout_s}, "devices")
    call.library = _runtime(call.engine, call.library)
    guard.give(call.callbacks)
    load = _library.load()
    handle = _made(load.assay_devices, load.assay_devices_free, call, cancel=guard.cancel)
    if guard.failure is not None:
        raise guard.failure

    def at(index: int) -> Any:
        found = filled(_abi.Device, lambda to: load.assay_devices_at(handle.pointer, index, to))
        return Device(_plain_members(found)) if found else None
    return list(Items(counted(at), at))


# --- what is saved -------------------------------------------------------------------------------------------------------------------


def open(path: Path) -> Profile:  # noqa: A001 - the name that the noun has
    """Opens a profile (*.assay). It may come from anywhere: it is read defensively, and nothing in it is executed.

    >>> open("/no/such/file.assay")
    Traceback (most recent call last):
    ...
    assay._errors.AssayError: cannot open profile '/no/such/file.assay': ...
    """
    made, error = ctypes.c_void_p(), _abi.Error()
    library = _library.load()
    code = library.assay_profile_open(_options.encode("path", path), ctypes.byref(made), ctypes.byref(error))
    _library.check(code, error)
    handle = Handle(made.value or 0, library.assay_profile_close)
    _library.check(library.assay_profile_recover(handle.pointer, ctypes.byref(error)), error)  # a capture that was killed
    return Profile(handle)
