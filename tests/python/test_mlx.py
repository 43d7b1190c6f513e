#!/usr/bin/env python3
"""assay.mlx on real MLX: the networks are those of the zoo, the counts of the graph are the zoo's, the rows of the guides are there."""

import harness
import math
import pathlib
import tempfile
import unittest

if not harness.reason_to_skip():
    import assay

try:
    import mlx.core as core
except ImportError:
    core = None

KEYS = {  # of the profiling guides, by call
    "compute": "time_mean tflops ne_tflops ne_utilization compute_efficiency samples_per_second peak_memory",
    "memory": "unified_peak peak_usage peak_memory bandwidth bandwidth_utilization total_allocated cache_hit_rate",
    "hardware": "ne_cycles ne_utilization tflops memory_bandwidth mc_utilization cache_hit_rate power_usage",
    "realtime": "time_mean tflops ne_utilization bandwidth peak_usage cache_hit_rate mc_utilization power_usage compute_efficiency",
}


class MLX(unittest.TestCase):
    def setUp(self):
        if core is None:
            self.skipTest("mlx is not installed (scripts/setup python)")

    def model(self, **options):
        from assay.mlx import AutoNCP, CfC, CfCCell
        core.random.seed(7)
        sequences = options.pop("return_sequences", True)
        model = CfC(CfCCell(AutoNCP(units=24, output_size=6), **options), return_sequences=sequences)
        model.build(10)
        return model


class Networks(MLX):
    def outputs_of_the_zoo(self, model, x):
        """What assay's ONNX model computes from the same weights."""
        try:
            import numpy
            import onnxruntime
        except ImportError:
            self.skipTest("onnxruntime and numpy are not installed (scripts/setup bench)")
        from assay._explain import program
        from mlx.utils import tree_flatten
        with tempfile.TemporaryDirectory() as folder:
            weights, path = pathlib.Path(folder, "weights.safetensors"), pathlib.Path(folder, "model.onnx")
            core.save_safetensors(str(weights), dict(tree_flatten(model.parameters())))
            program("make", f"{model.zoo_name(x.shape[1])},batch={x.shape[0]},weights={weights}", "-o", str(path))
            session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            state = numpy.zeros((x.shape[0], model.rnn_cell.units), numpy.float32)
            return session.run(["output", "hn"], {"input": numpy.array(x), "h0": state})

    def test_equal_to_the_zoo(self):
        import numpy
        x = core.random.normal((3, 5, 10))
        for options in ({"backbone_units": [16, 16], "backbone_layers": 2}, {"backbone_units": 12}, {"backbone_layers": 0},
                        {"backbone_units": [20, 8]}, {}, {"return_sequences": False, "backbone_units": [16]}, {"return_sequences": False}):
            with self.subTest(**options):
                model = self.model(**options)
                output, state = model(x, return_state=True)
                zoo = self.outputs_of_the_zoo(model, x)
                self.assertLess(float(numpy.abs(numpy.array(output) - zoo[0].reshape(output.shape)).max()), 1e-5)
                self.assertLess(float(numpy.abs(numpy.array(state) - zoo[1]).max()), 1e-5)

    def test_step_by_step_is_the_sequence(self):
        model = self.model(backbone_units=[16])
        x = core.random.normal((2, 4, 10))
        whole, state, parts = model(x), None, []
        for step in range(4):
            part, state = model(x[:, step : step + 1], state, return_state=True)
            parts.append(part)
        self.assertTrue(core.allclose(whole, core.concatenate(parts, axis=1), atol=1e-6).item())

    def test_refusals(self):
        from assay.mlx import AutoNCP, CfCCell
        with self.assertRaises(ValueError):
            AutoNCP(units=8, output_size=7)
        with self.assertRaises(ValueError):
            CfCCell(AutoNCP(24, 6), backbone_units=[8, 8], backbone_layers=3)
        with self.assertRaises(TypeError):
            CfCCell()
        model = self.model()
        with self.assertRaises(ValueError):
            model(core.zeros((2, 4, 11)))


class Compile(MLX):
    def test_static_argnums(self):
        from assay.mlx import mx
        seen = []

        @mx.compile(static_argnums=(1,))
        def forward(x, training=False):
            seen.append(training)
            return x + 1 if training else x * 2
        x = core.array([1.0, 3.0])
        self.assertEqual([forward(x).tolist(), forward(x, True).tolist(), forward(x, training=True).tolist(), forward(x).tolist()],
                         [[2, 6], [2, 4], [2, 4], [2, 6]])
        self.assertEqual(set(seen), {False, True})
        self.assertLess(len(seen), 4)  # compiled: not every call is traced
        self.assertEqual(mx.compile(lambda x: x - 1)(x).tolist(), [0, 2])
        self.assertIs(mx.array, core.array)
        with self.assertRaises(ValueError):
            mx.compile(lambda x: x, static_argnums=3)


class Counts(MLX):
    def test_flops_are_the_zoo_s(self):
        from assay.mlx import cost
        for options in ({"backbone_units": [16, 16]}, {"backbone_units": 12, "return_sequences": False}):
            model = self.model(**options)
            core.eval(model.parameters())
            counted = cost(model, core.zeros((3, 5, 10))).flops
            self.assertEqual(float(counted), float(assay.inspect(model.zoo_name(5), batch=3)["compute.flops"]))

    def test_formulas(self):
        from assay.mlx import cost
        a, b = core.zeros((4, 8)), core.zeros((8, 16))
        core.eval(a, b)
        product = cost(lambda x: x @ b, a)
        self.assertEqual((float(product.flops), float(product.bytes)), (2 * 4 * 8 * 16, 4 * (4 * 8 + 8 * 16 + 4 * 16)))
        image, weights = core.zeros((1, 8, 8, 3)), core.zeros((5, 3, 3, 3))
        core.eval(image, weights)
        self.assertEqual(float(cost(lambda x: core.conv2d(x, weights), image).flops), 2 * 6 * 6 * 5 * 27)
        self.assertEqual(float(cost(core.tanh, a).flops), 32)
        self.assertEqual(float(cost(lambda x: x.T.reshape(32), a).flops), 0)
        unknown = cost(lambda x: core.fft.fft(x), a).flops
        self.assertEqual(unknown.state, "unavailable")
        self.assertIn("FFT", unknown.note)


class Profiler(MLX):
    def test_rows(self):
        from assay.mlx import MLXProfiler
        profiler = MLXProfiler(self.model(backbone_units=[16, 16]))
        for call, options in (("compute", {"num_runs": 20, "enable_ne": True}),
                              ("memory", {"track_unified": True, "track_bandwidth": True}),
                              ("hardware", {}), ("realtime", {})):
            stats = getattr(profiler, f"profile_{call}")(batch_size=4, seq_length=8, **options)
            for key in KEYS[call].split():
                self.assertIsInstance(stats[key], assay.Metric, key)
                self.assertTrue(stats[key].available or stats[key].note, key)
            self.assertEqual(stats["time_mean"].state if "time_mean" in stats else "derived", "derived")
            self.assertNotEqual(f"{stats['tflops']:.2f}", "n/a")
            self.assertEqual(stats["cache_hit_rate"].state if "cache_hit_rate" in stats else "unavailable", "unavailable")
        with assay.strict(), self.assertRaises(assay.UnavailableError):
            stats["ne_utilization"] > 50

    def test_numbers_fit_together(self):
        from assay.mlx import quick_profile
        stats = quick_profile(self.model(backbone_units=[16]), batch_size=4, seq_length=8, num_runs=30)
        time = float(stats["time_mean"])
        self.assertTrue(float(stats["time_min"]) <= time <= float(stats["time_max"]))
        self.assertTrue(math.isclose(float(stats["samples_per_second"]), 4 / time))
        self.assertTrue(math.isclose(float(stats["tflops"]), float(stats["flops"]) / time / 1e12))
        self.assertEqual(len(stats.measurement.samples), 30)
        from mlx.utils import tree_flatten
        parameters = sum(value.nbytes for _, value in tree_flatten(self.model(backbone_units=[16]).parameters()))
        self.assertGreaterEqual(float(stats["peak_memory"]) * 1e6, parameters)

    def test_forward_functions(self):
        from assay.mlx import mx, quick_profile
        model = self.model(backbone_units=[16])
        compiled = mx.compile(lambda x, training=False: model(x, training=training), static_argnums=(1,))
        for forward in (None, compiled, lambda x, training: model(x, training=training)):
            self.assertEqual(quick_profile(model, 2, 4, 5, forward_fn=forward)["time_mean"].state, "derived")

    def test_another_chip(self):
        from assay.mlx import MLXProfiler
        model = self.model(backbone_units=[16])
        stats = MLXProfiler(model).profile_compute(batch_size=128, seq_length=16, device="M1 Max", enable_ne=True)
        self.assertEqual({stats[name].state for name in ("time_mean", "tflops", "peak_memory", "ne_tflops")}, {"estimated"})
        expected = assay.predict(model.zoo_name(16), "M1 Max", unit="gpu", batch=128)
        self.assertEqual(float(stats["time_mean"]), float(expected["latency.p50"]))
        self.assertEqual(MLXProfiler(model).profile_compute(device="M1 Max")["ne_tflops"].state, "unavailable")
        import mlx.nn as nn
        with self.assertRaises(assay.AssayError):
            MLXProfiler(nn.Linear(4, 4)).profile_compute(device="M1 Max")

    def test_against_the_machine(self):
        """With a profile that has ceilings, shares of them are known."""
        import gzip
        from assay.mlx import MLXProfiler
        packed = harness.ROOT / "tests" / "golden" / "0.1.0" / "profiles" / "run-ceilings.assay.gz"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "ceilings.assay")
            path.write_bytes(gzip.decompress(packed.read_bytes()))
            ceilings = assay.open(path)
        stats = MLXProfiler(self.model(backbone_units=[16]), ceilings=ceilings).profile_memory(4, 8, track_bandwidth=True)
        best = {prefix: max(float(row.value) for row in ceilings.ceilings if row.name.startswith(prefix))
                for prefix in ("compute.float32", "bandwidth.dram")}
        self.assertTrue(math.isclose(float(stats["compute_efficiency"]), float(stats["tflops"]) * 1e12 / best["compute.float32"]))
        self.assertTrue(math.isclose(float(stats["bandwidth_utilization"]), float(stats["bandwidth"]) * 1e11 / best["bandwidth.dram"]))

    def test_any_module(self):
        import mlx.nn as nn
        from assay.mlx import MLXProfiler
        stats = MLXProfiler(nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 2))).profile_compute(batch_size=3, seq_length=5, num_runs=5)
        self.assertGreater(float(stats["flops"]), 3 * 5 * 2 * (12 * 8 + 8 * 2))
        with self.assertRaises(TypeError):
            MLXProfiler(nn.ReLU()).profile_compute(num_runs=5)
        self.assertTrue(MLXProfiler(nn.ReLU()).profile_compute(num_runs=5, input_shape=(2, 3))["flops"].available)
        with self.assertRaises(TypeError):
            MLXProfiler(3)


if __name__ == "__main__":
    harness.main()
