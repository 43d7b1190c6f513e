#!/usr/bin/env python3
"""The package passes mypy --strict, and a caller's mistakes are found by it."""

import harness
import subprocess
import sys
import tempfile
import pathlib
import unittest

WRONG = """import assay
profile: assay.Profile = assay.run("cfc", batch=8, time_s=0.5)
x: float = profile["latency.p50"]
y: str = profile["latency.p50"].unit
assay.run("cfc", batch="8")
assay.run("cfc", no_such=1)
assay.rnu("cfc")
"""


def mypy(*arguments):
    return subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", *arguments], cwd=harness.ROOT / "python", text=True, env=harness.environment(),
                          capture_output=True, timeout=280, check=False)


class Types(unittest.TestCase):
    def setUp(self):
        try:
            import mypy  # noqa: F401
        except ImportError:
            self.skipTest("mypy is not installed")
        self.cache = tempfile.TemporaryDirectory()
        self.addCleanup(self.cache.cleanup)

    def test_strict(self):
        done = mypy("--cache-dir", self.cache.name)
        self.assertEqual((done.stdout, done.returncode), ("", 0))

    def test_callers(self):
        path = pathlib.Path(self.cache.name) / "caller.py"
        path.write_text(WRONG)
        done = mypy("--cache-dir", self.cache.name, "--strict", str(path))
        self.assertEqual([line.split(":")[1] for line in done.stdout.splitlines() if "error" in line and str(path) in line], ["5", "6", "7"])


if __name__ == "__main__":
    harness.main()
