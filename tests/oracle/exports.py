#!/usr/bin/env python3
"""exports.py - exported timelines as others read them.

    exports.py perfetto FILE [TRACE]     decodes with the package `perfetto`; prints what it holds as JSON
    exports.py speedscope FILE SCHEMA    validates by speedscope's own schema, then its rules of nesting
    exports.py source TRACE              what the Chrome trace itself holds, in the same form

The form is {"events": {name: [[start_ns, duration_ns], …]}, "tracks": n, "flows": n, "counters": {name: [[time_ns, value], …]}}, times from the
first event on. With TRACE the two are compared, and the status is 1 if they differ.
"""
import decimal
import gzip
import json
import sys


def shifted(events, counters):
    first = min([start for spans in events.values() for start, _ in spans] + [time for points in counters.values() for time, _ in points] + [1 << 63])
    return ({name: sorted([start - first, duration] for start, duration in spans) for name, spans in sorted(events.items())},
            {name: sorted([time - first, value] for time, value in points) for name, points in sorted(counters.items())})


def of_source(path):
    """Events of a Chrome trace, times as exact decimals."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    events = {}
    for row in trace["traceEvents"] if isinstance(trace, dict) else trace:
        if row.get("ph") not in ("X", "i", "I"):
            continue
        start, duration = (int(decimal.Decimal(row.get(key, 0)) * 1000) for key in ("ts", "dur"))
        events.setdefault(row.get("name", ""), []).append((start, duration))
    return {"events": shifted(events, {})[0]}


def of_perfetto(path):
    """What a viewer makes of the packets: sorted by time, those of one time in their order; a stack of slices for each track."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
    trace = schema.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    kinds = schema.TrackEvent
    words = {"event_names": {}, "event_categories": {}, "debug_annotation_names": {}}
    tracks, packets = {}, []
    for packet in trace.packet:
        for table, known in words.items():
            for entry in getattr(packet.interned_data, table):
                assert known.setdefault(entry.iid, entry.name) == entry.name, f"{table}: {entry.iid} has two texts"
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in tracks, "a track is described twice"
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            packets.append(packet)
    for track in tracks.values():
        assert not track.parent_uuid or track.parent_uuid in tracks, "a track without its parent"
    events, counters, open_slices, flows = {}, {}, {}, {}
    categories, annotations = {}, {}
    for packet in sorted(packets, key=lambda item: item.timestamp):
        event, stack = packet.track_event, open_slices.setdefault(packet.track_event.track_uuid, [])
        assert event.track_uuid in tracks, "an event of no track"
        if event.type == kinds.TYPE_COUNTER:
            counters.setdefault(tracks[event.track_uuid].name, []).append((packet.timestamp, event.double_counter_value))
            continue
        if event.type == kinds.TYPE_SLICE_END:
            name, start = stack.pop()
            events.setdefault(name, []).append((start, packet.timestamp - start))
            continue
        name = words["event_names"][event.name_iid]
        for iid in event.category_iids:
            category = words["event_categories"][iid]
            categories[category] = categories.get(category, 0) + 1
        for note in event.debug_annotations:
            key = words["debug_annotation_names"][note.name_iid]
            annotations[key] = annotations.get(key, 0) + 1
        for flow in event.flow_ids:
            flows.setdefault(flow, [0, 0])[0] += 1
        for flow in event.terminating_flow_ids:
            flows.setdefault(flow, [0, 0])[1] += 1
        if event.type == kinds.TYPE_INSTANT:
            events.setdefault(name, []).append((packet.timestamp, 0))
        else:
            stack.append((name, packet.timestamp))
    left = sum(map(len, open_slices.values()))
    assert not left, f"{left} slices do not end"
    events, counters = shifted(events, counters)
    return {"events": events, "counters": counters, "tracks": len(tracks), "processes": sum(track.HasField("process") for track in tracks.values()),
            "threads": sum(track.HasField("thread") for track in tracks.values()), "categories": categories, "annotations": annotations,
            "flows": sum(1 for begins, ends in flows.values() if begins and ends)}


def check_speedscope(path, schema):
    import jsonschema
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    with open(schema, encoding="utf-8") as file:
        jsonschema.Draft7Validator(json.load(file)).validate(document)
    events = {}
    for profile in document["profiles"]:
        stack, last = [], profile["startValue"]
        for mark in profile["events"]:
            assert mark["at"] >= last, f"{profile['name']}: time goes back"
            last = mark["at"]
            if mark["type"] == "O":
                stack.append((mark["frame"], last))
            else:
                frame, start = stack.pop()
                assert frame == mark["frame"], f"{profile['name']}: a frame closes that is not the innermost"
                events.setdefault(document["shared"]["frames"][frame]["name"], []).append((start, last - start))
        assert not stack and last <= profile["endValue"], f"{profile['name']}: frames stay open"
    return {"events": shifted(events, {})[0]}


def compare(ours, theirs):
    faults = []
    for name in sorted(set(ours["events"]) | set(theirs["events"])):
        a, b = ours["events"].get(name, []), theirs["events"].get(name, [])
        if a != b:
            faults.append(f"{name!r}: {len(a)} exported, {len(b)} in the trace, first difference {next(((x, y) for x, y in zip(a, b) if x != y), None)}")
    for fault in faults[:10]:
        print(fault)
    print(f"{sum(map(len, ours['events'].values()))} events exported, {len(faults)} names differ")
    return 1 if faults else 0


def main():
    verb, path, *rest = sys.argv[1:]
    if verb == "source":
        print(json.dumps(of_source(path)))
    elif verb == "perfetto" and not rest:
        print(json.dumps(of_perfetto(path), indent=1))
    elif verb == "perfetto":
        return compare(of_perfetto(path), of_source(rest[0]))
    else:
        made = check_speedscope(path, rest[0])
        return compare(made, of_source(rest[1])) if len(rest) > 1 else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
