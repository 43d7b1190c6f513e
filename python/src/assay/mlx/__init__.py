"""Profiling MLX models, on real MLX (PyPI: mlx; `pip install "mlx[cpu]"` on Linux).

    from assay.mlx import AutoNCP, CfC, CfCCell, MLXProfiler, mx, quick_profile

    model = CfC(cell=CfCCell(wiring=AutoNCP(units=64, output_size=16), backbone_units=[64, 64], backbone_layers=2))
    stats = quick_profile(model, batch_size=32, seq_length=16)
    print(f"{stats['time_mean'] * 1000:.2f} ms, {stats['ne_utilization']:.2f} %")

Every value of `stats` is an assay.Metric. MLX runs on the CPU and, on a Mac, the GPU: it has no Neural Engine, so that the ne_… rows
are unavailable and say so, unless a chip is named (`device="M1 Max"`), which assay.predict estimates.
"""

try:
    import mlx.core as _core
except ImportError as error:
    raise ImportError('assay.mlx needs MLX: pip install "mlx[cpu]" on Linux, pip install mlx on a Mac', name="mlx") from error

from ._graph import Cost, cost
from ._mx import mx
from ._profiler import MLXProfiler, Stats, quick_profile
from .ncps import AutoNCP, CfC, CfCCell

__all__ = ["AutoNCP", "CfC", "CfCCell", "Cost", "MLXProfiler", "Stats", "cost", "mx", "quick_profile"]
