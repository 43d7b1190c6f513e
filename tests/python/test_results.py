#!/usr/bin/env python3
"""What is computed without running anything: inspections, checks, predictions, explanations of timelines."""

import harness
import json
import subprocess
import unittest

if not harness.reason_to_skip():
    import assay


def program(*arguments):
    done = subprocess.run([harness.BUILD / "assay", *arguments], capture_output=True, text=True, check=False)
    return done.stdout


class Results(unittest.TestCase):
    def test_inspect(self):
        inspection = assay.inspect("cfc", batch=2)
        promised = json.loads(program("inspect", "cfc", "--batch", "2", "--json"))
        self.assertEqual(inspection.metrics.to_dict(), {name: {key: metric[key] for key in ("value", "unit", "state", "source", "note")}
                                                        for name, metric in promised["metrics"].items()})
        self.assertEqual(inspection.conflicts, len(promised["conflicts"]))
        self.assertEqual(len(inspection.rows("layers")), len(promised["layers"]))
        self.assertIsNone(inspection._repr_svg_())
        self.assertIn("<pre", inspection._repr_html_())
        self.assertIn("cfc", inspection.difference(assay.inspect("cfc:units=32,outputs=4")))

    def test_check(self):
        check = assay.check("resnet50", "ane", chip="M1")
        promised = json.loads(program("check", "resnet50", "--target", "ane", "--chip", "M1", "--json"))
        self.assertEqual(check.verdict, promised["verdict"])
        self.assertEqual([item.rule for item in check.items], [item["rule"] for item in promised["items"]])
        self.assertEqual(check.to_dict()["verdict"], check.verdict)

    def test_predict(self):
        prediction = assay.predict("resnet50", "M1 Max", batch=4)
        self.assertEqual(prediction.kind, "predict")
        self.assertGreater(len(prediction.trials), 1)
        for trial in prediction.trials:
            if trial.state == "ok":
                for name, metric in trial.metrics.items():
                    self.assertIn(metric.state, ("estimated", "unavailable", "published", "derived"), name)
        doubled = prediction["latency.p50"] * 2
        self.assertEqual((doubled.state, float(doubled)), ("estimated", 2 * float(prediction["latency.p50"])))
        self.assertIn("M1 Max", prediction.report())
        trial = prediction.trial
        del prediction
        self.assertGreater(float(trial["latency.p50"]), 0)  # what a trial is borrowed from stays

    def test_explain(self):
        traces = sorted((harness.ROOT / "tests" / "fixtures" / "traces").glob("**/*.json"))
        if not traces:
            self.skipTest("there is no trace among the fixtures")
        for trace in traces[:3]:
            promised = program("explain", str(trace), "--json", "--quiet")
            if not promised:
                with self.assertRaises(assay.AssayError):
                    assay.explain(trace)
                continue
            explanation = assay.explain(trace)
            self.assertEqual(explanation.to_dict(), json.loads(promised))
            self.assertEqual(explanation.diagnosis, json.loads(promised)["diagnosis"]["id"])
            self.assertTrue(explanation.report() and explanation.report("html"))
        with self.assertRaises(assay.AssayError):
            assay.explain("/no/such/trace.json")
        with self.assertRaises(TypeError):
            assay.explain()

    def test_frames(self):
        inspection = assay.inspect("cfc")
        for module, call in (("pandas", inspection.to_pandas), ("polars", inspection.to_polars)):
            try:
                __import__(module)
            except ImportError:
                with self.assertRaises(ImportError):
                    call()
                continue
            self.assertEqual(len(call("layers")), len(inspection.rows("layers")))


if __name__ == "__main__":
    harness.main()
