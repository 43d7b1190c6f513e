# What a default run is: short launches with an interval between them, layers of those at the end, memory that does not
# hold the sessions of the layers. With a time or a count it is one launch.
# alone: it measures
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "ONNX Runtime is not here"
expect_exit 0 "$ASSAY" run cfc --json
mv out default.json
expect_exit 0 "$ASSAY" run cfc --layers=off --json
mv out plain.json
expect_exit 0 "$ASSAY" run cfc --iters 20 --json
mv out one.json
python3 - <<'PYTHON' || fail "the default run"
import json, os
trial = json.load(open("default.json"))["trials"][0]
plain = json.load(open("plain.json"))["trials"][0]
one = json.load(open("one.json"))["trials"][0]
assert 6 <= len(trial["launches"]) <= 18 and 5 <= len(plain["launches"]) <= 15 and len(one["launches"]) == 1
assert trial["target"]["options"]["launches"] == str(len(trial["launches"]))
metrics = trial["metrics"]
p50, low, high = (metrics[name]["value"] for name in ("latency.p50", "latency.between_low", "latency.between_high"))
assert low <= p50 <= high, (low, p50, high)
assert "layers.sum" in trial["launches"][-1]["metrics"] and "layers.sum" not in trial["launches"][0]["metrics"]
# a wider interval than this is never called stable
assert trial["stability"]["verdict"] != "stable" or (high - low) / 2 <= 0.0500001 * p50
for run in (trial, one):
    assert len(run["layers"]) >= 30, len(run["layers"])
    total = sum(layer["time_us"] or 0 for layer in run["layers"]) + run["engine_us"] + run["unattributed_us"]
    assert abs(total - run["metrics"]["latency.p50"]["value"] * 1e6) <= 1e-6 * total
# Two more sessions would take several MB; a sanitizer keeps more than that of what was freed.
peaks = [run["metrics"]["memory.peak.worker"]["value"] for run in (trial, plain)]
assert os.environ["SANITIZED"] == "yes" or peaks[0] <= peaks[1] + 4e6, peaks
assert one["launches"][0]["samples"] == 20, one["launches"][0]["samples"]
PYTHON
