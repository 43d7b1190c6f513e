"""What can go wrong. Every error is an AssayError; its code has the name that the C library gives it (include/assay/error.h)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._profile import Profile


class AssayError(Exception):
    """A call failed. `code` is the name of the error ("ENOTFOUND", …), `option` the keyword argument that was refused or would have
    helped ("" if none), `profile` what was measured before the failure, if anything was."""

    def __init__(self, message: str, code: str = "", option: str = "", profile: Profile | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.option = option
        self.profile = profile


class InvalidArgument(AssayError, ValueError):
    """An argument was refused (EINVAL)."""


class TimedOut(AssayError, TimeoutError):
    """Something did not answer in time (ETIMEOUT)."""


class LibraryError(AssayError, ImportError):
    """libassay was not found, or is not the one that this package was written for."""


class ForkedError(AssayError, RuntimeError):
    """An object from before os.fork() was used in the child: open it again there."""


class ClosedError(AssayError, ValueError):
    """A profile was read after close()."""


class Cancelled(AssayError):
    """A measurement was stopped by its `Cancel`. `profile` has what was measured."""


class Interrupted(KeyboardInterrupt):
    """A measurement was stopped by Ctrl-C. `profile` has what was measured until then (None: nothing)."""

    def __init__(self, message: str, profile: Profile | None = None) -> None:
        super().__init__(message)
        self.profile = profile


class UnavailableError(ArithmeticError, ValueError):
    """An unavailable metric was compared inside `assay.strict()`, or made into an integer."""


class UnavailableWarning(UserWarning):
    """An unavailable metric was compared; the result is False."""


def error_of(code: str, message: str, option: str = "", profile: Profile | None = None) -> AssayError:
    """The exception for an error of the library."""
    kinds: dict[str, type[AssayError]] = {"EINVAL": InvalidArgument, "ETIMEOUT": TimedOut, "EINTERRUPTED": Cancelled}
    return kinds.get(code, AssayError)(message, code, option, profile)
