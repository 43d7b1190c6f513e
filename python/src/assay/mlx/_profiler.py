"""MLXProfiler and quick_profile: measured numbers of MLX models under the names of the profiling guides.

MLX is lazy: what is timed is a forward pass with mx.eval of its result, one call per sample, after a warm-up that is found in the data.
"""

from __future__ import annotations

from typing import Any, Callable

import mlx.core as core
from mlx.utils import tree_flatten

from .._calls import predict
from .._errors import AssayError
from .._measure import Measurement, measure
from .._metric import Metric
from .._profile import Profile
from ._graph import Cost, cost

_NO_ENGINE = "MLX has no Neural Engine: it runs on the CPU and the GPU; device='M1 Max' estimates what Core ML would do there"
_NO_COUNTERS = "MLX runs in this process, whose hardware counters are not read; `assay counters` reads them for ONNX models"
_NO_POWER = "power is measured of worker processes only; `assay power` measures it for ONNX models"
_NO_CEILING = "the peak of this machine is not known: MLXProfiler(model, ceilings=profile) takes it from a run with ceilings=True"


class Stats(dict[str, Metric]):
    """Metrics by name; `measurement` has the samples, `cost` the operators."""

    measurement: Measurement | None = None
    cost: Cost | None = None

    def to_dict(self) -> dict[str, Any]:
        """Values with state, unit, source and note."""
        return {name: metric.to_dict() for name, metric in self.items()}

    def _repr_html_(self) -> str:
        import html

        rows = "".join(f"<tr><td>{html.escape(name)}</td><td>{metric:.4g}</td><td>{html.escape(metric.unit)}</td>"
                       f"<td>{metric.state}</td><td>{html.escape(metric.note)}</td></tr>" for name, metric in self.items())
        return f"<table><tr><th>metric</th><th>value</th><th>unit</th><th>state</th><th>note</th></tr>{rows}</table>"


def _scaled(metric: Metric, name: str, unit: str, factor: float) -> Metric:
    """The metric in the unit of the guides."""
    if not metric.available:
        return Metric.unavailable(metric.note, unit, name)
    return Metric(float(metric) * factor, unit, metric.state, metric.source, metric.note, name)


def _named(metric: Metric, name: str, unit: str) -> Metric:
    return _scaled(metric, name, unit, 1.0)


def _none(name: str, unit: str, reason: str) -> Metric:
    return Metric.unavailable(reason, unit, name)


class MLXProfiler:
    """Measures a model, an mlx.nn.Module or any function of an array.

    `ceilings` is a profile that has the machine's measured peaks (assay.run(…, ceilings=True)): with it compute_efficiency and
    bandwidth_utilization are known."""

    def __init__(self, model: Any, ceilings: Profile | None = None) -> None:
        if not callable(model):
            raise TypeError(f"MLXProfiler takes a model that can be called, not {type(model).__name__}")
        self.model = model
        self.ceilings = ceilings

    # --- what the guides call ------------------------------------------------------------------------------------------------------

    def profile_compute(self, batch_size: int = 1, seq_length: int = 16, num_runs: int = 100, *, enable_ne: bool = False,
                        device: str | None = None, forward_fn: Callable[..., Any] | None = None,
                        input_shape: tuple[int, ...] | None = None) -> Stats:
        """Times `num_runs` forward passes: time_*, samples_per_second, flops, tflops, compute_efficiency, ne_*, peak_memory."""
        if device:
            return self._predicted(device, input_shape or (batch_size, seq_length), enable_ne)
        stats = self._measured(self._shape(batch_size, seq_length, input_shape), num_runs, forward_fn)
        stats.update(self._engine())
        return stats

    def profile_memory(self, batch_size: int = 1, seq_length: int = 16, *, track_unified: bool = False, track_bandwidth: bool = False,
                       num_runs: int = 20, device: str | None = None, forward_fn: Callable[..., Any] | None = None,
                       input_shape: tuple[int, ...] | None = None) -> Stats:
        """What a forward pass holds and moves: peak_usage, unified_peak, total_allocated, bandwidth, cache_hit_rate."""
        if device:
            return self._predicted(device, input_shape or (batch_size, seq_length), False)
        stats = self._measured(self._shape(batch_size, seq_length, input_shape), num_runs, forward_fn)
        for name, unit, wished, option in (("unified_peak", "MB", track_unified, "track_unified"),
                                           ("bandwidth_utilization", "%", track_bandwidth, "track_bandwidth")):
            if not wished:
                stats[name] = _none(name, unit, f"not asked for: {option}=True")
        return stats

    def profile_hardware(self, batch_size: int = 1, seq_length: int = 16, *, num_runs: int = 20, device: str | None = None,
                         forward_fn: Callable[..., Any] | None = None, input_shape: tuple[int, ...] | None = None) -> Stats:
        """What the hardware did: ne_*, memory_bandwidth, mc_utilization, cache_hit_rate, power_usage, tflops."""
        if device:
            return self._predicted(device, input_shape or (batch_size, seq_length), True)
        stats = self._measured(self._shape(batch_size, seq_length, input_shape), num_runs, forward_fn)
        stats.update(self._engine())
        return stats

    def profile_realtime(self, batch_size: int = 1, seq_length: int = 16, *, num_runs: int = 10,
                         forward_fn: Callable[..., Any] | None = None) -> Stats:
        """All of it, of a few forward passes: for a display that is updated."""
        return self.profile_hardware(batch_size, seq_length, num_runs=num_runs, forward_fn=forward_fn)

    # --- measuring -------------------------------------------------------------------------------------------------------------------

    def _shape(self, batch: int, sequence: int, given: tuple[int, ...] | None) -> tuple[int, ...]:
        if given is not None:
            return tuple(given)
        features = getattr(self.model, "input_size", None)
        if features is None and hasattr(self.model, "build"):
            self.model.build()
            features = getattr(self.model, "input_size", None)
        if features is None and hasattr(self.model, "parameters"):
            weights = [value for name, value in tree_flatten(self.model.parameters()) if name.endswith("weight") and value.ndim == 2]
            features = weights[0].shape[1] if weights else None
        if features is None:
            raise TypeError("the model does not say how many features it takes: give input_shape=(batch, sequence, features)")
        return (batch, sequence, int(features))

    def _measured(self, shape: tuple[int, ...], runs: int, forward_fn: Callable[..., Any] | None) -> Stats:
        forward = _forward(forward_fn or self.model)
        x = core.random.normal(shape)
        if hasattr(self.model, "parameters"):
            core.eval(self.model.parameters())
        core.eval(x, forward(x))  # builds, compiles
        core.synchronize()
        core.clear_cache()
        core.reset_peak_memory()
        before = core.get_active_memory()
        core.eval(forward(x))
        peak = core.get_peak_memory()
        measurement = measure(lambda: core.eval(forward(x)), iterations=runs, calls=1)
        core.synchronize()
        stats = Stats(self._times(measurement, shape[0]))
        stats.measurement, stats.cost = measurement, _cost(forward, x)
        stats.update(self._rates(stats.cost, measurement["latency.mean"]))
        stats.update(_memory(peak, before, stats.cost))
        for name, unit, reason in (("cache_hit_rate", "%", _NO_COUNTERS), ("mc_utilization", "%", _NO_COUNTERS),
                                   ("power_usage", "W", _NO_POWER)):
            stats[name] = _none(name, unit, reason)
        return stats

    def _times(self, measurement: Measurement, batch: int) -> dict[str, Metric]:
        of = {"time_mean": "latency.mean", "time_std": "latency.stddev", "time_min": "latency.min", "time_max": "latency.max",
              "time_median": "latency.p50", "time_p90": "latency.p90", "time_p99": "latency.p99", "time_first": "timing.first"}
        times = {name: _named(measurement[metric], name, "s") for name, metric in of.items()}
        times["samples_per_second"] = _named(batch / times["time_mean"], "samples_per_second", "1/s")
        return times

    def _rates(self, of: Cost, time: Metric) -> dict[str, Metric]:
        rate, moved = of.flops / time, of.bytes / time
        return {
            "flops": _named(of.flops, "flops", "FLOP"),
            "bytes": _named(of.bytes, "bytes", "B"),
            "tflops": _scaled(rate, "tflops", "TFLOP/s", 1e-12),
            "compute_efficiency": _scaled(rate / self._ceiling("FLOP/s", "compute.float32"), "compute_efficiency", "ratio", 1.0),
            "bandwidth": _scaled(moved, "bandwidth", "GB/s", 1e-9),
            "memory_bandwidth": _scaled(moved, "memory_bandwidth", "GB/s", 1e-9),
            "bandwidth_utilization": _scaled(moved / self._ceiling("B/s", "bandwidth.dram"), "bandwidth_utilization", "%", 100.0),
        }

    def _ceiling(self, unit: str, prefix: str) -> Metric:
        """The highest measured peak of that kind."""
        found = [ceiling for ceiling in (self.ceilings.ceilings if self.ceilings else ())
                 if ceiling.name.startswith(prefix) and ceiling.unit == unit and ceiling.value is not None and ceiling.device == "cpu"]
        if not found:
            return Metric.unavailable(_NO_CEILING, unit)
        best = max(found, key=lambda ceiling: float(ceiling.value))
        return Metric(best.value, unit, "measured", best.source, best.note, best.name)

    def _engine(self) -> dict[str, Metric]:
        return {name: _none(name, unit, _NO_ENGINE)
                for name, unit in (("ne_tflops", "TFLOP/s"), ("ne_utilization", "%"), ("ne_cycles", "count"))}

    # --- a chip that is not here -------------------------------------------------------------------------------------------------------

    def _predicted(self, chip: str, shape: tuple[int, ...], engine: bool) -> Stats:
        """Estimates of assay.predict, for the model of the zoo that this one is."""
        if not hasattr(self.model, "zoo_name"):
            raise AssayError(f"device={chip!r}: only CfC models can be predicted; export yours to ONNX and use assay.predict",
                             "EUNSUPPORTED")
        if hasattr(self.model, "build"):
            self.model.build()
        prediction = predict(self.model.zoo_name(shape[1]), chip.replace("_", " "), batch=shape[0])
        trials = {trial.target.device.rsplit("/", 1)[-1]: trial for trial in prediction.trials}
        gpu, ane = trials.get("gpu"), trials.get("ane")
        if gpu is None:
            raise AssayError(f"nothing is predicted for the GPU of {chip}", "ENOTFOUND")
        time = gpu["latency.p50"]
        stats = Stats({"time_mean": _named(time, "time_mean", "s"), "time_median": _named(time, "time_median", "s")})
        for name, metric, unit, factor in (
                ("samples_per_second", "throughput.samples", "1/s", 1.0), ("flops", "compute.flops", "FLOP", 1.0),
                ("tflops", "compute.rate", "TFLOP/s", 1e-12), ("compute_efficiency", "compute.utilization", "ratio", 1.0),
                ("bandwidth", "memory.bandwidth", "GB/s", 1e-9), ("memory_bandwidth", "memory.bandwidth", "GB/s", 1e-9),
                ("bandwidth_utilization", "memory.bandwidth_utilization", "%", 100.0), ("power_usage", "power.average", "W", 1.0)):
            stats[name] = _scaled(gpu[metric], name, unit, factor)
        held = gpu["memory.model"] + gpu["memory.activation.predicted"]
        for name in ("peak_memory", "peak_usage", "unified_peak"):
            stats[name] = Metric(float(held) / 1e6, "MB", "estimated", "model", "weights and live activations, from the graph", name) \
                if held.available else _none(name, "MB", held.note)
        for name, unit in (("total_allocated", "MB"), ("cache_hit_rate", "%"), ("mc_utilization", "%"), ("ne_cycles", "count")):
            stats[name] = _none(name, unit, "nothing that is published allows an estimate")
        reason = "not asked for: enable_ne=True" if not engine else f"nothing is predicted for the Neural Engine of {chip}"
        for name, metric, unit, factor in (("ne_tflops", "compute.rate", "TFLOP/s", 1e-12),
                                           ("ne_utilization", "compute.utilization", "%", 100.0)):
            stats[name] = _scaled(ane[metric], name, unit, factor) if engine and ane is not None else _none(name, unit, reason)
        return stats


def _forward(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """A function of the input alone: `training` is False where it has to be given."""
    import inspect

    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (lambda x: function(x, False)) if len(needed) == 2 else function


def _cost(forward: Callable[[Any], Any], x: Any) -> Cost:
    try:
        return cost(forward, x)
    except (RuntimeError, ValueError) as error:
        flops, moved, written = (Metric.unavailable(f"MLX does not export the graph: {error}", unit) for unit in ("FLOP", "B", "B"))
        return Cost(flops, moved, written, {})


def _memory(peak: int, before: int, of: Cost) -> dict[str, Metric]:
    unified = core.default_device().type == core.gpu and core.metal.is_available()
    memory = Metric(peak / 1e6, "MB", "measured", "mlx", "mlx.core.get_peak_memory of one forward pass, weights included", "peak_memory")
    return {
        "peak_memory": memory,
        "peak_usage": _named(memory, "peak_usage", "MB"),
        "active_memory": Metric(before / 1e6, "MB", "measured", "mlx", "mlx.core.get_active_memory before the pass", "active_memory"),
        "unified_peak": _named(memory, "unified_peak", "MB") if unified else
        _none("unified_peak", "MB", "this machine has no memory that CPU and GPU share; peak_usage is that of the host"),
        "total_allocated": _scaled(of.written, "total_allocated", "MB", 1e-6),
    }


def quick_profile(model: Any, batch_size: int = 1, seq_length: int = 16, num_runs: int = 100,
                  forward_fn: Callable[..., Any] | None = None, **options: Any) -> Stats:
    """Time, rates and memory of a model in one call. `forward_fn` is what is timed, if it is not the model itself."""
    return MLXProfiler(model).profile_compute(batch_size, seq_length, num_runs, forward_fn=forward_fn, **options)
