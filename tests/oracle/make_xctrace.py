#!/usr/bin/env python3
"""make_xctrace.py FILE - writes tests/fixtures/traces/xctrace-tables.xml: one small table of each kind that the importer
reads, as `xctrace export` writes them (an element's first occurrence has an id, later ones refer to it)."""
import sys

ids = {}
SENTINEL = "<sentinel/>"
APP = ("model", 42)


def element(tag, key, attributes, content):
    """An element that is defined once; content is a function, called where it is defined."""
    if (tag, key) in ids:
        return f'<{tag} ref="{ids[tag, key]}"/>'
    ids[tag, key] = len(ids) + 1
    return f'<{tag} id="{ids[tag, key]}"{attributes}>{content()}</{tag}>'


def cell(tag, raw, fmt=None):
    return element(tag, raw, f' fmt="{raw if fmt is None else fmt}"', lambda: raw)


def start(ns):
    return cell("start-time", ns, f"00:00.{ns // 1000000:03d}")


def duration(ns):
    return cell("duration", ns, f"{ns / 1e6:.2f} ms")


def process(name, pid):
    return element("process", pid, f' fmt="{name} ({pid})"', lambda: cell("pid", pid))


def thread(name, tid):
    return element("thread", tid, f' fmt="{name} {tid:#x} ({APP[0]}, pid: {APP[1]})"',
                   lambda: cell("tid", tid, hex(tid)) + process(*APP))


def frame(name):
    binary = ' name="model" arch="arm64e" load-addr="0x100000000" path="/tmp/model"'
    return element("frame", name, f' name="{name}" addr="0x100000"', lambda: element("binary", "model", binary, str))


def backtrace(*names):
    return element("tagged-backtrace", names, f' fmt="{names[0]}"',
                   lambda: element("backtrace", names, "", lambda: "".join(map(frame, names))))


def node(number, schema, columns, *rows):
    lines = [f"<node xpath='//trace-toc[1]/run[1]/data[1]/table[{number}]'>"]
    if schema:
        cols = "".join(f"<col><mnemonic>{mnemonic}</mnemonic><name>{mnemonic}</name><engineering-type>{kind}"
                       "</engineering-type></col>" for mnemonic, kind in columns)
        lines.append(f'<schema name="{schema}">{cols}</schema>')
    return "\n".join(lines + ["<row>" + "".join(row) + "</row>" for row in rows] + ["</node>"])


def gpu_row(begin, length, channel, latency, label, owner, size, buffer):
    return [start(begin), duration(length), cell("gpu-channel-name", channel),
            SENTINEL if latency is None else duration(latency), cell("formatted-label", label),
            cell("gpu-state", "Active"), process(*owner), cell("metal-device-name", "Apple M9"),
            cell("size-in-bytes", size, f"{size} B"), cell("metal-command-buffer-id", buffer, hex(buffer))]


def submission(begin, buffer):
    return [start(begin), duration(50000), cell("metal-event-name", "CommandBufferSubmission"),
            cell("metal-device-name", "Apple M9"), process(*APP), thread("Main Thread", 0x11),
            cell("metal-command-buffer-id", buffer, hex(buffer))]


def completed(time, buffer):
    return [cell("event-time", time), cell("metal-command-buffer-id", buffer, hex(buffer))]


def sample(time, owner, *stack):
    return [cell("sample-time", time), owner, process(*APP), SENTINEL, cell("thread-state", "Running"),
            cell("weight", 1000000, "1.00 ms"), backtrace(*stack)]


def ane(begin, length, label):
    return [start(begin), duration(length), cell("ane-event-name", "Apple Neural Engine"), cell("formatted-label", label),
            cell("gpu-state", "Active")]


TIMES = [("start", "start-time"), ("duration", "duration")]
TAIL = "      ( model (42) )  0x47e7a1"
# in the order of the document: ids count through it
DOCUMENT = [
    '<?xml version="1.0"?>',
    "<trace-query-result>",
    node(9, "metal-gpu-intervals",
         TIMES + [("channel-name", "gpu-channel-name"), ("start-latency", "duration"), ("event-label", "formatted-label"),
                  ("state", "gpu-state"), ("process", "process"), ("gpu", "metal-device-name"),
                  ("bytes", "size-in-bytes"), ("cmdbuffer-id", "metal-command-buffer-id")],
         gpu_row(1000000, 2000000, "Compute", None, "matmul &amp; add" + TAIL + "bb", APP, 0, 701),
         gpu_row(2000000, 2000000, "Compute", 5000, "matmul &amp; add" + TAIL + "c6", APP, 0, 702),
         gpu_row(5000000, 500000, "Blit", 5000, "copy weights" + TAIL + "c7", APP, 4096, 703),
         gpu_row(5200000, 100000, "Fragment", 7000, "GPU Execution      ( WindowServer (181) )  0x47e7a1c8",
                 ("WindowServer", 181), 0, 900)),
    # the same table goes on
    node(10, None, None, gpu_row(6000000, 1000000, "Compute", 9000, "softmax" + TAIL + "c9", APP, 0, 704)),
    node(11, "metal-application-command-buffer-submissions",
         TIMES + [("event-type", "metal-event-name"), ("gpu", "metal-device-name"), ("process", "process"),
                  ("thread", "thread"), ("cmdbuffer-id", "metal-command-buffer-id")],
         submission(900000, 701), submission(1900000, 702)),
    node(12, "metal-application-encoders-list",
         TIMES + [("thread", "thread"), ("process", "process"), ("gpu", "metal-device-name"),
                  ("encoder-label", "metal-object-label"), ("event-type", "metal-event-name"),
                  ("cmdbuffer-id", "metal-command-buffer-id")],
         [start(850000), duration(40000), thread("Main Thread", 0x11), process(*APP),
          cell("metal-device-name", "Apple M9"), cell("metal-object-label", "attention"),
          cell("metal-event-name", "ComputeCommandEncoder"), cell("metal-command-buffer-id", 701)]),
    node(13, "metal-command-buffer-completed", [("timestamp", "event-time"), ("cmdbuffer-id", "metal-command-buffer-id")],
         completed(3000000, 701), completed(4000000, 702)),
    node(14, "metal-gpu-state-intervals", TIMES + [("state", "gpu-state")],
         [start(0), duration(1000000), cell("gpu-state", "Idle")],
         [start(1000000), duration(3000000), cell("gpu-state", "Active")]),
    node(15, "gpu-performance-state-intervals", TIMES + [("state", "uint32")],
         [start(0), duration(4000000), cell("uint32", 3)]),
    node(16, "time-profile",
         [("time", "sample-time"), ("thread", "thread"), ("process", "process"), ("core", "core"),
          ("thread-state", "thread-state"), ("weight", "weight"), ("stack", "tagged-backtrace")],
         sample(1000000, thread("Main Thread", 0x11), "leaf", "run", "main"),
         sample(2000000, thread("Main Thread", 0x11), "leaf", "run", "main"),
         sample(3000000, thread("worker", 0x12), "operator;()", "main")),
    node(17, "ane-hw-intervals",
         TIMES + [("channel-name", "ane-event-name"), ("event-label", "formatted-label"), ("state", "gpu-state")],
         ane(100000, 361000, "Neural Engine Load"), ane(700000, 550, "Neural Engine Prediction")),
    node(18, "os-signpost-interval",
         TIMES + [("name", "signpost-name"), ("subsystem", "subsystem"), ("process", "process"),
                  ("start-thread", "thread")],
         [start(800000), duration(2000000), cell("signpost-name", "step"), cell("subsystem", "com.example.model"),
          process(*APP), thread("Main Thread", 0x11)]),
    node(19, "coreml-os-signpost",
         TIMES + [("event", "coreml-model-event"), ("model", "coreml-model-name"), ("process", "process")],
         [start(810000), duration(300000), cell("coreml-model-event", "Prediction"), cell("coreml-model-name", "encoder"),
          process(*APP)]),
    node(20, "display-vsyncs-interval", TIMES, [start(0), duration(16000)]),
    "<node xpath='//trace-toc[1]/run[1]/tracks[1]/track[1]/details[1]/detail[2]'>",
    '<row address="0x600001000000" category="Malloc 80 Bytes" live="true" responsible-caller="0x1" size="80" identifier="1"'
    ' responsible-library="model" timestamp="00:01.500.250" thread-id="0x11" index="0">'
    f'<backtrace>{frame("malloc")}{frame("main")}</backtrace></row>',
    '<row address="0x600001018000" category="VM: Allocation 96.00 KiB" live="false" size="98304" identifier="2"'
    ' timestamp="01:02.003.004" index="1"/>',
    "</node>",
    "</trace-query-result>",
]

with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("\n".join(DOCUMENT) + "\n")
