#!/usr/bin/env python3
"""assay.measure(): the statistics on a scripted clock, refusals, what the function raises."""

import harness
import unittest
from unittest import mock

if not harness.reason_to_skip():
    import assay
    from assay import _measure


class Clock:
    """Advances by what the function took, and by nothing else."""

    def __init__(self, *durations_ns):
        self.now, self.calls, self.durations = 0, 0, durations_ns

    def __call__(self):
        return self.now

    def function(self):
        self.now += self.durations[self.calls % len(self.durations)]
        self.calls += 1


def scripted(clock, **options):
    with mock.patch.object(_measure, "perf_counter_ns", clock):
        return assay.measure(clock.function, **options)


class Measure(unittest.TestCase):
    def test_exact(self):
        clock = Clock(50_000)
        measurement = scripted(clock, iterations=200, warmup=7)
        self.assertEqual(measurement.calls, 1)
        self.assertEqual((len(measurement.samples), set(measurement.samples)), (200, {50_000.0}))
        self.assertEqual(float(measurement["latency.p50"]), 50e-6)
        self.assertEqual(float(measurement["latency.max"]), 50e-6)
        self.assertEqual(float(measurement["timing.first"]), 50e-6)
        self.assertAlmostEqual(float(measurement["throughput.inferences"]), 20_000)

    def test_mean_of_calls(self):
        measurement = scripted(Clock(100), iterations=50)
        self.assertEqual(measurement.calls, 128)  # the first power of two that takes 10 µs
        self.assertEqual(float(measurement["latency.p50"]), 100e-9)
        self.assertEqual(measurement["latency.p99"].state, "unavailable")
        self.assertIn("128", measurement["latency.p99"].note)

    def test_default_goal(self):
        measurement = scripted(Clock(1_000_000))
        self.assertEqual(len(measurement.samples), 1000)  # a second, a thousand calls; nothing varies
        measurement = scripted(Clock(3_000_000_000))
        self.assertEqual(len(measurement.samples), 4)  # ten seconds end it
        self.assertEqual(len(scripted(Clock(1_000_000), time_s=0.25).samples), 250)

    def test_refusals(self):
        for wrong in (None, 3, "print"):
            with self.assertRaises(TypeError):
                assay.measure(wrong)
        for wrong in ({"iterations": 0}, {"time_s": -1}, {"warmup": -1}, {"calls": 0}):
            with self.assertRaises(ValueError):
                assay.measure(lambda: None, **wrong)

        async def coroutine():
            pass
        with self.assertRaises(TypeError):
            assay.measure(coroutine)

    def test_what_the_function_raises(self):
        count = 0

        def fails():
            nonlocal count
            count += 1
            if count == 30:
                raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            assay.measure(fails)
        self.assertEqual(count, 30)

    def test_shown(self):
        measurement = scripted(Clock(50_000), iterations=20)
        self.assertIn("50 µs", repr(measurement))
        self.assertIn("latency.p50", str(measurement))
        self.assertEqual(measurement.to_dict()["metrics"]["latency.p50"]["state"], "measured")


if __name__ == "__main__":
    harness.main()
