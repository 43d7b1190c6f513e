#!/usr/bin/env python3
"""compare.py EXPECTED.tar.xz ACTUAL: whether ACTUAL (made by record.sh) says what EXPECTED says.

JSON: every key that was there is there, with the same value; keys may be added. CSV: the columns that were there come first, in their
order, with the same cells. Text, Markdown and the visible text of pages: every number that was printed is printed. Sentences may be
worded anew, so strings under the keys of PROSE are only compared for being there. Paths that differ from run to run are in
volatile.txt (under an emulator also emulated.txt), differences that were decided on in decided.txt (FILE: NUMBER or JSON path, with
the reason).
"""
import csv, fnmatch, html.parser, json, math, os, re, sys, tarfile

PROSE = {"note", "notes", "reason", "reasons", "why", "knee_why", "title", "advice", "evidence", "summary", "text", "fix", "source",
         "missing", "looks", "interval_reason", "layers_reason", "layers_interval_reason", "layer_timing_reason", "crossing_time_reason", "energy_reason", "disturbances",
         "unknown", "allocations_reason", "ceilings_note", "drift_note", "gain", "unconfirmed", "not_advised", "batches", "message",
         "objection", "description", "what", "lost", "says", "detail", "verdict_why", "asked", "help", "method_note", "words",
         "class_note", "fill", "why_not", "label_note", "conclusion", "sentence", "limit", "explanation", "hint", "remark",
         "bottlenecks", "opportunities", "recommendations", "recommendation", "layers_rule"}


def numbers(text):
    return set(re.findall(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", text))


class Visible(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style")
        self.parts.append(" ")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def visible(text):
    parser = Visible()
    parser.feed(text)
    return re.sub(r"\s+", " ", "".join(parser.parts))


def differs(old, new, path, key, found):
    if isinstance(old, dict):
        if not isinstance(new, dict):
            found.append((path, "no object any more"))
            return
        for name, item in old.items():
            if name not in new:
                found.append((f"{path}.{name}", "gone"))
            else:
                differs(item, new[name], f"{path}.{name}", key if key in PROSE else name, found)
    elif isinstance(old, list):
        if not isinstance(new, list) or (len(old) != len(new) and key not in PROSE):
            found.append((path, f"{len(old)} items, now {len(new) if isinstance(new, list) else new!r}"))
            return
        if key == "findings":  # the best advice comes first now: the same findings, in another order
            old, new = (sorted(side, key=lambda finding: finding["id"]) for side in (old, new))
        for index, (a, b) in enumerate(zip(old, new)):
            differs(a, b, f"{path}[{index}]", key, found)
    elif isinstance(old, str) and isinstance(new, str) and key in PROSE:
        pass
    elif old != new:
        found.append((path, f"{old!r}, now {new!r}"))


def compare_json(old, new):
    found = []
    differs(json.loads(old), json.loads(new), "", "", found)
    return found


def same_number(old, new):
    """Whether two cells are one number but for the last binary digits, which the order of a calculation decides."""
    try:
        return math.isclose(float(old), float(new), rel_tol=1e-14)
    except ValueError:
        return False


def compare_csv(old, new):
    old, new = (list(csv.reader(text.splitlines())) for text in (old, new))
    found = []
    if not old:
        return found
    width = len(old[0])
    if not new or new[0][:width] != old[0]:
        return [("columns", f"{old[0]}, now {new[0] if new else None}")]
    if len(old) != len(new):
        return [("rows", f"{len(old)}, now {len(new)}")]
    for row, (a, b) in enumerate(zip(old[1:], new[1:]), 1):
        for name, x, y in zip(old[0], a, b):
            if x != y and not same_number(x, y) and not (name in PROSE and bool(x) == bool(y)):
                found.append((f"row {row} {a[old[0].index('metric')] if 'metric' in old[0] else ''} {name}", f"{x!r}, now {y!r}"))
    return found


def value_of(number):
    """The value, and how far from it what was printed may be."""
    plain = number.replace(",", "")
    places = len(plain.partition(".")[2]) if "e" not in plain else 15
    return float(plain), 0.5 * 10 ** -places


def compare_text(old, new):
    left, values = [], [value_of(number) for number in numbers(new)]
    for number in sorted(numbers(old) - numbers(new)):  # a number may be printed with more digits
        value, unit = value_of(number)
        if not any(other == value or (own < unit and abs(other - value) <= (unit + own) * 1.000001) for other, own in values):
            left.append((number, "is not printed any more"))
    return left


def compare_exact(old, new):
    return [] if old == new else [("text", "differs")]


def kind(name):
    if name.endswith(".json"):
        return compare_json
    if name.endswith(".csv"):
        return compare_csv
    if name.endswith((".dot",)):
        return compare_exact
    return compare_text


def read_expected(path):
    with tarfile.open(path) as archive:
        return {member.name.removeprefix("./"): archive.extractfile(member).read().decode(errors="replace")
                for member in archive if member.isfile()}


def read_actual(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        text = file.read()
    return visible(text) if name.endswith(".html") else text


def patterns(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    rules = []
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            line = line.split("#")[0].strip()
            if line:
                file, _, rest = line.partition(": ")
                rules.append((file, rest.strip()))
    return rules


def is_among(rules, name, path):
    return any(fnmatch.fnmatchcase(name, file) and fnmatch.fnmatchcase(path, rest.replace("[", "[[]")) for file, rest in rules)


def main():
    expected, actual = sys.argv[1:3]
    volatile, decided = patterns("volatile.txt"), patterns("decided.txt")
    if os.environ.get("ASSAY_TEST_EMULATOR"):
        volatile += patterns("emulated.txt")
    bad = 0
    for name, old in sorted(read_expected(expected).items()):
        if not os.path.exists(os.path.join(actual, name)):
            print(f"{name}: not there any more")
            bad += 1
            continue
        new = read_actual(actual, name)
        if not old.strip():
            continue
        if not new.strip():
            found = [("output", "is empty")]
        else:
            found = kind(name)(old, new)
        found = [(path, what) for path, what in found
                 if not is_among(decided, name, path) and (what == "gone" or not is_among(volatile, name, path))]
        for path, what in found[:8]:
            print(f"{name}: {path}: {what}"[:300])
        if len(found) > 8:
            print(f"{name}: and {len(found) - 8} more")
        bad += len(found) > 0
    print(f"{bad} files differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
