"""assay shows where a neural network's time, memory and energy go, and what to change.

    import assay

    profile = assay.run("model.onnx", batch=8)
    print(profile["latency.p50"], profile["latency.p50"].unit)
    profile.save_report("model.html")

Every number is a Metric: a float that knows its unit, its state (measured, derived, estimated, published, unavailable), its source
and, if it is unavailable, why. doc/python.md is the guide.
"""

from ._errors import (AssayError, Cancelled, ClosedError, ForkedError, Interrupted, InvalidArgument, LibraryError, TimedOut,
                      UnavailableError, UnavailableWarning)
from ._metric import Metric, strict, unavailable
from ._version import VERSION as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._async import to_thread
    from ._calls import (Check, CheckItem, Device, Inspection, Prediction, advise, bench, check, compare, devices, inspect, open,
                         predict, run, sweep, tune)
    from ._explain import Explanation, explain
    from ._library import Cancel, library_path
    from ._measure import Measurement, measure
    from ._profile import (Ceiling, Environment, Finding, Input, Launch, Layer, Layers, Metrics, Model, Profile, Series, Target, Trial)
    from ._progress import Progress

# The rest is imported when it is first asked for, so that `import assay` is fast.
_HOMES = {
    "_async": "to_thread",
    "_calls": "Check CheckItem Device Inspection Prediction advise bench check compare devices inspect open predict run sweep tune",
    "_explain": "Explanation explain",
    "_library": "Cancel library_path",
    "_measure": "Measurement measure",
    "_profile": "Ceiling Environment Finding Input Launch Layer Layers Metrics Model Profile Series Target Trial",
    "_progress": "Progress",
}


if not TYPE_CHECKING:  # for a type checker a name that does not exist is an error

    def __getattr__(name):
        for home, names in _HOMES.items():
            if name in names.split():
                globals()[name] = getattr(__import__(f"{__name__}.{home}", fromlist=[name]), name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "AssayError", "Cancel", "Cancelled", "Ceiling", "Check", "CheckItem", "ClosedError", "Device", "Environment", "Explanation",
    "Finding", "ForkedError", "Input", "Inspection", "Interrupted", "InvalidArgument", "Launch", "Layer", "Layers", "LibraryError",
    "Measurement", "Metric", "Metrics", "Model", "Prediction", "Profile", "Progress", "Series", "Target", "TimedOut", "Trial",
    "UnavailableError", "UnavailableWarning", "__version__", "advise", "bench", "check", "compare", "devices", "explain", "inspect",
    "library_path", "measure", "open", "predict", "run", "strict", "sweep", "to_thread", "tune", "unavailable",
]
