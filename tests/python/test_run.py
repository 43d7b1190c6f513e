#!/usr/bin/env python3
"""Measuring, on the fake engine, whose times are known: values, progress, Ctrl-C, cancelling, failures, reading."""

import asyncio
import harness
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

if not harness.reason_to_skip():
    import assay

EXACT = {"engine": "fake", "launches": 1, "warmup": 5, "iterations": 100, "progress": False}
ENDLESS = {"engine": "fake", "launches": 1, "warmup": 5, "iterations": 1_000_000, "layers": "off", "progress": False}


class Scratch(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.scratch)


class Values(Scratch):
    def test_metrics_samples_layers(self):
        with harness.fake("steady=100us;layers=conv:60us:Conv,relu:30us:Relu;engine=10us"):
            profile = assay.run("cfc", layers="engine", **EXACT)
        self.assertEqual(profile.kind, "run")
        trial = profile.trial
        self.assertEqual((trial.state, trial.target.engine, trial.target.device), ("ok", "fake", "cpu"))
        median = profile["latency.p50"]
        self.assertEqual((float(median), median.unit, median.state, median.name), (1e-4, "s", "measured", "latency.p50"))
        self.assertEqual(float(profile["latency.samples"]), 100)
        samples = trial.launches[0].samples()
        self.assertEqual((len(samples), samples.readonly, set(samples)), (100, True, {100_000.0}))
        self.assertEqual([(layer.title, layer.op, float(layer.time)) for layer in trial.layers],
                         [("conv", "Conv", 60e-6), ("relu", "Relu", 30e-6)])
        self.assertEqual(trial.layer_summary.engine_ns, 10_000)
        self.assertEqual(profile["energy.inference.gross"].state, "unavailable")
        self.assertTrue(profile["energy.inference.gross"].note)
        with self.assertRaises(KeyError):
            profile["no.such.metric"]
        self.assertEqual(trial.model.name, "cfc")
        self.assertIn("input", [input.name for input in trial.inputs])
        self.assertIsInstance(profile.environment.cores, (int, type(None)))

    def test_the_same_as_json(self):
        """Every metric of the trial has in Python what it has in JSON."""
        with harness.fake("steady=100us"):
            profile = assay.run("cfc", **EXACT)
        promised = profile.to_dict()["trials"][0]["metrics"]
        read = profile.metrics.to_dict()
        self.assertEqual(set(read), set(promised))
        for name, metric in promised.items():
            self.assertEqual({key: read[name][key] for key in ("value", "unit", "state", "source", "note")},
                             {key: metric[key] for key in ("value", "unit", "state", "source", "note")}, name)

    def test_reports(self):
        with harness.fake("steady=100us,110us,120us;layers=conv:60us:Conv,relu:30us:Relu;engine=10us"):
            profile = assay.run("cfc", layers="engine", output=self.scratch / "x.assay", **EXACT)
        for format in ("text", "markdown", "html", "csv", "json", "junit"):
            self.assertTrue(profile.report(format))
        with self.assertRaises(assay.InvalidArgument) as caught:
            profile.report("pdf")
        self.assertEqual(caught.exception.option, "format")
        self.assertIn("<svg", profile.figure("latency"))
        self.assertIn("conv", profile.figure())
        with self.assertRaises(assay.AssayError) as caught:
            profile.figure("sweep")
        self.assertEqual(caught.exception.code, "ENOTFOUND")
        with self.assertRaises(assay.InvalidArgument):
            profile.figure("pie")
        self.assertTrue(profile._repr_svg_().startswith("<svg"))
        self.assertIn("<img", profile._repr_html_())
        self.assertIn("power=True", profile.report(full=True))  # what would provide it, in the terms of this package
        self.assertNotIn("--power", profile.report(full=True))
        layers = profile.rows("layers")
        self.assertEqual([row["op"] for row in layers[:2]], ["Conv", "Relu"])
        for name in ("page.html", "table.csv", "p.json", "p.md", "p.xml", "p.txt", "layers.svg"):
            profile.save_report(self.scratch / name)
            self.assertGreater((self.scratch / name).stat().st_size, 0)
        with self.assertRaises(ValueError):
            profile.save_report(self.scratch / "page.pdf")
        program = subprocess.run([harness.BUILD / "assay", "report", self.scratch / "x.assay", "--svg", "layers"], capture_output=True,
                                 check=True)
        self.assertEqual(program.stdout.decode(), profile.figure("layers"))

    def test_open_and_close(self):
        path = self.scratch / "kept.assay"
        with harness.fake("steady=100us"):
            assay.run("cfc", output=path, **EXACT)
        with assay.open(path) as profile:
            samples = profile.trial.launches[0].samples()
            trial = profile.trial
        with self.assertRaises(assay.ClosedError):
            profile.trials
        self.assertEqual(set(samples), {100_000.0})  # what was read stays valid
        self.assertEqual(float(trial["latency.p50"]), 1e-4)
        (self.scratch / "text.assay").write_text("no profile")
        for wrong in ("text.assay", "missing.assay"):
            with self.assertRaises(assay.AssayError):
                assay.open(self.scratch / wrong)

    def test_closed_while_it_is_read(self):
        """Threads that read go on with what they hold; nothing is freed under them."""
        with harness.fake("steady=100us,300us"):
            profile = assay.run("cfc", **EXACT)
        begun, sums = threading.Barrier(5), []

        def read():
            launch = profile.trial.launches[0]
            samples = launch.samples()
            begun.wait()
            sums.append([sum(samples) for _ in range(200)][-1] + float(launch.metrics["latency.p50"]) * 0)
        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        begun.wait()
        profile.close()
        for thread in threads:
            thread.join()
        self.assertEqual(sums, [50 * 100_000.0 + 50 * 300_000.0] * 4)

    def test_samples_are_not_copied(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        with harness.fake("steady=100us,300us"):
            profile = assay.run("cfc", **EXACT)
        samples = profile.trial.launches[0].samples()
        found = numpy.asarray(samples)
        self.assertEqual(found.dtype, numpy.float64)
        self.assertFalse(found.flags.owndata or found.flags.writeable)
        del profile, samples
        self.assertEqual(sorted(set(found.tolist())), [100_000.0, 300_000.0])

    def test_several_trials(self):
        with harness.fake("steady=100us;when_batch=4:steady=150us"):
            profile = assay.sweep("cfc", batch=[1, 4], goal="throughput", engine="fake", launches=2, iterations=50, warmup=0, progress=False)
            self.assertEqual([trial.batch for trial in profile.trials], [1, 4])
            self.assertEqual([float(trial["latency.p50"]) for trial in profile.trials], [1e-4, 1.5e-4])
            self.assertEqual(profile.to_dict()["sweep"]["optimal"], "batch=4")
            self.assertIn("<svg", profile.figure())
            compared = assay.compare("cfc:units=8,outputs=2", "cfc:units=16,outputs=2", engine="fake", launches=2, iterations=20,
                                     progress=False)
            self.assertEqual((compared.kind, len(compared.trials), len(compared.models)), ("compare", 2, 2))


class Arguments(unittest.TestCase):
    def test_wrong_types(self):
        for wrong in ({"batch": "8"}, {"batch": 1.5}, {"batch": True}, {"time_s": "1"}, {"power": 1}, {"device": 3j}, {"shapes": "x=1"},
                      {"progress": 3}, {"cancel": 1}, {"remark": "x"}, {"no_such": 1}, {"output": 3j}):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                assay.run("cfc", **wrong)
        for wrong in ({"layers": "all"}, {"device": "a\0b"}):
            with self.assertRaises(ValueError):
                assay.run("cfc", **wrong)
        with self.assertRaises(OverflowError):
            assay.run("cfc", threads=2**40)
        for model in (None, 3, ["cfc"]):
            for call in (assay.run, assay.inspect, assay.sweep, assay.compare):
                with self.assertRaises(TypeError):
                    call(model)
        with self.assertRaises(TypeError):
            assay.compare()

    def test_suggestion(self):
        with self.assertRaisesRegex(TypeError, "did you mean 'iterations'"):
            assay.run("cfc", iteration=3)

    def test_refused_by_the_library(self):
        for option, wrong in (("warmup", {"warmup": -1}), ("threads", {"threads": -2})):
            with self.assertRaises(assay.InvalidArgument) as caught:
                assay.run("cfc", engine="fake", progress=False, **wrong)
            self.assertEqual((caught.exception.code, caught.exception.option), ("EINVAL", option))

    def test_missing_model(self):
        with self.assertRaises(assay.AssayError) as caught:
            assay.run("/no/such/model.onnx", engine="fake", progress=False)
        self.assertEqual(caught.exception.code, "ENOTFOUND")

    def test_failed_launch_has_its_profile(self):
        with harness.fake("crash_at=3"), self.assertRaises(assay.AssayError) as caught:
            assay.run("cfc", **EXACT)
        self.assertEqual(caught.exception.profile.trials[0].state, "failed")
        self.assertTrue(caught.exception.profile.trials[0].reason)


class Stopping(Scratch):
    def test_ctrl_c_keeps_the_profile(self):
        """A Python of its own gets SIGINT in the middle of a run."""
        path = self.scratch / "interrupted.assay"
        code = f"""
import assay
try:
    assay.run("cfc", output={str(path)!r}, **{ENDLESS!r})
except KeyboardInterrupt as stopped:
    trial = stopped.profile.trial
    print(type(stopped).__name__, trial.state, trial.launches[0].sample_count > 0, stopped.profile.interrupted)
"""
        with harness.fake("steady=1ms;pace=1ms"):
            child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                                     env={**os.environ, "PYTHONPATH": str(harness.ROOT / "python" / "src")})
        self.wait_for_samples(path)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=60)[0].strip(), "Interrupted interrupted True True")
        self.assertEqual(child.returncode, 0)
        self.assertTrue(assay.open(path).interrupted)

    def test_a_killed_run_has_statistics(self):
        path = self.scratch / "killed.assay"
        command = [harness.BUILD / "assay", "run", "--engine", "fake", "--script", "steady=1ms;pace=1ms", "--iters", "1000000",
                   "--warmup", "5", "--layers=off", "-o", path]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for_samples(path)
        child.kill()
        child.wait()
        profile = assay.open(path)
        self.assertEqual((profile.complete, profile.trial.state), (False, "running"))
        self.assertEqual(float(profile["latency.p50"]), 1e-3)
        self.assertIn("recovered", profile["latency.p50"].note)

    def wait_for_samples(self, path):
        for _ in range(400):
            done = subprocess.run([harness.BUILD / "assay", "query", path, "SELECT count(*) FROM samples", "--csv"], capture_output=True,
                                  text=True, check=False)
            if done.stdout.split()[-1:] and done.stdout.split()[-1].isdigit() and int(done.stdout.split()[-1]):
                return
            time.sleep(0.05)
        self.fail("no sample was stored in 20 s")

    def test_cancel_from_another_thread(self):
        cancel = assay.Cancel()
        timer = threading.Timer(1.0, cancel)
        timer.start()
        with harness.fake("steady=1ms;pace=1ms"), self.assertRaises(assay.Cancelled) as caught:
            assay.run("cfc", cancel=cancel, **ENDLESS)
        self.assertEqual((caught.exception.code, caught.exception.profile.interrupted), ("EINTERRUPTED", True))

    def test_asyncio(self):
        async def both():
            ticks = 0
            task = asyncio.create_task(assay.to_thread(assay.run, "cfc", **ENDLESS))
            for _ in range(20):
                await asyncio.sleep(0.05)
                ticks += 1
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return ticks, True
            return ticks, False
        with harness.fake("steady=1ms;pace=1ms"):
            self.assertEqual(asyncio.run(both()), (20, True))
        with harness.fake("steady=100us"):
            profile = asyncio.run(assay.to_thread(assay.run, "cfc", **EXACT))
        self.assertEqual(float(profile["latency.p50"]), 1e-4)

    def test_the_gil_is_released(self):
        """Other threads go on, also when the call is made outside the main thread."""
        count, running = 0, True

        def busy():
            nonlocal count
            while running:
                count += 1
                time.sleep(0.001)

        thread = threading.Thread(target=busy)
        thread.start()
        with harness.fake("steady=100us;pace=2ms"):
            call = threading.Thread(target=lambda: assay.run("cfc", **EXACT))
            before = count
            call.start()
            call.join()
        running = False
        thread.join()
        self.assertGreater(count - before, 20)

    def test_progress(self):
        seen = []
        with harness.fake("steady=1ms;pace=100us"):
            assay.run("cfc", **{**EXACT, "launches": 3, "progress": seen.append})
        self.assertTrue(all(isinstance(now, assay.Progress) for now in seen))
        self.assertEqual({now.launches for now in seen if now.launches > 1}, {3})
        self.assertTrue(all(now.done is None or 0 <= now.done <= 1 for now in seen))
        self.assertTrue(all(now.line() for now in seen))

    def test_progress_that_raises_stops(self):
        def progress(_):
            raise RuntimeError("enough")
        with harness.fake("steady=1ms;pace=1ms"), self.assertRaisesRegex(RuntimeError, "enough"):
            assay.run("cfc", **{**ENDLESS, "progress": progress})


class Bar(unittest.TestCase):
    def test_terminal(self):
        import io
        from unittest import mock

        from assay import _progress
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        now = assay.Progress("measuring", 1, 5, 0.5, 0, 0, "", None, None, None)
        with mock.patch.object(sys, "stderr", terminal):
            call, end = _progress.shown(None)
            call(now)
            end()
            self.assertIn("[############            ] measuring, launch 1/5, 50%", terminal.getvalue())
            self.assertTrue(terminal.getvalue().endswith("\r"))
            self.assertEqual(_progress.shown(False)[0], None)
        with mock.patch.object(sys, "stderr", io.StringIO()):
            self.assertEqual(_progress.shown(None)[0], None)

    def test_notebook(self):
        from assay import _progress
        shown = []

        class Handle:
            def update(self, data, raw):
                shown.append(data)

        def display(data, raw, display_id):
            shown.append(data)
            return Handle()
        notebook = _progress._Notebook(display)
        for done in (None, 0.5):
            notebook(assay.Progress("<measuring>", 1, 1, done, 0, 0, "", None, None, None))
        notebook.end()
        self.assertIn('value="0.500"', shown[1]["text/html"])
        self.assertIn("&lt;measuring&gt;", shown[0]["text/html"])


if __name__ == "__main__":
    harness.main()
