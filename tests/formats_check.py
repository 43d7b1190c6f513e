#!/usr/bin/env python3
"""formats_check.py - a profile whose every text is hostile, and strict readers for each format of a report.

    formats_check.py make PROFILE        rewrites the texts of a kept profile
    formats_check.py layers PROFILE N    gives its first trial N layers
    formats_check.py read FILE …         each by what its name ends in: txt, json, nodes.json (Model Explorer), csv, md, xml, svg

Status 1 with one line per fault. Pages are page_check.py's.
"""
import csv
import html
import json
import re
import sqlite3
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree

HOSTILE = [
    b"<script>alert(1)</script>", b"</script><img src=x onerror=alert(1)>", b"<!-- --!> <b>", b"]]><x/>", b"\" onload=\"x", b"' onload='x",
    b"\x1b[31mred\x1b]0;title\x07", b"\xc2\x9b31m\xc2\x85", b"=cmd|' /C calc'!A0", b"+1+1", b"-1+1", b"@SUM(A1)", b"\t=1", b"\r=1",
    "\uff1d1+1".encode(), b"a|b|c\n| --- |\n# head\n```\ncode", b"`code` **bold** ~~gone~~", b"[link](javascript:alert(1)) ![i](http://x.example/y)",
    b"https://evil.example/ www.evil.example", b"<https://evil.example>", "\u202egnp.exe\u2066\u200f\u061c".encode(), "\U0001f600\U0001f468\u200d\U0001f469 \u4e2d\u6587".encode(),
    bytes(range(1, 32)) + b"\x7f", b"\xff\xfe\xc3(\xed\xa0\x80\xf8", "\u2028\u2029\ufeff\ufffe\uffff".encode(), b"&amp; &#60;b&#62; %s%n%d",
    b"x" * 10000, "\u0627\u0644".encode() * 2500, b"${x} $(id) `id`", b"</style></svg></title></textarea>", b"a,b\"c;d", b"- list\n1. one\n> quote",
    b"@somebody/conv @@x mail@example.org", b"fixes #123 owner/repo#45 GH-6 !7 %v1 #1#2", b"`@somebody` \\#9 <!-- -->@a &#64;b",
]
# what the reader looks up, or a machine wrote
KEYS = {"state", "encoding", "time_encoding", "value_encoding", "kind", "role", "quantity", "unit", "key", "stability", "layers_method", "method",
        "command", "phase", "severity", "bound", "device_class", "optimization", "layers_asked", "axis", "goal", "slo_metric", "gap", "subject"}
NAMES = {"metrics", "series_info", "ceilings", "counter_names", "allocation_phases"}  # names that are keys
# drive a terminal, or turn the reading order of what stands around them
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
faults = []


def fault(text):
    faults.append(text[:300])


def make(path):
    db = sqlite3.connect(path)
    db.text_factory = bytes
    tables = [t.decode() for t, in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    number = 0
    db.execute("INSERT OR IGNORE INTO findings(profile, position, id, severity, title, advice, state) VALUES (1, 7, 'x', 'warning', 'x', 'x', 'open')")
    db.execute("INSERT OR IGNORE INTO evidence(profile, finding, position, text) VALUES (1, 7, 0, 'x')")
    for table in tables:
        for _, column, kind, _, _, _ in db.execute(f"PRAGMA table_info({table})").fetchall():
            column, kind = column.decode(), kind.decode()
            if kind != "TEXT" or column in KEYS or (table in NAMES and column == "name"):
                continue
            for row, in db.execute(f"SELECT rowid FROM {table}").fetchall():
                db.execute(f"UPDATE {table} SET {column}=CAST(? AS TEXT) WHERE rowid=?", (HOSTILE[number % len(HOSTILE)], row))
                number += 1
    for i, text in enumerate(HOSTILE):  # every string as a name of a metric, a layer, its origin and a remark
        db.execute("INSERT INTO metrics VALUES (1, 0, ?, CAST(? AS TEXT), 1.5, 's', 'measured', CAST(? AS TEXT), CAST(? AS TEXT))", (900 + i, text, text, text))
        db.execute("INSERT INTO layers(trial, position, layer, name, op, provider, time_ns, share, state, method, note) "
                   "VALUES (1, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), 1000, 0.01, 'measured', 'markers', CAST(? AS TEXT))",
                   (900 + i, 900 + i, text, text, text, text))
        db.execute("INSERT INTO layer_origins VALUES (1, ?, 0, CAST(? AS TEXT))", (900 + i, text))
        db.execute("INSERT INTO notes(profile, trial, kind, position, text) VALUES (1, 1, 'note', ?, CAST(? AS TEXT))", (900 + i, text))
    db.commit()
    if number < 40:
        fault(f"only {number} texts were replaced")


def add_layers(path, count):
    db = sqlite3.connect(path)
    db.execute("DELETE FROM layers")
    db.execute("DELETE FROM layer_origins")
    db.executemany("INSERT INTO layers(trial, position, layer, name, op, provider, time_ns, share, flops, bytes, state, method) "
                   "VALUES (1, ?, ?, ?, 'Conv', 'CPU', 10, 1e-6, 1000, 100, 'measured', 'markers')",
                   ((i, i, f"/block.{i // 100}/conv_{i}") for i in range(count)))
    db.executemany("INSERT INTO layer_origins VALUES (1, ?, 0, ?)", ((i, f"/block.{i // 100}/conv_{i}") for i in range(count)))
    db.commit()


def read(path):
    data = open(path, "rb").read()
    text = data.decode("utf-8")  # strict
    # a drawing has no <bdi>: there a name stands between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE
    own = re.sub("\u2068([^\u2066-\u2069]*)\u2069", r"\1", text) if path.endswith(".svg") else text
    found = CONTROL.search(own)
    if found:
        fault(f"{path}: a raw control character {found.group()!r} at: {text[max(0, found.start() - 60):found.start() + 20]!r}")
    return text


def columns_of(c):
    if unicodedata.combining(c) or c in "\u200d\ufeff":
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" and c not in "\ufffe\uffff" else 1  # those two are no characters


def width(line):
    return sum(columns_of(c) for c in line)


def check_text(path):
    for line in read(path).splitlines():
        if width(line) > 80:
            fault(f"{path}: {width(line)} columns: {line!r}")


def no_constant(word):
    raise ValueError(word)


def no_twins(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member twice")
    return dict(pairs)


def check_json(path):
    return json.loads(read(path), parse_constant=no_constant, object_pairs_hook=no_twins)


def check_csv(path):
    read(path)
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, strict=True))
    for row in rows[1:]:
        if len(row) != len(rows[0]):
            fault(f"{path}: {len(row)} cells below a header of {len(rows[0])}: {row}")
        for cell in row:
            if cell[:1] and cell[0] in "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20" and not re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", cell):
                fault(f"{path}: a formula: {cell!r}")
    if len(rows) < 2:
        fault(f"{path}: no rows")


# What a forge turns into a mention or a link, wherever it stands in a piece of text that is not code.
REFERENCE = re.compile(r"@\w|[#!]\d|%\w|\bGH-\d", re.ASCII | re.IGNORECASE)
TOKEN = re.compile(r"\\([!-/:-@\[-`{-~])|`[@#!%-]`")  # an escaped character; a sign that is code


def check_markdown(path):
    cells = 0
    fenced = False
    for line in read(path).splitlines():
        if re.fullmatch("```[a-z]*", line):
            fenced = not fenced
            continue
        if line.startswith("    ") or fenced:
            continue  # code
        # A forge reads what Markdown has become: escapes and entities are gone by then, and a code span is a piece of its own.
        if line.startswith(("<summary>", "<details><summary>")):
            shown = bare = re.sub("<code>[@#!%-]</code>", "\n", line)
        else:
            shown = TOKEN.sub(lambda m: m[1] or "\n", line)
            bare = TOKEN.sub("", line)
        if REFERENCE.search(html.unescape(shown)):
            fault(f"{path}: a mention or a reference: {line!r}")
        if line in ("<details>", "</details>") or re.fullmatch("(<details>)?<summary>[^<>]*</summary>", bare):
            continue  # ours; what stands in them is escaped as HTML
        if re.search(r"<[A-Za-z/!?]", bare) or "`" in bare or re.search(r"[\[\]]", bare):
            fault(f"{path}: markup: {line!r}")
        if "://" in bare or "www." in bare:
            fault(f"{path}: a link: {line!r}")
        if not bare.startswith("|"):
            cells = 0
        elif cells and bare.count("|") != cells:
            fault(f"{path}: {bare.count('|')} bars below {cells}: {line!r}")
        else:
            cells = bare.count("|")


def check_xml(path, allowed=None):
    text = read(path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        fault(f"{path}: a document type")
    for element in ElementTree.fromstring(text.encode()).iter():
        tag = element.tag.rsplit("}", 1)[-1]
        if allowed and tag not in allowed:
            fault(f"{path}: <{tag}>")
        for name, value in element.attrib.items():
            name = name.rsplit("}", 1)[-1]
            if allowed and (name.startswith("on") or name in ("href", "src")) and not value.startswith("#"):
                fault(f"{path}: {name}={value!r}")


def check_svg(path):
    check_xml(path, {"svg", "g", "path", "rect", "line", "circle", "text", "tspan", "title", "desc", "style", "polyline", "polygon", "defs", "clipPath", "use",
                     "pattern", "marker", "a"})


def check_junit(path):
    check_xml(path, {"testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out", "system-err", "properties", "property"})


def check_model_explorer(path):
    """The members of the viewer's GraphNodeData, NodeDataResult and GradientItem."""
    data = check_json(path)
    if set(data) != {"name", "results", "gradient"} or not data["results"]:
        fault(f"{path}: members {sorted(data)}")
    for node, result in data["results"].items():
        if set(result) != {"value"} or not isinstance(result["value"], (int, float)):
            fault(f"{path}: {node!r}: {result!r}")
    stops = [g["stop"] for g in data["gradient"]]
    if stops != sorted(stops) or stops[0] != 0 or stops[-1] != 1:
        fault(f"{path}: stops {stops}")
    if not all(set(g) == {"stop", "bgColor", "textColor"} and re.fullmatch("#[0-9a-f]{6}", g["bgColor"]) for g in data["gradient"]):
        fault(f"{path}: gradient {data['gradient']}")


CHECKS = {"nodes.json": check_model_explorer, "txt": check_text, "json": check_json, "csv": check_csv, "md": check_markdown, "xml": check_junit,
          "svg": check_svg}

if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "layers":
        add_layers(sys.argv[2], int(sys.argv[3]))
    else:
        for given in sys.argv[2:]:
            try:
                next(check for end, check in CHECKS.items() if given.endswith(end))(given)
            except (ValueError, ElementTree.ParseError, csv.Error) as error:
                fault(f"{given}: {error}")
    print("\n".join(faults[:20]), file=sys.stderr, end="\n" if faults else "")
    sys.exit(bool(faults))
