#!/usr/bin/env python3
"""The notebook of examples/ runs from top to bottom, and its results are shown as pictures of the library's."""

import base64
import harness
import os
import unittest

NOTEBOOK = harness.ROOT / "examples" / "profile_models.ipynb"


class Notebook(unittest.TestCase):
    def setUp(self):
        try:
            import ipykernel  # noqa: F401
            import nbclient  # noqa: F401
            import nbformat  # noqa: F401
        except ImportError as error:
            self.skipTest(f"{error.name} is not installed (scripts/setup python)")

    def test_runs(self):
        import nbclient
        import nbformat
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        self.assertFalse(any(cell.get("outputs") for cell in notebook.cells))  # kept without what one machine measured
        os.environ.update(harness.environment(harness.ROOT / "python" / "src"))
        nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        self.assertFalse([output for output in outputs if output.output_type == "error"])
        pages = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
        profiles = [page for page in pages if 'class="assay"' in page]
        self.assertEqual(len(profiles), 2)
        for page in profiles:
            data = page.split("data:image/svg+xml;base64,")[1].split('"')[0]
            self.assertIn("</svg>", base64.b64decode(data).decode())
        printed = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
        self.assertRegex(printed, r"\d µs, energy (n/a|[\d.]+) J")


if __name__ == "__main__":
    harness.main()
