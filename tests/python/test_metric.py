#!/usr/bin/env python3
"""assay.Metric: an unavailable number stays unavailable whatever is done with it, an available one is the float it is."""

import copy
import harness
import itertools
import math
import operator
import pickle
import random
import threading
import unittest
import warnings

if not harness.reason_to_skip():
    import assay
    from assay import Metric, strict, unavailable
    from assay import _metric

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
ORDER = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq]
STATES = ["measured", "derived", "estimated", "published"]


def numbers(seed, count):
    """Numbers of all sizes and both signs, zero and one among them."""
    random_ = random.Random(seed)
    yield from (0.0, 1.0, -1.0, 0.5)
    for _ in range(count):
        yield random_.choice((-1, 1)) * 10 ** random_.uniform(-12, 12)


class Available(unittest.TestCase):
    def test_arithmetic_is_that_of_floats(self):
        for a, b in itertools.product(numbers(1, 30), numbers(2, 30)):
            for operation in BINARY:
                for left, right in ((Metric(a), b), (a, Metric(b)), (Metric(a), Metric(b))):
                    try:
                        expected = operation(a, b)
                    except ZeroDivisionError:
                        continue  # below
                    except OverflowError:
                        expected = math.inf
                    got = operation(left, right)
                    self.assertIs(type(got), Metric)
                    if isinstance(expected, float) and math.isfinite(expected):
                        self.assertEqual(float(got), expected, (operation, a, b))
                        self.assertEqual(got.state, "derived")
                    else:
                        self.assertFalse(got.available, (operation, a, b))

    def test_comparison_is_that_of_floats(self):
        for a, b in itertools.product(numbers(3, 20), numbers(4, 20)):
            for operation in (*ORDER, operator.ne):
                self.assertEqual(operation(Metric(a), b), operation(a, b))
                self.assertEqual(operation(a, Metric(b)), operation(a, b))
                self.assertEqual(operation(Metric(a), Metric(a)), operation(a, a))

    def test_format_is_that_of_floats(self):
        for a in numbers(5, 50):
            for spec in ("", ".2f", "10.3e", "<12.4g", "+.1f", ",.0f", "08.2f", "%"):
                self.assertEqual(format(Metric(a), spec), format(a, spec))
            self.assertEqual(str(Metric(a)), str(a))

    def test_it_is_a_float(self):
        metric = Metric(2.5, "s", "measured", "clock", "", "latency.p50")
        self.assertIsInstance(metric, float)
        self.assertEqual(math.sqrt(metric), math.sqrt(2.5))
        self.assertEqual((int(metric), round(metric), math.floor(metric), math.ceil(metric)), (2, 2, 2, 3))
        self.assertEqual(hash(metric), hash(2.5))
        self.assertEqual({2.5: "x"}[metric], "x")
        self.assertEqual(sorted([Metric(3), Metric(1), Metric(2)]), [1, 2, 3])
        self.assertEqual((metric.unit, metric.state, metric.source, metric.name), ("s", "measured", "clock", "latency.p50"))
        self.assertTrue(metric and not Metric(0.0))

    def test_units(self):
        time, size = Metric(2, "s"), Metric(8, "B")
        self.assertEqual((time + time).unit, "s")
        self.assertEqual(sum([time, time, time]).unit, "s")
        self.assertEqual((size / time).unit, "B/s")
        self.assertEqual((time / time).unit, "ratio")
        self.assertEqual((-time).unit, "s")
        self.assertEqual((time * 1000).unit, "")  # perhaps milliseconds now
        with self.assertRaises(TypeError):
            time + size

    def test_states(self):
        for state in STATES:
            self.assertEqual((Metric(1, state=state, note="why") * 2).state, "estimated" if state == "estimated" else "derived")
            self.assertEqual((Metric(1, state=state, note="why") + Metric(1)).state, "estimated" if state == "estimated" else "derived")
        self.assertIn("median error", (Metric(1, state="estimated", note="median error 25 %") / Metric(2)).note)
        with self.assertRaises(ValueError):
            Metric(1, state="guessed")

    def test_division_by_zero(self):
        with self.assertRaises(ZeroDivisionError):
            Metric(1) / 0
        quotient = Metric(1) / Metric(0, name="elapsed")
        self.assertEqual((quotient.state, quotient.note), ("unavailable", "elapsed is zero"))

    def test_other_types(self):
        for other in ("1", None, [1], object()):
            with self.assertRaises(TypeError):
                Metric(1) + other
            with self.assertRaises(TypeError):
                Metric(1) < other
            self.assertFalse(Metric(1) == other)
            self.assertTrue(Metric(1) != other)


class Unavailable(unittest.TestCase):
    def setUp(self):
        _metric._warned.clear()
        warnings.simplefilter("ignore", assay.UnavailableWarning)
        self.addCleanup(warnings.resetwarnings)

    def test_any_expression_stays_unavailable(self):
        """Random expression trees in which one leaf is unavailable."""
        random_ = random.Random(6)
        for _ in range(2000):
            value = unavailable("no sensor")
            for _ in range(random_.randint(1, 6)):
                other = random_.choice([random_.uniform(-9, 9), random_.randint(-9, 9), Metric(random_.uniform(-9, 9))])
                operation = random_.choice(BINARY)
                value = operation(value, other) if random_.random() < 0.5 else operation(other, value)
                value = random_.choice([operator.neg, operator.pos, abs, lambda x: round(x, 2), copy.copy])(value)
            self.assertEqual(value.state, "unavailable")
            self.assertTrue(math.isnan(value))
            self.assertIn("no sensor", value.note)
            self.assertEqual(f"{value:.2f}", "n/a")

    def test_any_comparison_is_false(self):
        nothing = unavailable("no sensor")
        for other in (*numbers(7, 20), math.inf, nothing, Metric(1), unavailable("another")):
            for operation in ORDER:
                self.assertIs(operation(nothing, other), False)
                self.assertIs(operation(other, nothing), False)
            self.assertIs(nothing != other, True)
        self.assertFalse(nothing)

    def test_not_finite_is_unavailable(self):
        for value in (math.nan, math.inf, -math.inf):
            self.assertEqual(Metric(value).state, "unavailable")
            self.assertEqual((Metric(1) + value).state, "unavailable")
        self.assertEqual((Metric(1e308) * 10).state, "unavailable")

    def test_formats(self):
        nothing = unavailable("no sensor")
        for spec, expected in {"": "n/a", ".2f": "n/a", "8.2f": "     n/a", "<6": "n/a   ", "^7.1f": "  n/a  ", "*>5": "**n/a",
                               "+,.2f": "n/a", "06.1f": "   n/a", "d>5.1f": "ddn/a"}.items():
            self.assertEqual(format(nothing, spec), expected, spec)
        with self.assertRaises(ValueError):
            format(nothing, "s!")
        self.assertEqual((str(nothing), f"{nothing}"), ("n/a", "n/a"))
        self.assertTrue(math.isnan(float(nothing)))

    def test_no_integer(self):
        for make in (int, round, math.floor, math.ceil, math.trunc):
            with self.assertRaises(assay.UnavailableError) as caught:
                make(unavailable("no sensor"))
            self.assertIn("no sensor", str(caught.exception))

    def test_needs_a_reason(self):
        with self.assertRaises(ValueError):
            Metric(math.nan, state="unavailable")

    def test_warns_once_with_the_reason(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                self.assertFalse(unavailable("no RAPL", name="power") < 3)
            self.assertFalse(unavailable("no meter", name="power") < 3)
        self.assertEqual([warning.category for warning in caught], [assay.UnavailableWarning] * 2)
        self.assertIn("no RAPL", str(caught[0].message))
        self.assertEqual(caught[0].filename, __file__)

    def test_strict(self):
        nothing = unavailable("no RAPL")
        with strict():
            for operation in (*ORDER, operator.ne):
                with self.assertRaises(assay.UnavailableError):
                    operation(nothing, 1)
            with self.assertRaises(assay.UnavailableError):
                bool(nothing)
            self.assertEqual((nothing + 1).state, "unavailable")  # arithmetic is no question
            with strict():
                pass
            with self.assertRaises(assay.UnavailableError):
                nothing > 0
            seen = []
            thread = threading.Thread(target=lambda: seen.append(nothing > 0))  # of this thread alone
            thread.start()
            thread.join()
            self.assertEqual(seen, [False])
        self.assertFalse(nothing > 0)

    def test_copies(self):
        for metric in (unavailable("no RAPL", "W", "power"), Metric(1.5, "s", "estimated", "model", "of a model", "latency.p50")):
            for same in (copy.copy(metric), copy.deepcopy(metric), *(pickle.loads(pickle.dumps(metric, p)) for p in range(2, 6))):
                self.assertEqual([getattr(same, name) for name in ("state", "unit", "source", "note", "name")],
                                 [getattr(metric, name) for name in ("state", "unit", "source", "note", "name")])
                self.assertEqual(math.isnan(same), math.isnan(metric))

    def test_dict(self):
        self.assertEqual(unavailable("no RAPL", "W").to_dict(),
                         {"value": None, "unit": "W", "state": "unavailable", "source": "none", "note": "no RAPL"})

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        array = numpy.asarray([unavailable("no RAPL"), Metric(2.0)])
        self.assertEqual(array.dtype, numpy.float64)
        self.assertTrue(numpy.isnan(array[0]) and array[1] == 2)
        self.assertTrue(numpy.isnan(unavailable("no RAPL") * numpy.ones(3)).all())
        self.assertEqual((numpy.float64(2) * Metric(3)), 6)


if __name__ == "__main__":
    harness.main()
