#!/usr/bin/env python3
"""Every code block of the three profiling guides runs on real MLX, in order, one namespace per guide, with only import lines changed."""

import harness
import contextlib
import io
import re
import textwrap
import unittest
import warnings

if not harness.reason_to_skip():
    import assay

GUIDES = harness.ROOT.parent / "shared" / "seeds"
PRELUDE = """
import time
import matplotlib
matplotlib.use("Agg")
from assay.mlx import AutoNCP, CfC, CfCCell, MLXProfiler, mx
from assay.mlx.monitoring import find_optimizations, generate_recommendations, identify_bottlenecks
wiring = AutoNCP(units=64, output_size=16)
model = CfC(cell=CfCCell(wiring=wiring, backbone_units=[64, 64], backbone_layers=2))
class config:
    min_tflops, min_bandwidth, memory_budget, power_budget = 0.01, 1.0, 8192, 20.0
    get_optimal_batch_size = staticmethod(lambda: 32)
"""
IMPORTS = {"from ncps.mlx.advanced_profiling import": "from assay.mlx import"}


def blocks(text):
    """The Python blocks of a guide, in reStructuredText or Markdown."""
    if "```python" in text:
        return re.findall(r"```python\n(.*?)```", text, re.S)
    found, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        if match := re.match(r"( *)\.\. code-block:: python", lines[at]):
            block, at = [], at + 1
            while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > len(match[1])):
                block.append(lines[at])
                at += 1
            found.append(textwrap.dedent("\n".join(block)))
        else:
            at += 1
    return found


class Guides(unittest.TestCase):
    def setUp(self):
        try:
            import matplotlib  # noqa: F401
            import mlx.core  # noqa: F401
        except ImportError as error:
            self.skipTest(f"{error.name} is not installed (scripts/setup python)")
        if not GUIDES.is_dir():
            self.skipTest("the guides are not here (../shared/seeds)")
        warnings.simplefilter("ignore")
        self.addCleanup(warnings.resetwarnings)

    def run_guide(self, number, expected_blocks):
        self.assertLessEqual(len(PRELUDE.strip().splitlines()), 20)
        (path,) = GUIDES.glob(f"{number}_*")
        found = blocks(path.read_text())
        self.assertEqual(len(found), expected_blocks)
        space = {}
        exec(PRELUDE, space)
        self.printed = io.StringIO()
        with contextlib.redirect_stdout(self.printed):
            for index, block in enumerate(found):
                lines = [next((new + line[len(old):] for old, new in IMPORTS.items() if line.startswith(old)), line)
                         for line in block.splitlines()]
                for old, new in zip(block.splitlines(), lines):
                    self.assertTrue(old == new or old.startswith("from ncps."), old)
                exec(compile("\n".join(lines), f"{number} block {index}", "exec"), space)
                self.check_stats(space.get("stats"))
        return space

    def check_stats(self, stats):
        for name, metric in (stats or {}).items():
            self.assertIsInstance(metric, assay.Metric, name)
            self.assertTrue(metric.available or metric.note, name)

    def test_profiling(self):
        space = self.run_guide("000", 8)
        with contextlib.redirect_stdout(self.printed):
            rows = space["analyze_bandwidth"](batch_sizes=[4, 8])
            matrix = space["optimize_for_ne"](space["model"], (8, 16, 32))
        self.assertEqual([row["batch_size"] for row in rows], [4, 8])
        self.assertEqual({row["bandwidth"].state for row in rows}, {"derived"})
        self.assertEqual([row["tflops"].state for row in matrix], ["derived"] * 3)
        self.assertEqual({row["tflops"].state for row in space["results"]}, {"estimated"})
        self.assertEqual([row["device"] for row in space["results"]], ["M1", "M1 Pro", "M1 Max", "M1 Ultra"])
        drawn = [{**row, "device": str(row["batch_size"]), "tflops": matrix[0]["tflops"]} for row in rows]
        space["plot_ne_performance"](drawn)
        axes = space["plt"].gcf().axes
        self.assertEqual([axis.get_ylabel() for axis in axes], ["TFLOPS", "GB/s", "Utilization %"])
        heights = [bar.get_height() for bar in axes[2].patches]
        self.assertTrue(all(height != height for height in heights), heights)  # unavailable: NaN, no bar
        self.assertTrue(all(bar.get_height() > 0 for bar in axes[0].patches))
        printed = self.printed.getvalue()
        self.assertIn("Neural Engine TFLOPS: n/a", printed)
        self.assertRegex(printed, r"Average time: \d+\.\d\d ms")

    def test_optimising(self):
        space = self.run_guide("001", 11)
        x = space["mx"].random.normal((4, 16, 32))
        with contextlib.redirect_stdout(self.printed):
            self.assertIsNone(space["process_batch"](x))
            self.assertEqual(space["forward"](x).shape, (4, 16, 16))
            for name in ("monitor_ne_performance", "monitor_memory", "monitor_performance"):
                space[name]()
        printed = self.printed.getvalue()
        self.assertRegex(printed, r"Peak memory: \d")
        self.assertRegex(printed, r"NE utilization: n/a%\nTFLOPS: \d")
        self.assertRegex(printed, r"Throughput: \d+ samples/s")

    def test_monitoring(self):
        space = self.run_guide("002", 10)
        from assay.mlx import monitoring
        config, model = space["config"], space["model"]
        monitor = space["PerformanceMonitor"](model, config)
        stats = monitor.monitor_hardware()
        for measured in (monitor.monitor_compute(), monitor.monitor_memory(), stats):
            self.check_stats(measured)
        visualizer = space["PerformanceVisualizer"](monitor)
        for name in ("plot_compute_performance", "plot_memory_usage", "plot_hardware_utilization"):
            getattr(visualizer, name)()  # the guide's own bodies draw nothing; ours below do
            self.assertEqual(len(getattr(monitoring.PerformanceVisualizer(monitor), name)().axes), 2)

        class Stop(Exception):
            pass

        class Shown(space["RealTimeMonitor"], monitoring.Display):
            turns = 0

            def update_display(self, stats):
                super().update_display(stats, lines)
                Shown.turns += 1
                if Shown.turns == 2:
                    raise Stop
        lines = io.StringIO()
        with self.assertRaises(Stop):
            Shown(model, config, update_interval=0.01).start_monitoring()
        self.assertEqual(lines.getvalue().count("\n"), 2)
        monitoring.sys.stdout, kept = lines, monitoring.sys.stdout
        try:
            monitoring.RealTimeMonitor(model, config, 0.01).start_monitoring(updates=2)
        finally:
            monitoring.sys.stdout = kept
        self.assertEqual(lines.getvalue().count("\n"), 4)
        report = space["generate_detailed_report"](stats, config)
        self.assertEqual(report["compute"]["tflops_efficiency"].state, "derived")
        self.assertEqual(report["hardware"]["power_efficiency"].state, "unavailable")
        self.assertIn("not-evaluated", {row["outcome"] for row in report["bottlenecks"]})
        self.assertEqual(set(report), {"compute", "memory", "hardware", "bottlenecks", "optimization_opportunities", "recommendations"})
        self.assertEqual(space["MINIMUM_REQUIREMENTS"], monitoring.MINIMUM_REQUIREMENTS)
        self.assertEqual(space["TARGET_REQUIREMENTS"], monitoring.TARGET_REQUIREMENTS)
        for name in ("analyze_compute_performance", "analyze_memory_performance", "analyze_hardware_utilization", "generate_basic_report"):
            ours, theirs = getattr(monitoring, name)(stats, config), space[name](stats, config)
            self.assertEqual(str(ours), str(theirs), name)


if __name__ == "__main__":
    harness.main()
