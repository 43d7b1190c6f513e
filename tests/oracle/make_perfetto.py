#!/usr/bin/env python3
"""make_perfetto.py FILE - writes tests/fixtures/traces/perfetto.pftrace with the classes of the `perfetto` package, which
read it back and print what the test expects. Needs that package."""
import sys
import zlib

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS = 1, 2
PROCESS, MAIN, WORKER, QUEUE, LOSS, BYTES, STREAM, DEVICE = 10, 11, 12, 13, 14, 15, 17, 16
trace = pb.Trace()


def packet(sequence, time=None, flags=0, into=None):
    made = (into or trace).packet.add()
    made.trusted_packet_sequence_id = sequence
    if time is not None:
        made.timestamp = time
    if flags:
        made.sequence_flags = flags
    return made


def track(uuid, parent=None, name=None, **more):
    described = packet(1).track_descriptor
    described.uuid = uuid
    if parent is not None:
        described.parent_uuid = parent
    if name is not None:
        described.name = name
    for key, values in more.items():
        for field, value in values.items():
            setattr(getattr(described, key), field, value)


def event(sequence, time, kind, uuid=None, name=None, flags=0, into=None, **more):
    made = packet(sequence, time, flags, into)
    made.track_event.type = kind
    if uuid is not None:
        made.track_event.track_uuid = uuid
    if name is not None:
        made.track_event.name = name
    for field, value in more.items():
        target = getattr(made.track_event, field)
        if isinstance(value, list):
            target.extend(value)
        else:
            setattr(made.track_event, field, value)
    return made


# boot time 1,000,000 is Unix time 1,700,000,000 s; clock 64 of sequence 2 counts microseconds, each from the last
snapshot = packet(2).clock_snapshot
for clock, time in ((6, 1000000), (1, 1700000000 * 10**9), (3, 900000)):
    reading = snapshot.clocks.add()
    reading.clock_id, reading.timestamp = clock, time
reading = snapshot.clocks.add()
reading.clock_id, reading.timestamp, reading.is_incremental, reading.unit_multiplier_ns = 64, 1000, True, 1000

track(PROCESS, process={"pid": 500, "process_name": "trainer"})
track(MAIN, PROCESS, thread={"pid": 500, "tid": 500, "thread_name": "main"})
track(WORKER, PROCESS, thread={"pid": 500, "tid": 501, "thread_name": "worker"})
track(QUEUE, PROCESS, "requests")
track(LOSS, PROCESS, "loss", counter={"unit_name": "nats"})
track(BYTES, PROCESS, "allocated", counter={"unit": 3, "unit_multiplier": 1024, "is_incremental": True})
track(DEVICE, process={"pid": 9, "process_name": "Example GPU"})
track(STREAM, DEVICE, "stream 7")

# sequence 1: names in full; slices within slices, and on several tracks at once
event(1, 2000000, BEGIN, MAIN, "step")
event(1, 2100000, BEGIN, MAIN, "forward")
event(1, 2150000, BEGIN, WORKER, "load")
event(1, 2400000, END, MAIN)
event(1, 2500000, END, WORKER)
event(1, 2900000, END, MAIN)
event(1, 2950000, INSTANT, MAIN, "saved")
event(1, 2000000, BEGIN, QUEUE, "request")
event(1, 9000000, END, QUEUE)
# on the monotonic clock, 100,000 behind
event(1, 2850000, INSTANT, MAIN, "elsewhere").timestamp_clock_id = 3
event(1, 2100000, COUNTER, LOSS, double_counter_value=0.75)
event(1, 2200000, COUNTER, LOSS, double_counter_value=0.5)
event(1, 2100000, COUNTER, BYTES, counter_value=4)
event(1, 2200000, COUNTER, BYTES, counter_value=-1)
# a launch and what it launched, joined by a flow
event(1, 2110000, BEGIN, MAIN, "cudaLaunchKernel", categories=["launch"], flow_ids=[77])
event(1, 2120000, END, MAIN)
event(1, 2130000, BEGIN, STREAM, "gemm", categories=["kernel"], terminating_flow_ids=[77])
event(1, 2380000, END, STREAM)

# sequence 2: numbered names, a default track and a clock of its own
first = packet(2, 0, CLEARED)
first.trace_packet_defaults.timestamp_clock_id = 64
first.trace_packet_defaults.track_event_defaults.track_uuid = WORKER
for iid, name in ((1, "decode"), (2, "resize")):
    entry = first.interned_data.event_names.add()
    entry.iid, entry.name = iid, name
entry = first.interned_data.event_categories.add()
entry.iid, entry.name = 5, "cpu_op"
event(2, 4000, BEGIN, flags=NEEDS, name_iid=1, category_iids=[5])
event(2, 10, BEGIN, flags=NEEDS, name_iid=2)
event(2, 20, END, flags=NEEDS)
event(2, 30, END, flags=NEEDS)
# after a loss nothing is known until the writer begins anew
lost = event(2, 5, BEGIN, flags=NEEDS, name_iid=1)
lost.previous_packet_dropped = 1
event(2, 5, END, flags=NEEDS)
again = packet(2, 0, CLEARED)
again.trace_packet_defaults.track_event_defaults.track_uuid = MAIN
entry = again.interned_data.event_names.add()
entry.iid, entry.name = 1, "other"
event(2, 20000000, BEGIN, flags=NEEDS, name_iid=1)
event(2, 20000100, END, flags=NEEDS)

# the GPU's own stages
stages = packet(3, 30000000, CLEARED)
for iid, name in ((1, "Compute queue"), (2, "shade")):
    entry = stages.interned_data.gpu_specifications.add()
    entry.iid, entry.name = iid, name
stage = stages.gpu_render_stage_event
stage.event_id, stage.duration, stage.hw_queue_iid, stage.stage_iid, stage.gpu_id, stage.submission_id = 1, 5000, 1, 2, 1, 88

# the kernel's events, a packet of compressed ones, an end without a begin, a begin without an end
bundle = packet(4).ftrace_events
for time in (1, 2, 3):
    bundle.event.add().timestamp = time
inner = pb.Trace()
event(1, 40000000, INSTANT, MAIN, "compressed", into=inner)
packet(1).compressed_packets = zlib.compress(inner.SerializeToString())
event(1, 50000000, END, MAIN)
event(1, 50000000, BEGIN, MAIN, "never ends")
event(1, 50000000, INSTANT, MAIN, "unknown clock").timestamp_clock_id = 70
event(1, None, INSTANT, MAIN, "no time")

with open(sys.argv[1], "wb") as file:
    file.write(trace.SerializeToString())
print(len(trace.packet), "packets,", trace.ByteSize(), "bytes")
