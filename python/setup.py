"""Puts the library and the programs into the package: a wheel is for one platform and any Python.

They are taken from $ASSAY_NATIVE, else from the build folder of the checkout. An editable install finds that folder by itself.
"""

import os
import pathlib
import shutil

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from setuptools.errors import SetupError

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = ("libassay.so.0", "libassay.0.dylib")
BESIDE = ("assay", "assay-worker", "libassay-track.so", "libassay-cuda-trace.so")
NEEDED = {"assay", "assay-worker"}


class BuildPy(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:
            self.copy_native(pathlib.Path(self.build_lib) / "assay" / "_native")

    def copy_native(self, target):
        source = pathlib.Path(os.environ.get("ASSAY_NATIVE") or HERE.parent / "build")
        library = next((name for name in LIBRARY if (source / name).exists()), None)
        missing = [name for name in sorted(NEEDED) if not (source / name).exists()]
        if not library or missing:
            raise SetupError(f"{source} has no {' and no '.join(([] if library else [LIBRARY[0]]) + missing)}: "
                             "build assay first (make), or set ASSAY_NATIVE to the folder with its library and programs")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in (library, *BESIDE, *sorted(path.name for path in source.glob("LICENSE*"))):
            if (source / name).exists():
                shutil.copy2((source / name).resolve(), target / name)


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", os.environ.get("ASSAY_PLATFORM") or super().get_tag()[2]  # ctypes: no Python ABI


class Native(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildPy, "bdist_wheel": Wheel}, distclass=Native)
