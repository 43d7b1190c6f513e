#!/usr/bin/env python3
"""page_check.py - checks a page of `assay report` without a browser: well-formed, self-contained, its policy right, its data the report's.

    page_check.py PAGE [--json REPORT.json] [--no-data] [--sections a,b,c] [--without d,e]

--no-data: of a document that is about no profile, whose page carries no data.

Status 1 with one line per fault.
"""
import argparse
import base64
import hashlib
import html.parser
import json
import re
import sys
import zlib

VOID = {"meta", "link", "br", "wbr", "hr", "img", "input"}
HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.faults, self.ids, self.links, self.refs = [], [], [], [], []
        self.policy, self.raw, self.headings, self.sections = "", {}, [], []
        self.svg_depth, self.buttons, self.captions, self.figures = 0, 0, 0, 0
        self.open_raw, self.bytes = None, {}

    def fault(self, text):
        self.faults.append(f"line {self.getpos()[0]}: {text}")

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if len(given) != len(attributes):
            self.fault(f"<{tag}> has an attribute twice")
        for name, value in attributes:
            if name == "style" or name.startswith("on"):
                self.fault(f"<{tag}> has {name}=, which its policy refuses")
            if name in ("href", "src", "xlink:href", "action", "data", "poster", "srcset"):
                if not (value or "").startswith("#"):
                    self.fault(f"<{tag}> leads out of the page: {name}={value!r}")
            if name == "href":
                self.links.append(value[1:])
            if name in ("aria-labelledby", "aria-describedby", "aria-controls"):
                self.refs += value.split()
        if "id" in given:
            self.ids.append(given["id"])
        if tag in ("img", "iframe", "object", "embed", "link", "base", "form", "audio", "video"):
            self.fault(f"<{tag}> has no place in a page")
        if tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = given["content"]
        if tag == "th" and "scope" not in given:
            self.fault("<th> without a scope")
        if tag == "svg" and "aria-hidden" not in given:
            if not (given.get("aria-labelledby") or given.get("aria-label")):
                self.fault("<svg> without a text alternative")
        if tag in HEADINGS:
            self.headings.append(HEADINGS[tag])
        if tag == "section":
            self.sections.append(given.get("id", ""))
        if tag in ("style", "script"):
            key = f"{tag}:{given.get('type', '')}:{given.get('id', '')}"
            if key in self.raw:
                self.fault(f"a second <{tag}>: {key}")
            self.raw[key], self.open_raw = "", key
            self.bytes[key] = given.get("data-bytes")
        self.figures += tag == "figure"
        self.captions += tag == "figcaption"
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            self.fault(f"</{tag}>")
        elif not self.stack or self.stack[-1] != tag:
            self.fault(f"</{tag}> where </{self.stack[-1] if self.stack else ''}> is due")
            if tag in self.stack:
                while self.stack.pop() != tag:
                    pass
        else:
            self.stack.pop()
        if tag in ("style", "script"):
            self.open_raw = None

    def handle_data(self, data):
        if self.open_raw:
            self.raw[self.open_raw] += data
        for c in data if not self.open_raw else "":
            code = ord(c)  # isolates (U+2068 … U+2069) are what pictures hold names together with
            if (code < 32 and c not in "\n\t") or 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E or code in (0x2066, 0x2067):
                self.fault(f"a raw control character U+{code:04X} in the text")
                break


def cells(column, count):
    """The values of a packed column (src/report/json/json_pack.h)."""
    if isinstance(column, list):
        return [unpack(value) for value in column]
    if "~all" in column:
        return [unpack(column["~all"])] * count
    if "~of" in column:
        of = [unpack(value) for value in column["~of"]]
        return [of[i] for i in column["~at"]]
    made, at, before = [], 0, ""
    if "~list" in column:
        items = cells(column["~items"], sum(column["~list"]))
        for length in column["~list"]:
            made.append(items[at:at + length])
            at += length
        return made
    for i in range(count):
        before = before[:column["~front"][2 * i]] + column["~front"][2 * i + 1]
        made.append(before)
    return made


def unpack(value):
    if isinstance(value, list):
        return [unpack(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "~rows" in value:
        count = value["~rows"]
        columns = {key: cells(column, count) for key, column in value.items() if key != "~rows"}
        return [{key: column[i] for key, column in columns.items()} for i in range(count)]
    return {key: unpack(item) for key, item in value.items()}


def hashed(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode() + "'"


def check_policy(page):
    parts = dict(part.strip().split(" ", 1) for part in page.policy.split(";") if part.strip())
    wanted = {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'",
              "style-src": hashed(page.raw.get("style::", "")),
              "script-src": hashed(page.raw.get("script::", "")) + " " + hashed(page.text.get("assay-script", ""))}
    for name, value in wanted.items():
        if parts.get(name) != value:
            page.faults.append(f"policy: {name} is {parts.get(name)}, expected {value}")
    for name in parts:
        if name not in wanted:
            page.faults.append(f"policy: {name} is not expected")


def check_structure(page, text):
    if not text.startswith("<!doctype html>\n<html lang="):
        page.faults.append("no doctype or no language")
    if page.stack:
        page.faults.append(f"not closed: {page.stack}")
    for name in ("main",):
        if name not in page.ids:
            page.faults.append(f"no {name}")
    double = {name for name in page.ids if page.ids.count(name) > 1} if len(page.ids) < 5000 else set()
    if double or len(set(page.ids)) != len(page.ids):
        page.faults.append(f"ids twice: {sorted(double)[:5]}")
    missing = sorted({link for link in page.links + page.refs if link not in set(page.ids)})
    if missing:
        page.faults.append(f"links to nothing: {missing[:5]}")
    if page.headings.count(1) != 1 or (page.headings and page.headings[0] != 1):
        page.faults.append("not one <h1>, first")
    for before, after in zip(page.headings, page.headings[1:]):
        if after > before + 1:
            page.faults.append(f"<h{after}> follows <h{before}>")
    if page.figures != page.captions:
        page.faults.append(f"{page.figures} figures, {page.captions} captions")
    outside = re.sub(r'xmlns(:\w+)?="http://www\.w3\.org/[^"]*"', "", text)
    for key, raw in page.raw.items():
        if key.startswith("script:application/json:"):
            outside = outside.replace(raw, "")
    outside += page.text.get("assay-script", "")
    for found in re.finditer(r"@import|url\(", outside):
        page.faults.append(f"it would fetch: {outside[found.start():found.start() + 60]!r}")


def inflate(page):
    """What src/report/html/unpack.js inflates, by id."""
    page.text = {}
    for key, raw in page.raw.items():
        kind, name = key.split(":")[1:]
        if kind == "application/json":
            page.text[name] = raw
        if kind == "application/zlib":
            made = zlib.decompress(base64.b64decode(raw, validate=True))
            if page.bytes[key] != str(len(made)):
                page.faults.append(f"{name} has {len(made)} bytes, not {page.bytes[key]}")
            page.text[name] = made.decode("utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--json")
    parser.add_argument("--no-data", action="store_true")
    parser.add_argument("--sections", default="")
    parser.add_argument("--without", default="")
    options = parser.parse_args()
    with open(options.page, encoding="utf-8", newline="") as file:
        text = file.read()
    page = Page()
    page.feed(text)
    page.close()
    inflate(page)
    check_structure(page, text)
    check_policy(page)
    for key in ("style::", "script::", "script:application/zlib:assay-script") + (() if options.no_data else ("script:application/zlib:assay-data",)):
        if key not in page.raw:
            page.faults.append(f"no {key}")
    for key, raw in page.raw.items():
        if key.startswith("script:application/") and re.search(r"[<>&]", raw):
            page.faults.append(f"{key} holds markup")
    for name, text in page.text.items():
        try:
            if name != "assay-script":
                json.loads(text)
        except ValueError as fault:
            page.faults.append(f"{name}: {fault}")
    if options.json:
        with open(options.json, encoding="utf-8") as file:
            if json.load(file) != unpack(json.loads(page.text.get("assay-data", "null"))):
                page.faults.append("the data is not the report's JSON")
    for name in filter(None, options.sections.split(",")):
        if name not in page.sections:
            page.faults.append(f"no section {name}; there are {page.sections}")
    for name in filter(None, options.without.split(",")):
        if name in page.sections:
            page.faults.append(f"a section {name}")
    for fault in page.faults[:20]:
        print(f"{options.page}: {fault}")
    return 1 if page.faults else 0


if __name__ == "__main__":
    sys.exit(main())
