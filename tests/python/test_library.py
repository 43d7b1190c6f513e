#!/usr/bin/env python3
"""Finding the library: what is missing, or is another one, is a clear exception; import loads nothing."""

import harness
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = harness.ROOT / "python" / "src"


def python(code, **environment):
    """Runs code in a Python of its own; its output, without what the environment says about libraries."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    done = subprocess.run([sys.executable, "-c", code], env={**kept, "PYTHONPATH": str(SOURCE), **environment}, capture_output=True,
                          text=True, timeout=120, check=False)
    return done.stdout.strip() if not done.returncode else f"status {done.returncode}: {done.stderr.strip()}"


REFUSED = """
import assay
try:
    assay.inspect("cfc")
except assay.LibraryError as error:
    print(type(error).__name__, isinstance(error, ImportError), error)
"""


class Library(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.scratch)

    def test_missing(self):
        self.assertRegex(python(REFUSED, ASSAY_LIBRARY=str(self.scratch)), "^LibraryError True libassay was not found; set ASSAY_LIBRARY")
        self.assertRegex(python(REFUSED, ASSAY_LIBRARY="/no/such/libassay.so"), "^LibraryError True .*/no/such/libassay.so")

    def test_not_a_library(self):
        (self.scratch / "libassay.so").write_text("not an ELF file")
        self.assertRegex(python(REFUSED, ASSAY_LIBRARY=str(self.scratch)), "^LibraryError True .*cannot be loaded")

    def compiled(self, code):
        if not shutil.which("cc"):
            self.skipTest("there is no C compiler")
        (self.scratch / "other.c").write_text(code)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.scratch / "libassay.so", self.scratch / "other.c"], check=True)
        return python(REFUSED, ASSAY_LIBRARY=str(self.scratch))

    def test_another_library(self):
        self.assertRegex(self.compiled("int x;"), "^LibraryError True .* is no libassay$")

    def test_another_version(self):
        self.assertRegex(self.compiled('const char *assay_version(void) { return "9.7.5"; }'),
                         "^LibraryError True .* is version 9.7.5, this package is for ")

    def test_older_library(self):
        import assay
        version = f'const char *assay_version(void) {{ return "{assay.__version__}"; }}'
        self.assertRegex(self.compiled(version), "^LibraryError True .* is older than this package: it has no assay_")

    def test_import_loads_nothing(self):
        heavy = "numpy pandas json asyncio subprocess inspect ctypes typing dataclasses onnxruntime".split()
        loaded = f"print([name for name in {heavy} if name in sys.modules])"
        self.assertEqual(python(f"import sys, assay; {loaded}", ASSAY_LIBRARY="/no/such"), python(f"import sys; {loaded}"))

    def test_the_runtime_of_site_packages(self):
        capi = self.scratch / "site" / "onnxruntime" / "capi"
        capi.mkdir(parents=True)
        for name in ("libonnxruntime_providers_shared.so", "libonnxruntime.so.1.99.0"):
            (capi / name).write_text("")
        shutil.copy(os.path.realpath(harness.BUILD / "libassay.so"), self.scratch / "libassay.so")
        path = f"{SOURCE}{os.pathsep}{self.scratch / 'site'}"
        code = "import assay._library as l; print(l.runtime_path())"
        self.assertEqual(python(code, ASSAY_LIBRARY=str(self.scratch), PYTHONPATH=path), str(capi / "libonnxruntime.so.1.99.0"))
        self.assertEqual(python(code, ASSAY_LIBRARY=str(self.scratch), PYTHONPATH=path, ASSAY_ORT_LIBRARY="/x.so"), "None")


class Program(unittest.TestCase):
    def run_module(self, *arguments, **environment):
        kept = {name: value for name, value in os.environ.items() if name != "ASSAY_LIBRARY"}
        return subprocess.run([sys.executable, "-m", "assay", *arguments], capture_output=True, text=True, timeout=120, check=False,
                              env={**kept, "PYTHONPATH": str(SOURCE), **environment})

    def test_is_the_command_line(self):
        build = str(harness.BUILD)
        same = subprocess.run([harness.BUILD / "assay", "version"], capture_output=True, text=True, check=True)
        self.assertEqual(self.run_module("version", ASSAY_LIBRARY=build).stdout, same.stdout)
        self.assertEqual(self.run_module("run", "--no-such-option", ASSAY_LIBRARY=build).returncode, 2)

    def test_missing(self):
        done = self.run_module("version", ASSAY_LIBRARY="/no/such")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (3, "", 1))


class Process(unittest.TestCase):
    def test_fork(self):
        """An object from before a fork is refused in the child, and a new one is fine there."""
        code = """
import os, assay
inspection = assay.inspect("cfc")
pid = os.fork()
if pid == 0:
    try:
        inspection.metrics["compute.flops"]
    except assay.ForkedError:
        os._exit(7 if assay.inspect("cfc")["compute.flops"] > 0 else 8)
    os._exit(9)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), inspection["compute.flops"] > 0)
"""
        self.assertEqual(python(code, ASSAY_LIBRARY=str(harness.BUILD)), "7 True")

    def test_threads(self):
        import assay
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda batch: float(assay.inspect("cfc", batch=batch)["compute.flops"]), [1, 2, 4, 8] * 4))
        self.assertEqual(found[:4] * 4, found)
        self.assertEqual([flops / found[0] for flops in found[:4]], [1, 2, 4, 8])


if __name__ == "__main__":
    harness.main()
