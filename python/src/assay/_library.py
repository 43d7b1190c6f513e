"""Finding libassay and ONNX Runtime, loading the library once, and calling it.

The library is looked for in $ASSAY_LIBRARY (a file or its folder), inside the package (a wheel), in the build folder of a checkout
that the package lies in, then by the system's loader. assay-worker and the program lie beside it.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import threading
from typing import Any, Callable

from . import _abi
from ._errors import ForkedError, Interrupted, LibraryError, error_of
from ._version import VERSION

_FILES = ("libassay.dylib", "libassay.0.dylib") if sys.platform == "darwin" else ("libassay.so", "libassay.so.0")
_lock = _thread.allocate_lock()
_loaded: ctypes.CDLL | None = None
_path = ""
_forks = 0  # how often this process is a child of the one that imported the package


def _forked() -> None:
    global _forks, _lock
    _forks += 1
    _lock = _thread.allocate_lock()  # its holder, if any, is not in this process


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


# --- finding -------------------------------------------------------------------------------------------------------------------------


def _candidates() -> list[str]:
    given = os.environ.get("ASSAY_LIBRARY")
    if given:
        return [os.path.join(given, file) for file in _FILES] if os.path.isdir(given) else [given]
    package = os.path.dirname(os.path.abspath(__file__))
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(package)))
    folders = [os.path.join(package, "_native")]
    if os.path.exists(os.path.join(checkout, "include", "assay", "assay.h")):
        folders.append(os.path.join(checkout, "build"))
    return [os.path.join(folder, file) for folder in folders for file in _FILES]


def _open(tried: list[str]) -> tuple[ctypes.CDLL, str]:
    for path in tried:
        if os.path.exists(path):
            try:
                return ctypes.CDLL(os.path.realpath(path)), os.path.realpath(path)
            except OSError as error:
                raise LibraryError(f"{path} cannot be loaded: {error}") from None
    if not os.environ.get("ASSAY_LIBRARY"):
        try:
            return ctypes.CDLL(_FILES[-1]), ""
        except OSError:
            pass
    raise LibraryError(f"libassay was not found; set ASSAY_LIBRARY to its path (looked for {', '.join(tried)})")


def load() -> ctypes.CDLL:
    """The library; opened by the first call."""
    global _loaded, _path
    if _loaded is not None:
        return _loaded
    with _lock:
        if _loaded is None:
            library, path = _open(_candidates())
            where = path or _FILES[-1]
            try:
                library.assay_version.restype = ctypes.c_char_p
                found = library.assay_version().decode()
            except AttributeError:
                raise LibraryError(f"{where} is no libassay") from None
            if found.split(".")[:2] != VERSION.split(".")[:2]:  # until 1.0 structures change with the second number
                raise LibraryError(f"{where} is version {found}, this package is for {VERSION}: install the two together")
            try:
                _abi.declare(library)
            except AttributeError as error:
                raise LibraryError(f"{where} is older than this package: it has no {str(error).split()[-1]}") from None
            _loaded, _path = library, path
    return _loaded


def library_path() -> str:
    """Path of libassay ("" where the system's loader found it)."""
    load()
    return _path


def program_path() -> str:
    """Path of the command-line program. LibraryError: there is none."""
    beside = [os.path.join(os.path.dirname(path), "assay") for path in _candidates()]
    for path in beside:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise LibraryError(f"the program assay was not found beside libassay (looked for {', '.join(dict.fromkeys(beside))})")


def runtime_path() -> str | None:
    """Path of the ONNX Runtime of the PyPI package onnxruntime; None: the library finds one itself, or there is none."""
    if os.environ.get("ASSAY_ORT_LIBRARY"):
        return None
    folders = {os.path.dirname(path) for path in _candidates()}
    if any(os.path.exists(os.path.join(folder, "onnxruntime")) for folder in folders):
        return None
    for entry in sys.path:
        folder = os.path.join(entry or ".", "onnxruntime", "capi")
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            if name.startswith("libonnxruntime.") and "providers" not in name:
                return os.path.join(folder, name)
    return None


# --- calling -------------------------------------------------------------------------------------------------------------------------


def text(value: bytes | None) -> str:
    """A string of the library: names may come from anywhere, so that not every one is UTF-8."""
    return value.decode("utf-8", "replace") if value else ""


class Handle:
    """An object of the library. It is freed when the last one that reads from it is gone, so that views of its arrays stay valid."""

    def __init__(self, pointer: int, free: Any, owner: object = None) -> None:
        self._pointer = pointer
        self._free = free
        self._forks = _forks
        self._owner = owner  # what it is borrowed from

    @property
    def pointer(self) -> int:
        """For a call. ForkedError in a child of the process that made it."""
        if self._forks != _forks:
            raise ForkedError("this object was made before os.fork(): open or measure it again in the child")
        return self._pointer

    def __del__(self) -> None:
        if self._free is not None and self._forks == _forks:  # a forked child leaves files of its parent alone
            self._free(self._pointer)


class Cancel:
    """Stops a measurement from another thread: pass it as `cancel=`, and call it.

    >>> cancel = Cancel()
    >>> cancel()
    >>> cancel.requested
    True
    """

    def __init__(self) -> None:
        self.flag = ctypes.c_int(0)

    def __call__(self) -> None:
        self.flag.value = 1

    @property
    def requested(self) -> bool:
        return self.flag.value != 0


def check(code: int, error: Any, profile: Any = None) -> None:
    """Raises what a code of the library means; 0: nothing."""
    if code:
        message = text(error.message) or text(load().assay_error_text(code))
        raise error_of(text(load().assay_error_name(code)), message, text(error.option), profile)


def interruptible(call: Callable[[], int], cancel: Cancel) -> tuple[int, bool]:
    """What call() returns, and whether Ctrl-C stopped it. In the main thread it runs in a thread beside, because Python handles
    signals in the main thread only, and there between two of its own instructions."""
    if threading.get_ident() != threading.main_thread().ident:
        return call(), False
    result: list[int] = []
    failure: list[BaseException] = []
    done = _thread.allocate_lock()
    done.acquire()

    def body() -> None:
        try:
            result.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            failure.append(error)
        finally:
            done.release()

    def wait() -> None:
        while not (result or failure):
            done.acquire()

    stopped = False
    _thread.start_new_thread(body, ())
    while True:
        try:
            wait()
            break
        except KeyboardInterrupt:
            stopped = True
            cancel()
        except BaseException:  # another signal handler of the program raised: stop, then let it through
            cancel()
            wait()
            raise
    if failure:
        raise failure[0]
    return result[0], stopped


def finish(code: int, error: Any, stopped: bool, profile: Any) -> None:
    """The end of a measurement: raises Interrupted, Cancelled or the error, each with what was measured."""
    if stopped:  # also when the measurement ended in the same moment: a Ctrl-C is never lost
        raise Interrupted(text(error.message) or "interrupted", profile)
    check(code, error, profile)
