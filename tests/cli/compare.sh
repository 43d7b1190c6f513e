# plain-only: many workers; its parts run under sanitizers as unit tests
# compare: several models on one device, launches alternating; rows, drift, recommendation, JSON; what cannot run is a row.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "ONNX Runtime is not here"
model=$ROOT/tests/fixtures/models/encoder/model.onnx
# the same model twice: identical outputs, six launches each, in one profile
expect_exit 0 "$ASSAY" compare "$model" "$model" --launches 6 --iters 20 --no-power --json -o c.assay
expect_equal "$(json_get out '.command')" compare
expect_equal "$(json_get out '.trials[1].launches[5].state')" ok
expect_equal "$(json_get out '.comparison.rows[0].role')" reference
expect_equal "$(json_get out '.comparison.rows[1].label')" "2: model.onnx" # without the folder that both lie in
expect_equal "$(json_get out '.comparison.rows[1].usable')" true
expect_equal "$(json_get out '.trials[1].metrics["drift.max_absolute"].value')" 0
python3 - out <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
row = d["comparison"]["rows"][1]
assert row["speedup_low"] <= row["speedup"] <= row["speedup_high"], row
assert 0 < row["p_value"] <= 1 and row["smallest_difference"] > 0, row
assert set(d["comparison"]["recommendation"]) == {"latency", "throughput", "energy", "why"}
# alternating: the launches of the two arms do not stand in blocks
# (a launch that others disturbed is made again: there may be more of them)
assert len(d["trials"]) == 2 and all(len(t["launches"]) >= 6 for t in d["trials"])
PYTHON
# why they differ: unknown while no layer was timed; then the operators, with a change for each (here two equal models)
expect_equal "$(json_get out .comparison.changes)" null
expect_exit 0 "$ASSAY" compare "$model" "$model" --launches 5 --iters 20 --no-power --layers --json -o why.assay
python3 - out <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
changes = d["comparison"]["changes"]
assert changes["trials"] == [1, 2], changes["trials"]
for s, trial in enumerate(d["trials"]):
    count = {}
    for layer in trial["layers"]:
        count[layer["op"]] = count.get(layer["op"], 0) + 1
    assert count == {o["op"]: o["layers"][s] for o in changes["operators"] if o["layers"][s]}, count
change = [abs(o["deltas"][0]["difference_us"]) for o in changes["operators"]]
assert change == sorted(change, reverse=True), change
for layer in changes["layers"]: # each has its counterpart, at the same place
    if layer["kind"] == "layer":
        first, second = layer["members"]
        assert [m["index"] for m in first] == [m["index"] for m in second], layer
PYTHON
expect_exit 0 "$ASSAY" report why.assay --format csv --table operator-changes
[ "$(wc -l <out)" -gt 3 ] || fail "no operators"
expect_exit 0 "$ASSAY" report c.assay
grep -q "^Numbers " out || fail "no numbers of the trials"
expect_has out "reference"
# an arm that cannot run is a row with its reason, the others are measured; status 3
expect_exit 3 "$ASSAY" compare "$model" missing.onnx --launches 5 --iters 10 --no-power
expect_has out "missing.onnx"
expect_has out "—"
expect_has err "1 of 2 could not be measured"
# a long reason why a number is unknown is printed for one trial; the others refer to it. Programs read it for each
expect_exit 0 "$ASSAY" compare "$model" "$model" --launches 5 --iters 10 --json -o reasons.assay
expect_exit 0 "$ASSAY" report reasons.assay --full --format markdown -o reasons.md
expect_exit 0 "$ASSAY" report reasons.assay --format csv --table metrics -o reasons.csv
"$ASSAY" report reasons.assay --json >reasons.json
python3 - <<'PYTHON'
import json
trials = json.load(open("reasons.json"))["trials"]
missing = [{n: m["note"] for n, m in t["metrics"].items() if m["state"] == "unavailable"} for t in trials]
text, table = open("reasons.md").read(), open("reasons.csv").read()
for name, note in missing[0].items():
    if len(note) < 80 or missing[1].get(name) != note:
        continue
    rows = sum(m.get(n) == note for m in missing for n in m)
    assert table.count(note) == rows, (name, table.count(note), rows)
    # at most once each in the table of metrics, in what is not available, and in the section it is about
    assert text.count(note) <= 3, (name, text.count(note))
PYTHON
# devices by class and by name
expect_exit 0 "$ASSAY" compare "$model" --devices cpu --launches 5 --iters 10 --no-power --json
expect_equal "$(json_get out '.comparison.rows[0].device' 2>/dev/null || json_get out '.trials[0].target.device')" cpu
expect_error 2 "there is no device 'nothing'" "$ASSAY" compare "$model" --devices nothing
expect_error 2 "MODEL is missing" "$ASSAY" compare
# two models that have no output in common: nothing is known of the drift, not even that no value is NaN
expect_exit 0 "$ASSAY" make mlp -o one.onnx
expect_exit 0 "$ASSAY" compare cfc one.onnx --launches 1 --iters 10 --no-power --no-placement --json -o two.assay
python3 - <<'PYTHON' || fail "drift of outputs that cannot be compared"
import json
t = json.load(open("out"))
m = t["trials"][1]["metrics"]
for name in ("max_absolute", "relative_l2", "cosine", "top1", "nonfinite"):
    d = m["drift." + name]
    assert d["value"] is None and d["state"] == "unavailable", (name, d)
    assert "it has no output '" in d["note"] and "rewritten" not in d["note"], d
assert t["comparison"]["rows"][1]["drift"]["nonfinite"] is None
PYTHON
expect_exit 0 "$ASSAY" report two.assay
expect_has out "cfc and one.onnx"
expect_has out "model       one.onnx · "
