"""`mx`: mlx.core with a `compile` that knows static_argnums, which MLX's own does not."""

from __future__ import annotations

import functools
import types
from typing import Any, Callable

import mlx.core as core


def compile(function: Callable[..., Any] | None = None, inputs: Any = None, outputs: Any = None, shapeless: bool = False, *,
            static_argnums: int | tuple[int, ...] = ()) -> Callable[..., Any]:
    """mlx.core.compile, also as a decorator with arguments. Arguments at `static_argnums` are constants of the compiled function: one
    is compiled for each of their values, which must be hashable."""
    if function is None:
        return functools.partial(compile, inputs=inputs, outputs=outputs, shapeless=shapeless, static_argnums=static_argnums)
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    if not static:
        return core.compile(function, inputs, outputs, shapeless)
    import inspect

    signature = inspect.signature(function)
    names = list(signature.parameters)
    for number in static:
        if not -len(names) <= number < len(names):
            raise ValueError(f"static_argnums={number}: the function has {len(names)} arguments")
    chosen = [names[number] for number in static]
    compiled: dict[tuple[Any, ...], Callable[..., Any]] = {}
    original = function

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        constants = {name: bound.arguments.pop(name) for name in chosen}
        dynamic = dict(bound.arguments)
        key = tuple(constants.values())
        if key not in compiled:
            compiled[key] = core.compile(lambda **given: original(**given, **constants), inputs, outputs, shapeless)
        return compiled[key](**dynamic)

    return call


class _Core(types.ModuleType):
    """mlx.core, in which `compile` is ours."""

    compile = staticmethod(compile)

    def __getattr__(self, name: str) -> Any:
        return getattr(core, name)

    def __dir__(self) -> list[str]:
        return dir(core)


mx: Any = _Core("mx", core.__doc__)
