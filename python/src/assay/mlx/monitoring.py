"""Monitoring of MLX models, as the monitoring guide has it: a monitor, its pictures, a display that is updated, analyses against
thresholds, requirement tables, reports.

A threshold is compared only with a number that is known: what is unavailable is listed as not evaluated, with the reason.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Protocol

from .._metric import Metric
from ._profiler import MLXProfiler, Stats

MINIMUM_REQUIREMENTS = {
    "M1": {"tflops": 2.0, "bandwidth": 50.0, "memory": 8192},
    "M1_Pro": {"tflops": 4.0, "bandwidth": 150.0, "memory": 16384},
    "M1_Max": {"tflops": 8.0, "bandwidth": 300.0, "memory": 32768},
    "M1_Ultra": {"tflops": 16.0, "bandwidth": 600.0, "memory": 65536},
}
"""TFLOP/s, GB/s and MB that a device should reach at least."""

TARGET_REQUIREMENTS = {
    "M1": {"tflops": 3.0, "bandwidth": 70.0, "memory": 6144},
    "M1_Pro": {"tflops": 6.0, "bandwidth": 200.0, "memory": 12288},
    "M1_Max": {"tflops": 12.0, "bandwidth": 400.0, "memory": 24576},
    "M1_Ultra": {"tflops": 24.0, "bandwidth": 800.0, "memory": 49152},
}
"""What it should reach after optimising."""


class Config(Protocol):
    """What the analyses read of a configuration."""

    min_tflops: float
    min_bandwidth: float
    memory_budget: float
    power_budget: float

    def get_optimal_batch_size(self) -> int:
        """The batch size to measure with."""


class PerformanceMonitor:
    """Measures one model with one configuration."""

    def __init__(self, model: Any, config: Config) -> None:
        self.model = model
        self.config = config
        self.profiler = MLXProfiler(model)

    def monitor_compute(self) -> Stats:
        """Time and rates."""
        return self.profiler.profile_compute(batch_size=self.config.get_optimal_batch_size(), seq_length=16, num_runs=100)

    def monitor_memory(self) -> Stats:
        """What is held and moved."""
        return self.profiler.profile_memory(batch_size=self.config.get_optimal_batch_size(), track_unified=True, track_bandwidth=True)

    def monitor_hardware(self) -> Stats:
        """What the hardware did."""
        return self.profiler.profile_hardware(batch_size=self.config.get_optimal_batch_size())


class PerformanceVisualizer:
    """Pictures of a monitor's numbers, with matplotlib; what is unavailable has its name, "n/a" and no bar."""

    def __init__(self, monitor: Any) -> None:
        self.monitor = monitor

    def plot_compute_performance(self) -> Any:
        """The distribution of the times, and the rates."""
        stats = self.monitor.monitor_compute()
        figure, (left, right) = _figure("Compute")
        left.hist([sample / 1e6 for sample in stats.measurement.samples], bins=20)
        left.set_xlabel("time of a pass (ms)")
        left.set_ylabel("passes")
        _bars(right, stats, ("tflops", "ne_tflops", "compute_efficiency"))
        return figure

    def plot_memory_usage(self) -> Any:
        """What is held, and what is moved."""
        stats = self.monitor.monitor_memory()
        figure, (left, right) = _figure("Memory")
        _bars(left, stats, ("peak_usage", "unified_peak", "total_allocated"))
        _bars(right, stats, ("bandwidth", "bandwidth_utilization", "cache_hit_rate"))
        return figure

    def plot_hardware_utilization(self) -> Any:
        """Shares of what the hardware can do, and power."""
        stats = self.monitor.monitor_hardware()
        figure, (left, right) = _figure("Hardware")
        _bars(left, stats, ("ne_utilization", "mc_utilization", "cache_hit_rate", "bandwidth_utilization"))
        _bars(right, stats, ("power_usage", "tflops", "memory_bandwidth"))
        return figure


def _figure(title: str) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    figure.suptitle(title)
    return figure, axes


def _bars(axes: Any, stats: Stats, names: tuple[str, ...]) -> None:
    axes.bar(range(len(names)), [stats[name] for name in names])  # an unavailable metric is NaN: no bar
    axes.set_xticks(range(len(names)), [f"{name}\n{stats[name]:.3g} {stats[name].unit if stats[name].available else ''}" for name in names],
                    fontsize="small")


class Display:
    """Shows the numbers of a monitor on a stream, in one line that is replaced on a terminal."""

    rows = ("time_mean", "samples_per_second", "tflops", "bandwidth", "peak_usage", "power_usage")

    def update_display(self, stats: Stats, stream: Any = None) -> None:
        """Writes one line."""
        stream = stream or sys.stdout
        line = "  ".join(f"{name} {stats[name]:.4g}{' ' + stats[name].unit if stats[name].available else ''}" for name in self.rows)
        replaced = getattr(stream, "isatty", lambda: False)()
        stream.write(f"\r{line}" if replaced else f"{line}\n")
        stream.flush()


class RealTimeMonitor(Display):
    """Measures again and again, and shows it."""

    def __init__(self, model: Any, config: Config, update_interval: float = 1.0) -> None:
        self.model = model
        self.config = config
        self.update_interval = update_interval
        self.profiler = MLXProfiler(model)

    def start_monitoring(self, updates: int | None = None, stopped: Callable[[], bool] = lambda: False) -> None:
        """Until Ctrl-C, `stopped()` or so many updates."""
        while not stopped() and updates != 0:
            self.update_display(self.profiler.profile_realtime(self.config.get_optimal_batch_size()))
            updates = None if updates is None else updates - 1
            if updates != 0:
                time.sleep(self.update_interval)


# --- analyses ------------------------------------------------------------------------------------------------------------------------


def _advised(analysis: dict[str, Any], name: str, advice: str) -> dict[str, Any]:
    """With the advice, if the share is known and below 0.8."""
    share = analysis[name]
    if not (isinstance(share, Metric) and not share.available) and share < 0.8:
        analysis["recommendations"].append(advice)
    return analysis


def analyze_compute_performance(stats: Stats, config: Config) -> dict[str, Any]:
    """Rates against the configuration's minimum."""
    return _advised({"tflops_efficiency": stats["tflops"] / config.min_tflops, "ne_utilization": stats["ne_utilization"] / 100,
                     "compute_efficiency": stats["compute_efficiency"], "recommendations": []},
                    "tflops_efficiency", "Consider increasing batch size or model size")


def analyze_memory_performance(stats: Stats, config: Config) -> dict[str, Any]:
    """Bandwidth against the minimum, memory against the budget."""
    return _advised({"bandwidth_efficiency": stats["bandwidth"] / config.min_bandwidth,
                     "memory_efficiency": stats["peak_usage"] / config.memory_budget, "cache_efficiency": stats["cache_hit_rate"] / 100,
                     "recommendations": []},
                    "bandwidth_efficiency", "Consider optimizing data access patterns")


def analyze_hardware_utilization(stats: Stats, config: Config) -> dict[str, Any]:
    """Utilisations, and power against the budget."""
    return _advised({"ne_efficiency": stats["ne_utilization"] / 100, "memory_controller_efficiency": stats["mc_utilization"] / 100,
                     "power_efficiency": stats["power_usage"] / config.power_budget, "recommendations": []},
                    "ne_efficiency", "Consider enabling compilation or adjusting model size")


_RULES: tuple[tuple[str, str, Callable[[float], bool], str, str], ...] = (
    # id, metric, when it is one, what it means, what to do
    ("compute-bound", "compute_efficiency", lambda x: x >= 0.6, "arithmetic runs near this machine's peak",
     "use a lower precision or a smaller model"),
    ("memory-bound", "bandwidth_utilization", lambda x: x >= 60, "memory is read and written near its peak",
     "fuse operators (mx.compile), use a lower precision"),
    ("overhead-bound", "compute_efficiency", lambda x: x < 0.05, "most of the time is spent between operators, not in them",
     "compile the forward pass, use a larger batch"),
    ("cache-misses", "cache_hit_rate", lambda x: x < 80, "the caches miss often", "process the data in smaller blocks"),
    ("unsteady", "time_spread", lambda x: x > 0.1, "the times of the passes vary by more than 10 %",
     "close other programs, measure more passes"),
)


def _judged(stats: Stats) -> list[dict[str, Any]]:
    """Each rule: found, nothing, or not evaluated."""
    known = dict(stats)
    if "time_std" in stats:
        known["time_spread"] = stats["time_std"] / stats["time_mean"]
    verdicts = []
    for rule, name, holds, meaning, change in _RULES:
        metric = known[name] if name in known else Metric.unavailable(f"{name} was not measured")
        row = {"id": rule, "metric": name, "value": metric, "meaning": meaning, "change": change}
        if not metric.available:
            verdicts.append({**row, "outcome": "not-evaluated", "reason": metric.note})
        else:
            verdicts.append({**row, "outcome": "found" if holds(float(metric)) else "nothing", "reason": ""})
    return verdicts


def identify_bottlenecks(stats: Stats) -> list[dict[str, Any]]:
    """What limits the model, with its evidence; and what could not be evaluated, with the reason."""
    return [row for row in _judged(stats) if row["outcome"] != "nothing"]


def find_optimizations(stats: Stats) -> list[dict[str, Any]]:
    """A change for each bottleneck that was found."""
    found = [row for row in _judged(stats) if row["outcome"] == "found"]
    return [{"bottleneck": row["id"], "change": row["change"], "why": row["meaning"]} for row in found]


def generate_recommendations(stats: Stats) -> list[str]:
    """The changes as sentences."""
    return [f"{row['change'][0].upper()}{row['change'][1:]}: {row['why']}." for row in find_optimizations(stats)]


def generate_basic_report(stats: Stats, config: Config) -> dict[str, Any]:
    """The three analyses."""
    return {"compute": analyze_compute_performance(stats, config), "memory": analyze_memory_performance(stats, config),
            "hardware": analyze_hardware_utilization(stats, config)}


def generate_detailed_report(stats: Stats, config: Config) -> dict[str, Any]:
    """The analyses, the bottlenecks, and what to do about them."""
    return {**generate_basic_report(stats, config), "bottlenecks": identify_bottlenecks(stats),
            "optimization_opportunities": find_optimizations(stats), "recommendations": generate_recommendations(stats)}
