#!/usr/bin/env python3
"""The examples of the docstrings, run as they are, and that every public name has a docstring."""

import doctest
import harness
import importlib
import pathlib
import unittest

if not harness.reason_to_skip():
    import assay

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def has_runtime():
    from assay import _library
    return bool(_library.runtime_path()) or any(pathlib.Path(harness.BUILD).glob("onnxruntime/libonnxruntime*"))


class Examples(unittest.TestCase):
    def check(self, name):
        module = importlib.import_module(f"assay.{name}")
        result = doctest.testmod(module, optionflags=OPTIONS, verbose=False)
        self.assertGreater(result.attempted, 0)
        self.assertEqual(result.failed, 0)

    def test_metric(self):
        self.check("_metric")

    def test_library(self):
        self.check("_library")

    def test_measure(self):
        self.check("_measure")

    def test_calls(self):
        if not has_runtime():
            self.skipTest("there is no ONNX Runtime")
        self.check("_calls")


class Docstrings(unittest.TestCase):
    def test_everywhere(self):
        for name in assay.__all__:
            public = getattr(assay, name)
            if not isinstance(public, str):
                self.assertTrue(public.__doc__, name)


if __name__ == "__main__":
    harness.main()
