"""Keyword arguments as option structures.

A keyword is the name of a member of the C structure, in whichever group it lies: batch=8 is workload.batch. So the reference of the
headers is that of the keywords; the TypedDicts below are for type checkers, and a test holds them against the structures.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Mapping, Sequence, TypedDict

    from ._library import Cancel
    from ._progress import Progress

    Path = Union[str, os.PathLike[str]]
    Pairs = Union[Mapping[str, Any], Sequence[str]]  # {"input": "1x3x224x224"} or ["input=1x3x224x224"]

    class InputOptions(TypedDict, total=False):
        dims: Pairs
        shapes: Pairs
        inputs: Pairs
        seed: int
        generate: int
        prompt: int

    class WorkloadOptions(InputOptions, total=False):
        """What is run: struct assay_workload_options (run.h)."""

        batch: int
        sequence: int

    class MeasuringOptions(InputOptions, total=False):
        """How a model is measured, without what a sweep may vary."""

        states: Pairs
        seconds_per_inference: float
        engine: str
        device: str
        library: Path
        cpus: str
        streams: int
        spinning_off: bool
        launches: int
        warmup: int
        iterations: int
        time_s: float
        timeout_s: float
        launch_limit_s: float
        layers: str
        power: bool
        memory: bool
        counters: bool
        interval_s: float
        idle_s: float
        output: Path
        hash: bool
        ceilings: bool
        progress: Union[bool, Callable[[Progress], object], None]
        remark: Callable[[str], object]
        cancel: Cancel

    class RunOptions(MeasuringOptions, total=False):
        """How a model is measured: struct assay_run_options (run.h)."""

        batch: int
        sequence: int
        optimization: str
        threads: int

    class GoalOptions(MeasuringOptions, total=False):
        """How a model is measured, and what is best: struct assay_goal_options (sweep.h)."""

        goal: str
        slo: str
        memory_budget: str
        allow_drift: bool

LAYERS = ("off", "auto", "markers", "isolated", "engine")  # by their number in the library
NOT_KEYWORDS = {"size", "model", "models", "progress", "remark", "context", "interrupt", "callbacks", "hint"}
_INTEGERS = {ctypes.c_int: 32, ctypes.c_int64: 64, ctypes.c_uint64: 64, ctypes.c_size_t: 64}


def keywords(kind: Any) -> dict[str, tuple[str, ...]]:
    """Keyword: path of the member that it sets, for every keyword of a structure."""
    found: dict[str, tuple[str, ...]] = {}
    names = {name for name, _ in kind._fields_}
    for name, member in kind._fields_:
        if name in NOT_KEYWORDS or name.endswith("_given") or (name.endswith("_count") and _list_of(name, names)):
            continue
        if isinstance(member, type) and issubclass(member, ctypes.Structure):
            found.update({key: (name, *path) for key, path in keywords(member).items()})
        else:
            found[name] = (name,)
    return found


def _list_of(count: str, names: set[str]) -> str:
    """The member that a count counts: dim_count, dims."""
    stem = count[: -len("_count")]
    return next((name for name in (stem + "s", stem) if name in names), "")


def _integer(keyword: str, value: Any, kind: Any) -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{keyword} takes an integer, not {type(value).__name__}")
    number = int(value.__index__())
    if kind(number).value != number:
        raise OverflowError(f"{keyword}={number} does not fit {'an unsigned' if kind(-1).value > 0 else 'a'} "
                            f"{_INTEGERS[kind]}-bit integer")
    return number


def _words(keyword: str, value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (list, tuple, range)):  # devices=["cpu", "gpu"], batch=[1, 2, 4]
        return ",".join(_words(keyword, item) for item in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"{keyword} takes a string, not {type(value).__name__}")


def encode(keyword: str, value: Any) -> bytes:
    """A string for the library."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{keyword} takes a string or a path, not {type(value).__name__}")
    return _bytes(keyword, os.fspath(value))


def _bytes(keyword: str, words: Any) -> bytes:
    made = os.fsencode(words)
    if b"\0" in made:
        raise ValueError(f"{keyword} contains a null character")
    return made


def _dimensions(value: Any) -> str:
    return "x".join(str(part) for part in value) if isinstance(value, (list, tuple)) else str(value)


def _list(keyword: str, value: Any) -> list[bytes]:
    if isinstance(value, dict):
        value = [f"{name}={_dimensions(of)}" for name, of in value.items()]
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise TypeError(f"{keyword} takes a list of strings or a dict, not {type(value).__name__}")
    return [encode(keyword, item) for item in value]


def strings(values: list[bytes]) -> Any:
    """A char ** that keeps its strings alive."""
    return (ctypes.c_char_p * len(values))(*values)


def _set(into: Any, member: str, keyword: str, value: Any) -> None:
    fields = dict(into._fields_)
    kind = fields[member]
    if keyword == "layers":
        if value not in LAYERS:
            raise ValueError(f"layers={value!r} is none of {', '.join(LAYERS)}")
        value = LAYERS.index(value)
    elif kind is ctypes.c_char_p:
        value = _bytes(keyword, _words(keyword, value))
    elif kind is ctypes.c_bool:
        if not isinstance(value, bool):
            raise TypeError(f"{keyword} takes True or False, not {type(value).__name__}")
    elif kind is ctypes.c_double:
        if isinstance(value, (str, bytes, bool)) or not hasattr(type(value), "__float__"):
            raise TypeError(f"{keyword} takes a number, not {type(value).__name__}")
        value = float(value)
    elif kind in _INTEGERS:
        value = _integer(keyword, value, kind)
    else:
        items = _list(keyword, value)
        count = next(name for name in fields if name.endswith("_count") and _list_of(name, set(fields)) == member)
        setattr(into, count, len(items))
        value = strings(items)
    setattr(into, member, ctypes.cast(value, kind) if isinstance(value, ctypes.Array) else value)
    given = f"{member}_given" if f"{member}_given" in fields else f"{member.removesuffix('_s')}_given"
    if given in fields:
        setattr(into, given, True)


def fill(structures: list[Any], given: dict[str, Any], call: str) -> None:
    """Sets the members that the keywords name, in the first structure that has them; None is the default. TypeError for a keyword
    that none has."""
    known = [(structure, keywords(type(structure))) for structure in structures]
    for structure in structures:
        structure.size = ctypes.sizeof(structure)
    for keyword, value in given.items():
        for structure, names in known:
            if keyword in names:
                break
        else:
            raise TypeError(_unknown(keyword, call, [name for _, names in known for name in names]))
        if value is None:
            continue
        *groups, member = names[keyword]
        into = structure
        for group in groups:
            into = getattr(into, group)
        _set(into, member, keyword, value)


def _unknown(keyword: str, call: str, names: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(keyword, names, 1)
    return f"{call}() has no keyword argument {keyword!r}{f'; did you mean {near[0]!r}?' if near else ''}"
