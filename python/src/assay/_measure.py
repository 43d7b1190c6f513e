"""Timing a Python function: our own loop takes the samples, the library does the statistics.

A callback through ctypes costs half a microsecond, so that the C loop cannot time what is fast. Here the calls stand one after the
other in a block of code made for the purpose, between two reads of the clock: no loop, no iterator, nothing else is in the time. A
function of microseconds or more is timed call by call; a faster one in blocks, whose mean is the sample.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any, Callable, Iterator

from . import _abi, _library
from ._errors import InvalidArgument
from ._library import Handle
from ._metric import Metric
from ._profile import Metrics

_MIN_BLOCK_NS = 10_000  # so long a sample is at least: reading the clock is then 0.5 % of it
_MAX_CALLS = 256  # a longer block would not stay in the processor's first cache
_PRERUN = 10
_WINDOW_NS = 100_000_000
_LAZY = 0x20 | 0x80 | 0x200  # inspect.CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
_LEAST_S, _MOST_S, _LEAST_CALLS, _PRECISION = 1.0, 10.0, 1000, 0.01  # the goal of `assay run`


class Measurement(Mapping[str, Metric]):
    """Metrics of a function: latency.*, throughput.inferences, timing.first, overhead.*.

    `samples` are the durations in ns, in the order they were taken; each is the mean of `calls` calls."""

    def __init__(self, metrics: dict[str, Metric], samples: array[float], calls: int) -> None:
        self._metrics = metrics
        self.samples = samples
        self.calls = calls

    def __getitem__(self, name: str) -> Metric:
        return self._metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)

    def to_dict(self) -> dict[str, Any]:
        """Metrics by name, with state, unit, source and note."""
        return {"metrics": {name: metric.to_dict() for name, metric in self.items()}, "calls_per_sample": self.calls}

    def to_pandas(self) -> Any:
        """A row per metric; needs pandas."""
        import pandas

        return pandas.DataFrame([{"metric": name, **metric.to_dict()} for name, metric in self.items()])

    def __repr__(self) -> str:
        median = self["latency.p50"]
        return f"<Measurement: median {_scaled(median)} of {len(self.samples)} samples>"

    def __str__(self) -> str:
        return "\n".join(f"{name:<24} {_scaled(metric):>12}  {'' if metric.available else metric.note}".rstrip()
                         for name, metric in self.items())

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


def _scaled(metric: Metric) -> str:
    if not metric.available or metric.unit not in ("s", "1/s"):
        return f"{metric:.4g}" + (f" {metric.unit}" if metric.available and metric.unit not in ("", "1") else "")
    if metric.unit == "1/s":
        return f"{metric:.4g}/s"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        if float(metric) * factor >= 1 or unit == "ns":
            return f"{float(metric) * factor:.4g} {unit}"
    raise AssertionError


def _block(calls: int) -> Callable[[Callable[[], object], Callable[[], int]], int]:
    """block(function, clock): the time of that many calls, one after the other."""
    lines = ["def block(function, clock):", " start = clock()", *[" function()"] * calls, " return clock() - start"]
    made: dict[str, Any] = {}
    exec("\n".join(lines), made)  # noqa: S102 - the text is ours
    block: Callable[[Callable[[], object], Callable[[], int]], int] = made["block"]
    return block


def _summary(samples: array[float], warmup: int | None, calls: int, step_ns: float) -> Metrics:
    options = _abi.MeasureSamples(size=ctypes.sizeof(_abi.MeasureSamples), warmup_given=warmup is not None, warmup=0, calls=calls,
                                  step_ns=step_ns)
    made, error = ctypes.c_void_p(), _abi.Error()
    library = _library.load()
    pointer = ctypes.cast((ctypes.c_double * len(samples)).from_buffer(samples), ctypes.POINTER(ctypes.c_double))
    _library.check(library.assay_measure_samples(pointer, len(samples), ctypes.byref(options), ctypes.byref(made),
                                                 ctypes.byref(error)), error)
    return Metrics(Handle(made.value or 0, library.assay_metrics_free), made.value)


def _clock_cost() -> tuple[float, float]:
    """Median time of an empty block, and the smallest step of the clock; ns."""
    block = _block(0)
    times = sorted(block(_nothing, perf_counter_ns) for _ in range(999))
    steps = [time for time in times if time > 0]
    return float(times[len(times) // 2]), float(min(steps, default=0)) if times[0] == 0 else 0.0


def _nothing() -> None:
    pass


def _calls_for(function: Callable[[], object]) -> int:
    """How many calls make a sample: one, if a call is long enough."""
    calls = 1
    while calls < _MAX_CALLS:
        block = _block(calls)
        if min(block(function, perf_counter_ns) for _ in range(5)) >= _MIN_BLOCK_NS:
            break
        calls *= 2
    return calls


def _enough(samples: array[float], spent_ns: float, warmup: int | None, calls: int, step_ns: float, precision: float) -> bool:
    if spent_ns >= _MOST_S * 1e9:
        return True
    if spent_ns < _LEAST_S * 1e9 or len(samples) * calls < _LEAST_CALLS:
        return False
    metrics = _summary(samples, warmup, calls, step_ns)
    low, high, middle = (metrics[name] for name in ("latency.ci_low", "latency.ci_high", "latency.p50"))
    return low.available and high.available and float(high) - float(low) <= 2 * precision * float(middle)


def measure(function: Callable[[], object], *, warmup: int | None = None, iterations: int | None = None,
            time_s: float | None = None, precision: float = _PRECISION, calls: int | None = None) -> Measurement:
    """Times a function without arguments, in this process and thread.

    By default it measures for at least a second and a thousand calls, until the median is known to `precision` or ten seconds have
    passed; `iterations` (samples) or `time_s` end it earlier. The end of the warm-up is found in the data, unless `warmup` says how
    many calls to leave out. `calls` per sample: found by default. If a sample is a mean of several calls, the percentiles of single
    calls are unavailable.

    Ctrl-C and whatever the function raises end the measurement.

    >>> measurement = measure(lambda: sum(range(1000)), time_s=0.1)
    >>> 1e-7 < measurement["latency.p50"] < 1e-3
    True
    """
    if not callable(function):
        raise TypeError(f"measure() takes a function, not {type(function).__name__}")
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & _LAZY:
        raise TypeError("measure() takes a function that does its work when it is called, not a coroutine or generator function")
    for name, value in (("warmup", warmup), ("iterations", iterations), ("time_s", time_s), ("calls", calls)):
        if value is not None and value < (0 if name == "warmup" else 1e-9):
            raise InvalidArgument(f"{name}={value} is not positive", "EINVAL", name)
    _library.load()
    first = _block(1)(function, perf_counter_ns)
    per_sample = calls or _calls_for(function)
    block = _block(per_sample)
    overhead_ns, step_ns = _clock_cost()
    for _ in range(max(1, -(-warmup // per_sample)) if warmup else 0 if warmup == 0 else _PRERUN):
        block(function, perf_counter_ns)
    samples = array("d")
    _take(function, block, per_sample, samples, iterations, time_s,
          lambda spent: _enough(samples, spent, warmup, per_sample, step_ns, precision))
    metrics = {"timing.first": Metric(first / 1e9, "s", source="clock", name="timing.first")}
    metrics.update(_summary(samples, warmup, per_sample, step_ns))
    metrics["overhead.loop"] = Metric(overhead_ns / per_sample / 1e9, "s", source="clock", name="overhead.loop",
                                      note="per call: an empty block, two reads of the clock included; not subtracted")
    return Measurement(metrics, samples, per_sample)


def _take(function: Callable[[], object], block: Callable[..., int], calls: int, samples: array[float], iterations: int | None,
          time_s: float | None, enough: Callable[[float], bool]) -> None:
    """Windows of samples, until the wishes or the goal are met."""
    spent = 0
    limit = time_s * 1e9 if time_s else float("inf")
    while True:
        window = 0
        end = min(_WINDOW_NS, limit - spent)
        while True:
            took = block(function, perf_counter_ns)
            samples.append(took / calls)
            window += took
            if window >= end or len(samples) == iterations:
                break
        spent += window
        if spent >= limit or (iterations and len(samples) >= iterations):
            return
        if not iterations and not time_s and enough(spent):
            return
