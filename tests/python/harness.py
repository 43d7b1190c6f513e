"""What every test of the Python package starts with: the package of this checkout on the path, its library, and main(), which ends
with the line that tests/run reads."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD") or ROOT / "build")
os.environ.setdefault("ASSAY_LIBRARY", str(BUILD))
sys.path.insert(0, str(ROOT / "python" / "src"))
# What `scripts/setup bench python` fetched, behind what this Python has itself: onnxruntime, numpy, mlx, matplotlib, mypy, …
FETCHED = [str(ROOT / ".cache" / name) for name in ("python-tests", "bench") if (ROOT / ".cache" / name).is_dir()]
sys.path += FETCHED


def environment(*folders):
    """The environment of a Python that finds these folders, and what was fetched."""
    path = [*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")]), *FETCHED]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def reason_to_skip():
    """Why the package cannot be tested here; None: it can."""
    if sys.version_info < (3, 11):
        return f"Python {sys.version.split()[0]} is older than 3.11"
    try:
        import ctypes  # noqa: F401
    except ImportError:
        return "this Python has no ctypes"
    if not any((BUILD / name).exists() for name in ("libassay.so", "libassay.dylib")):
        return f"{BUILD} has no shared library"
    return None


class fake:
    """Context: the fake engine follows the script (doc/fake-engine.md)."""

    def __init__(self, script):
        self.wanted = {"ASSAY_FAKE_DEVICES": "cpu", "ASSAY_FAKE_SCRIPTS": f"cpu {script}"}

    def __enter__(self):
        os.environ.update(self.wanted)

    def __exit__(self, *_):
        for name in self.wanted:
            del os.environ[name]


def main():
    """Runs the tests of the calling file."""
    reason = reason_to_skip()
    if reason:
        print(f"  skipped: {reason}\nskip all\n0 passed, 0 failed, 1 skipped")
        return
    result = unittest.main(exit=False, verbosity=0).result
    for test, why in result.skipped:
        print(f"  skipped: {why}\nskip {test.id().split('.')[-1]}")
    failed = {test.id().split(" ")[0] for test, _ in result.failures + result.errors}
    print(f"{result.testsRun - len(failed) - len(result.skipped)} passed, {len(failed)} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)
