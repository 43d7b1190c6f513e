"""Measuring from asyncio: in a thread, with cancellation."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

from ._library import Cancel

T = TypeVar("T")


async def to_thread(call: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Awaits a call that measures while the event loop goes on: `profile = await assay.to_thread(assay.run, "cfc")`. If the task is
    cancelled, the worker is stopped first."""
    import asyncio
    import functools

    cancel: Cancel = options.setdefault("cancel", Cancel())
    options.setdefault("progress", False)
    future = asyncio.get_running_loop().run_in_executor(None, functools.partial(call, *arguments, **options))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        cancel()
        await asyncio.wait([future])
        future.exception()  # that it was stopped is no news
        raise
