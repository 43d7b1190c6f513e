#!/usr/bin/env python3
"""formats_same.py [--without REGEX] ASSAY ARGUMENT…: whether a command says the same in every view of its document.

Runs ASSAY ARGUMENT… as text (as wide as it gets, everything unfolded), Markdown, HTML and CSV, and checks that
- every Markdown table is one of the page's, with the same cells in the same order (a page has its tables by tab), and its rows are lines of the text;
- every fact, sentence and point of the Markdown is in the page and in the text;
- every number of a page's table stands in the CSV table that the page names, in a row with the same numbers.
What REGEX matches is taken out first: what each run measures anew. Prints each fault; exit status 1 if there is one.
"""
import csv
import html.parser
import io
import re
import subprocess
import sys

VOID = {"meta", "link", "br", "wbr", "hr", "img", "input"}


def squeeze(text):
    text = text.replace("\u00a0", " ").replace("\u200b", "")
    return re.sub(r"\s+", " ", text).strip()


def loose(text):
    """Without white space: a line break, or its absence, is the format's own affair; and without the mark of a derived number, which a page has once,
    in the head of a column, or where the number is hovered."""
    return re.sub(r"=(?=[\d+-])|^=", "", re.sub(r"\s+", "", text.replace("\u00a0", " ")))


# --- Markdown ----------------------------------------------------------------------------------------------------


def unescape(text):
    text = re.sub(r"`([@#!%-])`", r"\1", text)
    text = re.sub(r"\\([\\`*\[\]|#~_])", r"\1", text)
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&#58;", ":"), ("&#46;", "."), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&")):
        text = text.replace(entity, sign)
    return text


def cells_of(line):
    parts, part, i = [], "", 1
    while i < len(line):
        if line[i] == "\\" and i + 1 < len(line):
            part += line[i:i + 2]
            i += 2
            continue
        if line[i] == "|":
            parts.append(part)
            part = ""
        else:
            part += line[i]
        i += 1
    return [squeeze(unescape(re.sub(r"^ \*\*(.*)\*\* $", r"\1", cell))) for cell in parts]


class Markdown:
    def __init__(self, text):
        self.tables, self.facts, self.sentences = [], [], []
        rows, code = None, None
        for line in text.split("\n"):
            if code:
                code = None if line == code else code
                continue
            fence = re.match(r"^(`{3,})", line)
            if fence:
                code = fence.group(1)
            elif line.startswith("|"):
                rows = rows if rows is not None else []
                rows.append(line)
                continue
            if rows is not None:
                self.table(rows)
                rows = None
            if line.startswith("- "):
                self.sentences.append(squeeze(unescape(line[2:])))
            elif line and not line.startswith(("#", "<", "`")):
                self.sentences.append(squeeze(unescape(re.sub(r"^\*\*(.*)\*\*$", r"\1", line))))
        if rows is not None:
            self.table(rows)

    def table(self, lines):
        head = cells_of(lines[0])
        body = [cells_of(line) for line in lines[2:]]
        if head == ["", ""]:
            self.facts += body
        else:
            self.tables.append((head, body))


# --- HTML --------------------------------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tables, self.text, self.stack = [], [], []
        self.hidden, self.header = 0, False
        self.cell = self.numbers = None
        self.feed(text)
        self.visible = loose("".join(self.text))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in VOID:
            return
        hide = tag in ("script", "style", "title", "caption") or (tag == "span" and given.get("class") == "hidden") or ("tip" in (given.get("class") or "").split() and not self.header)
        self.header = tag == "header" or (self.header and tag != "main")
        self.stack.append((tag, hide))
        self.hidden += hide
        if tag == "table":
            self.tables.append({"name": given.get("data-table"), "keys": [], "head": [], "rows": [], "bars": set()})
        elif tag == "tr" and self.tables:
            self.row, self.numbers = [], {}
        elif tag in ("td", "th") and self.tables:
            self.cell, self.given = "", given

    def handle_endtag(self, tag):
        while self.stack:
            top, hide = self.stack.pop()
            self.hidden -= hide
            if top == tag:
                break
        if tag in ("td", "th") and self.cell is not None:
            table = self.tables[-1]
            if self.given.get("scope") == "col":
                table["head"].append(squeeze(self.cell))
                table["keys"].append(self.given.get("data-key"))
            else:
                if "bar" in (self.given.get("class") or "").split():
                    table["bars"].add(len(self.row))
                if "data-v" in self.given:
                    self.numbers[len(self.row)] = float(self.given["data-v"])
                self.row.append(squeeze(self.cell))
            self.cell = None
        elif tag == "tr" and self.tables and self.row:
            self.tables[-1]["rows"].append((self.row, self.numbers))
            self.row = []

    def handle_data(self, data):
        if self.hidden:
            return
        self.text.append(data)
        if self.cell is not None:
            self.cell += data


# --- the checks ---------------------------------------------------------------------------------------------------


WITHOUT = None


def run(command, *options):
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    if done.returncode not in (0, 1, 3, 4):
        return None, done.stderr
    return re.sub(WITHOUT, "", done.stdout) if WITHOUT else done.stdout, done.stderr


def without_bars(row, bars):
    return [cell for i, cell in enumerate(row) if i not in bars]


def same_rows(head, rows, table):
    """Why the page's table is not the Markdown's: how much of it is, and a sentence; or (inf, "")."""
    bars = table["bars"]
    shown = without_bars(table["head"], bars)
    page_rows = [[loose(c) for c in without_bars(row, bars)] for row, _ in table["rows"]]
    kept = [row for row in rows if not any(cell.startswith("… ") for cell in row)]
    if table["name"] == "layers":  # a page has columns of its own, and shows others beside the table; what both have is the same
        both = [loose(h) for h in shown if loose(h) in [loose(other) for other in head]]
        if len(both) > 2:
            page_rows = [[cell for cell, h in zip(row, shown) if loose(h) in both] for row in page_rows]
            kept = [[cell for cell, h in zip(row, head) if loose(h) in both] for row in kept]
            head = shown = both
            page_rows.sort(), kept.sort(key=lambda row: [loose(cell) for cell in row])
    else:  # columns that only other formats have
        own = [loose(h) for h in shown]
        if len(own) > 2 and all(h in [loose(other) for other in head] for h in own):
            kept = [[cell for cell, h in zip(row, head) if loose(h) in own] for row in kept]
            head = [h for h in head if loose(h) in own]
    if [loose(h) for h in head] != [loose(h) for h in shown]:
        return -1, f"no table of the page has the headings {head}"
    for i, (a, b) in enumerate(zip(kept, page_rows)):
        if [loose(c) for c in a] != b:
            return i, f"a row of {head}: {a} in Markdown, {b} in the page"
    if len(kept) != len(page_rows) and len(page_rows) != 20:  # of layers that the page's own table has all of
        return len(kept), f"{len(kept)} rows of {head} in Markdown, {len(page_rows)} in the page"
    return float("inf"), ""


def check_tables(markdown, page, faults):
    pages = [t for t in page.tables if t["rows"]]
    if len(pages) != len(markdown.tables):
        faults.append(f"{len(markdown.tables)} tables in Markdown, {len(pages)} in the page")
        return
    for head, rows in markdown.tables:
        found = [same_rows(head, rows, table) for table in pages]
        best = max(range(len(pages)), key=lambda i: found[i][0])
        if found[best][1]:
            faults.append(found[best][1])
        del pages[best]


def check_text(markdown, text, faults):
    lines = {loose(re.sub("[█▏▎▍▌▋▊▉]", "", line)).lstrip(">") for line in text.split("\n")}
    whole = loose(re.sub("[█▏▎▍▌▋▊▉]", "", text))
    for head, rows in markdown.tables:
        for row in rows:
            wanted = loose("".join(row)).lstrip(">")
            if wanted not in lines and wanted not in whole:
                faults.append(f"a row of {head} is not in the text: {row}")
                break
    for label, items in markdown.facts:
        if loose(re.sub("[█▏▎▍▌▋▊▉]", "", label + items)).replace("·", "") not in whole.replace("·", ""):
            faults.append(f"a fact is not in the text: {label}: {items}")
    for sentence in markdown.sentences:
        if loose(sentence) not in whole:
            faults.append(f"a sentence is not in the text: {sentence}")


def check_page(markdown, page, faults):
    bare = re.sub(r"[._]", "", page.visible)  # a metric by its name: memory.activation_predicted
    for label, items in markdown.facts:
        if label == "quality":  # the mark in the header, with the reasons behind it
            mark = re.match(r"^[^(·]*", items).group()
            if loose(mark) not in page.visible:
                faults.append(f"the mark of quality is not in the page: {mark}")
            continue
        for item in items.split(" · "):
            # of a card the name, the number and the remark stand apart
            parts = re.match(r"^([^\d=~—]*)(.*?)( \(.*\))?$", item).groups()
            if loose(item) not in page.visible and not all(loose(part or "") in page.visible or loose(part) in bare for part in parts):
                faults.append(f"a fact is not in the page: {label}: {item}")
                break
    for sentence in markdown.sentences:
        if sentence.startswith("— "):  # why a cell is empty: the page says it where the cell is hovered
            continue
        if sentence.startswith("First finding: "):  # a page has the findings
            continue
        if loose(sentence) not in page.visible:
            faults.append(f"a sentence is not in the page: {sentence}")


def near(a, b):
    return a == b or abs(a - b) <= 1e-8 * max(abs(a), abs(b))


def check_csv(command, page, faults):
    read = {}
    for table in page.tables:
        name = table["name"]
        if not name:
            continue
        if name not in read:
            text, error = run(command, "--format", "csv", "--table", name)
            if text is None:
                faults.append(f"no CSV of the table {name}: {error.strip()}")
                continue
            read[name] = list(csv.DictReader(io.StringIO(text)))
        for row, numbers in table["rows"]:
            wanted = {table["keys"][i]: value for i, value in numbers.items()}
            found = False
            for other in read[name]:
                found = all(key not in other or (other[key] != "" and near(float(other[key]), value)) for key, value in wanted.items())
                if found:
                    break
            if not found and wanted and any(key in (read[name][0] if read[name] else {}) for key in wanted):
                if not any("total" in cell or "more" in cell for cell in row):
                    faults.append(f"a row of the page's table {name} is not in its CSV: {row}")
                    break


def main():
    global WITHOUT
    command, faults = sys.argv[1:], []
    if command[0] == "--without":
        WITHOUT, command = command[1], command[2:]
    text, error = run(command, "--format", "text", "--columns", "1000", "--full")
    if text is None:
        print(f"{' '.join(command)}: {error}")
        return 1
    markdown = Markdown(run(command, "--format", "markdown", "--full")[0] or "")
    page = Page(run(command, "--format", "html")[0] or "")
    if not markdown.tables and not markdown.facts:
        faults.append("the Markdown has neither tables nor facts")
    check_tables(markdown, page, faults)
    check_text(markdown, text, faults)
    check_page(markdown, page, faults)
    check_csv(command, page, faults)
    for fault in faults[:20]:
        print(f"{' '.join(command[1:])}: {fault}"[:400])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
