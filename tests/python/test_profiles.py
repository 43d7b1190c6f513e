#!/usr/bin/env python3
"""Every profile of tests/golden read through Python is what its JSON report says: trials, metrics, layers, launches, series, findings."""

import gzip
import harness
import pathlib
import shutil
import tempfile
import unittest

if not harness.reason_to_skip():
    import assay

PROFILES = sorted((harness.ROOT / "tests" / "golden" / "0.1.0" / "profiles").glob("*.assay.gz"))
FIELDS = ("value", "unit", "state", "source", "note")


class Profiles(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.scratch)

    def opened(self, packed):
        path = self.scratch / packed.name.removesuffix(".gz")
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        return assay.open(path)

    def test_the_same_as_json(self):
        self.assertGreater(len(PROFILES), 15)
        for packed in PROFILES:
            with self.subTest(profile=packed.name):
                profile = self.opened(packed)
                promised = profile.to_dict()
                self.assertEqual(len(profile.trials), len(promised["trials"]))
                self.assertEqual([finding.id for finding in profile.findings], [row["id"] for row in promised.get("findings", [])])
                self.assertEqual([(row.device, row.name, row.value) for row in profile.ceilings],
                                 [(row["device"], row["name"], row["value"]) for row in promised.get("ceilings", [])])
                for trial, row in zip(profile.trials, promised["trials"]):
                    self.check_trial(trial, row)

    def check_trial(self, trial, promised):
        self.assertEqual(trial.state, promised["state"])
        self.assertEqual(trial.metrics.to_dict(),
                         {name: {key: metric[key] for key in FIELDS} for name, metric in promised["metrics"].items()})
        self.assertEqual([launch.sample_count for launch in trial.launches], [row["samples"] for row in promised["launches"]])
        self.assertEqual([sum(len(launch.samples(stream)) for stream in range(launch.streams)) for launch in trial.launches],
                         [launch.sample_count for launch in trial.launches])
        self.assertEqual(len(trial.layers), len(promised["layers"]))
        for layer, row in zip(trial.layers, promised["layers"]):
            self.assertEqual((layer.name, layer.op, layer.flops, layer.bytes), (row["name"], row["op"], row["flops"], row["bytes"]))
            self.assertEqual(layer.time.available, row["time_us"] is not None)
            if layer.time.available:
                self.assertAlmostEqual(float(layer.time) * 1e6, row["time_us"], delta=1e-6 * abs(row["time_us"]) + 1e-9)
        for series in trial.series:
            self.assertEqual(len(series.times_ns), len(series.values))

    def test_reports(self):
        """Every format, and the main figure, as the command line gives them."""
        for packed in PROFILES:
            with self.subTest(profile=packed.name):
                profile = self.opened(packed)
                for format in ("text", "markdown", "csv", "junit"):
                    self.assertTrue(profile.report(format))
                self.assertTrue(profile.rows())
                self.assertIn('<div class="assay">', profile._repr_html_())


if __name__ == "__main__":
    harness.main()
