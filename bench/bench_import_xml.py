"""bench_import_xml.py - the section `import-xml` of bench.py: an xctrace export of 200 MB, read into the event store, against
Python's iterparse (expat) that only counts the rows of the same file; alternating processes.

The file is a table of the GPU's intervals as Xcode writes it: 18 columns, values that repeat are references. Its memory is
64 bytes an event, 16 bytes an id, the distinct texts, and 32 MB at most.
"""
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time

import bench_import

FLOOR = 200e6
SIZE = 200_000_000
COLUMNS = ("start:start-time duration:duration channel-name:gpu-channel-name frame-number:gpu-frame-number "
           "start-latency:duration event-depth:metal-nesting-level event-label:formatted-label state:gpu-state "
           "connection-UUID:connection-uuid64 color:render-buffer-depth process:process gpu:metal-device-name "
           "channel-subtitle:metal-object-label iosurface-accesses:formatted-label bytes:size-in-bytes "
           "cmdbuffer-id:metal-command-buffer-id encoder-id:metal-command-buffer-id gpu-submission-id:uint64")
PEER = """
import sys, time, xml.etree.ElementTree as tree
begin = time.perf_counter()
rows = 0
for _, element in tree.iterparse(sys.argv[1]):
    if element.tag == "row":
        rows += 1
        element.clear()
print(rows, time.perf_counter() - begin)
"""


class Writer:
    def __init__(self):
        self.ids = {}
        self.count = 0

    def new(self, tag, raw, fmt):
        self.count += 1
        return f'<{tag} id="{self.count}" fmt="{fmt}">{raw}</{tag}>'

    def shared(self, tag, raw, fmt=None):
        if (tag, raw) in self.ids:
            return f'<{tag} ref="{self.ids[tag, raw]}"/>'
        text = self.new(tag, raw, raw if fmt is None else fmt)
        self.ids[tag, raw] = self.count
        return text

    def process(self, pid):
        if ("process", pid) in self.ids:
            return f'<process ref="{self.ids["process", pid]}"/>'
        self.count += 1
        self.ids["process", pid] = self.count
        return f'<process id="{self.count}" fmt="app ({pid})">' + self.new("pid", pid, pid) + "</process>"


def write(path):
    """The rows and ids of the file."""
    made, rows, size, time_ns = Writer(), 0, 0, 1000000
    rng = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        size += file.write('<?xml version="1.0"?>\n<trace-query-result>\n<node xpath=\'//trace-toc[1]/run[1]/data[1]/table[9]\'>\n'
                           '<schema name="metal-gpu-intervals">')
        for column in COLUMNS.split():
            mnemonic, kind = column.split(":")
            size += file.write(f"<col><mnemonic>{mnemonic}</mnemonic><name>{mnemonic}</name><engineering-type>{kind}"
                               "</engineering-type></col>")
        size += file.write("</schema>\n")
        while size < SIZE:
            rows += 1
            time_ns += rng.randint(1000, 90000)
            length, latency, pid = rng.randint(900, 60000), rng.randint(1000, 90000), rng.choice((181, 42, 43))
            label = f"Command Buffer {rows % 50} &amp; Encoder {rows % 7}      ( app ({pid}) )  0x{1206362555 + rows:x}"
            buffer = 175719352 + rows // 3
            size += file.write("".join((
                "<row>", made.new("start-time", time_ns, f"00:00.{time_ns // 1000000:03d}.{time_ns // 1000 % 1000:03d}"),
                made.new("duration", length, f"{length / 1000:.2f} us"),
                made.shared("gpu-channel-name", rng.choice(("Compute", "Compute", "Compute", "Blit", "Vertex"))), "<sentinel/>",
                made.new("duration", latency, f"{latency / 1000:.2f} us"), made.shared("metal-nesting-level", 0),
                made.new("formatted-label", label, label), made.shared("gpu-state", "Active"),
                made.shared("connection-uuid64", 13), made.shared("render-buffer-depth", 0), made.process(pid),
                made.shared("metal-device-name", "Apple M2"), made.shared("metal-object-label", "n/a"), "<sentinel/>",
                made.shared("size-in-bytes", 0, "0 B"), made.shared("metal-command-buffer-id", buffer, hex(buffer)),
                made.new("metal-command-buffer-id", buffer + rows, hex(buffer + rows)),
                made.new("uint64", 1206362555 + rows, rows), "</row>\n")))
        file.write("</node>\n</trace-query-result>\n")
    return rows, made.count


def ours(bench, path):
    done = subprocess.run([str(bench.build / "bench/import_trace"), path], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def peer(path):
    done = subprocess.run([sys.executable, "-c", PEER, path], stdout=subprocess.PIPE, check=True)
    rows, seconds = done.stdout.split()
    return int(rows), float(seconds)


def run(bench, say, judge, spread):
    say("import-xml: an xctrace export of 200 MB into the event store, against Python's iterparse counting its rows")
    rounds = min(bench.rounds, 5)
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/export.xml"
        begin = time.perf_counter()
        rows, ids = write(path)
        say(f"        {rows:,} rows, {ids:,} ids, written in {time.perf_counter() - begin:.0f} s")
        ours(bench, path)  # the file is in the page cache for both
        found, rates, ratios, peaks, busy = [], [], [], [], False
        for _ in range(rounds):
            mine = ours(bench, path)
            counted, seconds = peer(path)
            found.append(mine["events"] == counted == rows)
            rates.append(bench_import.rate(mine)[0] / 1e6)
            busy |= bench_import.rate(mine)[1]
            ratios.append(seconds / mine["seconds"])
            peaks.append(mine["peak_bytes"])
        limit = 64 * rows + 16 * ids + 32e6
    judge(all(found), f"{rows:,} events, as many as rows")
    judge(statistics.median(rates) >= FLOOR / 1e6, f"{spread(rates)} MB/s{bench_import.OWN if busy else ''}, floor: {FLOOR / 1e6:.0f} MB/s")
    say(f"        {spread(ratios)} times as fast as iterparse")
    judge(max(peaks) <= limit, f"{max(peaks) / 1e6:.0f} MB resident at most, limit: {limit / 1e6:.0f} MB")
