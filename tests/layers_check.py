"""layers_check.py FILE: of a run with --layers=markers as JSON, layers + engine + unattributed is the latency, in the trial and in
each launch, and every layer names its method and state."""
import json, sys
trial = json.load(open(sys.argv[1]))["trials"][0]
assert trial["layer_timing"]["method"] == "markers", trial["layer_timing"]
p50 = trial["metrics"]["latency.p50"]["value"] * 1e6
total = sum(layer["time_us"] for layer in trial["layers"] if layer["time_us"] is not None)
total += trial["engine_us"] + trial["unattributed_us"]
assert abs(total - p50) <= 1e-9 * p50, (total, p50)
for layer in trial["layers"]:
    assert layer["method"] == "markers" and layer["state"] in ("derived", "unavailable"), layer
    factor = "%.4f" % trial["layer_timing"]["scale_factor"]
    assert factor in layer["note"] if layer["state"] == "derived" else layer["note"], (layer, factor)
for launch in trial["launches"]:
    metrics = launch["metrics"]
    parts = sum(metrics["layers." + name]["value"] for name in ("sum", "engine", "unattributed"))
    assert abs(parts - metrics["latency.p50"]["value"]) <= 1e-9 * parts, launch["id"]
