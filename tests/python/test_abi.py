#!/usr/bin/env python3
"""The package's structures, functions and keywords are those of the headers."""

import ctypes
import harness
import re
import typing
import unittest

if not harness.reason_to_skip():
    import assay
    from assay import _abi, _library, _options

HEADERS = sorted((harness.ROOT / "include" / "assay").glob("*.h"))


class Layout(unittest.TestCase):
    def test_sizes_and_offsets(self):
        kept = {}
        for line in (harness.ROOT / "tests" / "golden" / "abi.txt").read_text().splitlines():
            if match := re.fullmatch(r"struct (\w+) of (\d+) bytes", line):
                kept[match[1]] = (int(match[2]), {})
            elif match := re.fullmatch(r"struct (\w+)\.(\w+) at (\d+)", line):
                kept[match[1]][1][match[2]] = int(match[3])
        self.assertGreater(len(_abi.STRUCTS), 30)
        for name, kind in _abi.STRUCTS.items():
            with self.subTest(struct=name):
                size, members = kept[name]
                self.assertEqual({member: getattr(kind, member).offset for member, _ in kind._fields_}, members)
                self.assertEqual(ctypes.sizeof(kind), size)

    def test_functions(self):
        text = " ".join(header.read_text() for header in HEADERS)
        declared = {}
        for match in re.finditer(r"ASSAY_API\s+([^;{(]*?)(assay_\w+)\s*\(([^;]*?)\)\s*(?:ASSAY_PRINTF\([^)]*\))?;", text):
            declared[match[2]] = 0 if match[3].strip() in ("", "void") else match[3].count(",") + 1
        library = _library.load()
        for line in filter(None, _abi._FUNCTIONS.split("\n")):
            name, signature = line.split(":")
            self.assertEqual(len(signature.split()) - 1, declared[name], name)
            self.assertIsNotNone(getattr(library, name))

    def test_version(self):
        header = (harness.ROOT / "include" / "assay" / "api.h").read_text()
        self.assertEqual(assay.__version__, re.search(r'ASSAY_VERSION_STRING "(.*)"', header)[1])

    def test_layer_methods_and_states(self):
        layer = (harness.ROOT / "include" / "assay" / "layer.h").read_text()
        self.assertEqual(tuple(name.lower() for name in re.findall(r"ASSAY_LAYERS_(\w+)[,\n]", layer)), _options.LAYERS)
        from assay import _metric, _profile
        metric = (harness.ROOT / "include" / "assay" / "metric.h").read_text()
        self.assertEqual(tuple(name.lower() for name in re.findall(r"ASSAY_(\w+) = \d", metric)), _metric.STATES)
        trial = (harness.ROOT / "include" / "assay" / "trial.h").read_text()
        self.assertEqual(tuple(name.lower() for name in re.findall(r"(?m)^    ASSAY_TRIAL_(\w+)", trial)), _profile.TRIAL_STATES)


class Keywords(unittest.TestCase):
    def typed(self, name):
        """The keys of a TypedDict, which exist for type checkers only."""
        source = (harness.ROOT / "python" / "src" / "assay" / "_options.py").read_text()
        for old, new in (("TYPE_CHECKING = False", "TYPE_CHECKING = True"), ("from ._library import Cancel", "Cancel = object"),
                         ("from ._progress import Progress", "Progress = object"), ("from __future__ import annotations", "")):
            self.assertIn(old, source)
            source = source.replace(old, new)
        space = {"__name__": "typed"}
        exec(source, space)
        return set(typing.get_type_hints(space[name], space))

    def test_run(self):
        own = {"progress", "remark", "cancel"}
        self.assertEqual(self.typed("RunOptions"), set(_options.keywords(_abi.Run)) | own)
        self.assertEqual(self.typed("WorkloadOptions"), set(_options.keywords(_abi.Workload)))
        varied = set(_options.keywords(_abi.Grid)) - {"devices", "precision", "spinning"}
        self.assertEqual(self.typed("GoalOptions"), (set(_options.keywords(_abi.Run)) - varied) | set(_options.keywords(_abi.Goal)) | own)


if __name__ == "__main__":
    harness.main()
