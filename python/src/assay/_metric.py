"""One number with its state: what is unknown stays unknown.

A Metric is a float, so that whatever takes numbers takes it. An unavailable one is NaN and says why: arithmetic keeps it unavailable,
comparisons with it are False and warn once, formatting prints "n/a".
"""

from __future__ import annotations

import math
import warnings
from contextvars import ContextVar

from ._errors import UnavailableError, UnavailableWarning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Callable, Literal

    State = Literal["measured", "derived", "estimated", "published", "unavailable"]

STATES: tuple[State, ...] = ("unavailable", "measured", "derived", "estimated", "published")  # by their number in the library

_strict: ContextVar[bool] = ContextVar("assay_strict", default=False)
_warned: set[tuple[str, str]] = set()  # name and reason of what was warned about


class strict:
    """Inside this context a comparison with an unavailable metric raises UnavailableError.

    >>> with strict():
    ...     unavailable("no RAPL on this host") < 5.0
    Traceback (most recent call last):
    ...
    assay._errors.UnavailableError: unavailable: no RAPL on this host
    """

    def __enter__(self) -> None:
        self._token = _strict.set(True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _strict.reset(self._token)


def _number(value: object) -> float | None:
    """A plain number or a metric; None: something else, which the other operand may know."""
    if isinstance(value, (float, int)):
        return float(value)
    kind = type(value)
    if not hasattr(kind, "__len__") and (hasattr(kind, "__index__") or hasattr(kind, "__float__")):  # no array
        return float(value)  # type: ignore[arg-type]
    return None


class Metric(float):
    """A float with `.state`, `.source`, `.note` and `.unit`.

    >>> time = Metric(0.0391, "s", source="clock", name="latency.p50")
    >>> f"{time * 1000:.1f} ms"
    '39.1 ms'
    >>> power = Metric.unavailable("no RAPL on this host", unit="W")
    >>> f"{power:.2f}", (power / time).state, float(power * time)
    ('n/a', 'unavailable', nan)

    A number that is not finite is unavailable. An unavailable metric needs a note that says why.
    """

    __slots__ = ("state", "unit", "source", "note", "name")
    state: State
    unit: str
    source: str
    note: str
    name: str

    def __new__(cls, value: float, unit: str = "", state: State = "measured", source: str = "", note: str = "",
                name: str = "") -> Metric:
        if state not in STATES:
            raise ValueError(f"{state!r} is no state of a metric, but one of {', '.join(STATES)}")
        number = float(value)
        if state != "unavailable" and not math.isfinite(number):
            state, source, note = "unavailable", "none", note or f"the value is not a finite number ({number})"
        if state == "unavailable":
            if not note:
                raise ValueError("an unavailable metric needs a note that says why")
            number = math.nan
        self = super().__new__(cls, number)
        self.state = state
        self.unit = unit
        self.source = source or ("none" if state == "unavailable" else "")
        self.note = note
        self.name = name
        return self

    @classmethod
    def unavailable(cls, note: str, unit: str = "", name: str = "") -> Metric:
        """A metric without a value, and the reason."""
        return cls(math.nan, unit, "unavailable", "none", note, name)

    @property
    def available(self) -> bool:
        """Whether there is a value."""
        return self.state != "unavailable"

    # --- as text -----------------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        what = f"{self.name}: " if self.name else ""
        if not self.available:
            return f"<Metric {what}n/a, {self.note}>"
        unit = f" {self.unit}" if self.unit else ""
        source = f", {self.source}" if self.source else ""
        return f"<Metric {what}{float.__repr__(self)}{unit}, {self.state}{source}>"

    def __str__(self) -> str:
        return float.__repr__(self) if self.available else "n/a"

    def __format__(self, spec: str) -> str:
        if self.available:
            return float.__format__(self, spec)
        fill, align, rest = " ", ">", spec
        if len(spec) > 1 and spec[1] in "<>^=":
            fill, align, rest = spec[0], spec[1], spec[2:]
        elif spec[:1] in ("<", ">", "^", "="):
            align, rest = spec[0], spec[1:]
        float.__format__(0.0, spec)  # refuses what is no format of a float
        rest = rest.lstrip("+- z#").lstrip("0")
        width = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        return format("n/a", f"{fill}{'>' if align == '=' else align}{width}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (float(self), self.unit, self.state, self.source, self.note, self.name)

    def to_dict(self) -> dict[str, Any]:
        """With the keys of the JSON of every command; an unavailable value is None."""
        value = float(self) if self.available else None
        return {"value": value, "unit": self.unit, "state": self.state, "source": self.source, "note": self.note}

    # --- comparison --------------------------------------------------------------------------------------------------------------

    def _compared(self, other: object, compare: Callable[[float, float], bool], otherwise: bool = False) -> bool:
        number = _number(other)
        if number is None:
            return NotImplemented  # type: ignore[no-any-return]
        for metric in (self, other):
            if isinstance(metric, Metric) and not metric.available:
                _report(metric)
                return otherwise
        return compare(float(self), number)

    def __lt__(self, other: float) -> bool:
        return self._compared(other, float.__lt__)

    def __le__(self, other: float) -> bool:
        return self._compared(other, float.__le__)

    def __gt__(self, other: float) -> bool:
        return self._compared(other, float.__gt__)

    def __ge__(self, other: float) -> bool:
        return self._compared(other, float.__ge__)

    def __eq__(self, other: object) -> bool:
        return self._compared(other, float.__eq__)

    def __ne__(self, other: object) -> bool:
        return self._compared(other, float.__ne__, otherwise=True)

    def __hash__(self) -> int:
        return float.__hash__(self) if self.available else object.__hash__(self)

    def __bool__(self) -> bool:
        if self.available:
            return float(self) != 0.0
        _report(self)
        return False

    # --- arithmetic --------------------------------------------------------------------------------------------------------------

    def __int__(self) -> int:
        return int(self._known())

    def __trunc__(self) -> int:
        return math.trunc(self._known())

    def __floor__(self) -> int:
        return math.floor(self._known())

    def __ceil__(self) -> int:
        return math.ceil(self._known())

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return round(self._known())
        return self._derived(round(float(self), digits), self.unit) if self.available else self

    def __neg__(self) -> Metric:
        return self._derived(-float(self), self.unit) if self.available else self

    def __pos__(self) -> Metric:
        return self

    def __abs__(self) -> Metric:
        if not self.available or float(self) >= 0:
            return self
        return self._derived(-float(self), self.unit)

    def __add__(self, other: float) -> Metric:
        return _combine(self, other, "+", float.__add__)

    def __radd__(self, other: float) -> Metric:
        return _combine(other, self, "+", float.__add__)

    def __sub__(self, other: float) -> Metric:
        return _combine(self, other, "-", float.__sub__)

    def __rsub__(self, other: float) -> Metric:
        return _combine(other, self, "-", float.__sub__)

    def __mul__(self, other: float) -> Metric:
        return _combine(self, other, "*", float.__mul__)

    def __rmul__(self, other: float) -> Metric:
        return _combine(other, self, "*", float.__mul__)

    def __truediv__(self, other: float) -> Metric:
        return _combine(self, other, "/", float.__truediv__)

    def __rtruediv__(self, other: float) -> Metric:
        return _combine(other, self, "/", float.__truediv__)

    def __floordiv__(self, other: float) -> Metric:
        return _combine(self, other, "//", float.__floordiv__)

    def __rfloordiv__(self, other: float) -> Metric:
        return _combine(other, self, "//", float.__floordiv__)

    def __mod__(self, other: float) -> Metric:
        return _combine(self, other, "%", float.__mod__)

    def __rmod__(self, other: float) -> Metric:
        return _combine(other, self, "%", float.__mod__)

    def __divmod__(self, other: float) -> tuple[Metric, Metric]:
        return self // other, self % other

    def __rdivmod__(self, other: float) -> tuple[Metric, Metric]:
        return other // self, other % self

    def __pow__(self, other: float, modulus: None = None) -> Metric:
        return _combine(self, other, "**", _power)

    def __rpow__(self, other: float, modulus: None = None) -> Metric:
        return _combine(other, self, "**", _power)

    def _known(self) -> float:
        if not self.available:
            raise UnavailableError(_reason(self))
        return float(self)

    def _derived(self, value: float, unit: str) -> Metric:
        state: State = "estimated" if self.state == "estimated" else "derived"
        return Metric(value, unit, state, "derived", self.note if state == "estimated" else f"of {_term(self)}")


def unavailable(note: str, unit: str = "", name: str = "") -> Metric:
    """The same as Metric.unavailable."""
    return Metric.unavailable(note, unit, name)


def _reason(metric: Metric) -> str:
    return f"{metric.name + ' is ' if metric.name else ''}unavailable: {metric.note}"


def _report(metric: Metric) -> None:
    """What a comparison with an unavailable metric does besides being False."""
    if _strict.get():
        raise UnavailableError(_reason(metric))
    key = (metric.name, metric.note)
    if key not in _warned:
        _warned.add(key)
        warnings.warn(f"compared, and so False: {_reason(metric)}", UnavailableWarning, stacklevel=4)


def _power(left: float, right: float) -> float:
    result = left**right
    return result if isinstance(result, float) else math.nan  # a complex number is no metric


def _term(value: float) -> str:
    if isinstance(value, Metric):
        return value.name or f"{value:.6g}{' ' + value.unit if value.unit else ''}"
    return f"{value:.6g}"


def _unit(left: float, right: float, symbol: str) -> str:
    """The unit of a result; "" where there is none or it is not known. A plain number may be a conversion (seconds to
    milliseconds), so that what it multiplies has lost its unit."""
    a = left.unit if isinstance(left, Metric) else None
    b = right.unit if isinstance(right, Metric) else None
    if symbol in "+-" or symbol == "%":
        if a is None or b is None:
            plain, unit = (left, b) if a is None else (right, a)
            return unit or "" if plain == 0 else ""
        if a and b and a != b:
            verb = {"+": "add", "-": "subtract", "%": "divide"}[symbol]
            raise TypeError(f"cannot {verb} {_term(left)} ({a}) and {_term(right)} ({b}): the units differ")
        return a or b
    if not a or not b:
        return ""
    if symbol in ("/", "//"):
        return "ratio" if a == b else f"{a}/{b}"
    return f"{a}*{b}" if symbol == "*" else ""


def _combine(left: float, right: float, symbol: str, operation: Callable[[float, float], float]) -> Metric:
    a, b = _number(left), _number(right)
    if a is None or b is None:
        return NotImplemented  # type: ignore[no-any-return]
    unit = _unit(left, right, symbol)
    estimated = ""
    for term in (left, right):
        if isinstance(term, Metric):
            if not term.available:
                return Metric.unavailable(f"{term.name}: {term.note}" if term.name else term.note, unit)
            if term.state == "estimated":
                estimated = estimated or term.note
    if b == 0.0 and symbol in ("/", "//", "%") and isinstance(right, Metric):
        return Metric.unavailable(f"{right.name or 'the divisor'} is zero", unit)
    try:
        value = operation(a, b)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        return Metric.unavailable(f"{_term(left)} {symbol} {_term(right)} is not a finite number", unit)
    formula = f"{_term(left)} {symbol} {_term(right)}"
    if estimated:
        return Metric(value, unit, "estimated", "derived", f"{formula}; {estimated}")
    return Metric(value, unit, "derived", "derived", formula)
