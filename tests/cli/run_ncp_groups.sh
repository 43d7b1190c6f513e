# plain-only: several measured runs; the arithmetic runs under sanitizers in the unit test
# Time per step and per neuron group of a small CfC and LTC on ONNX Runtime: rows of both lists add up to the latency,
# every node of a group is in a row, an unrolled and a Scan form of the same network can be set side by side, and the kept
# profile says the same.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "ONNX Runtime is not here"
cat >check.py <<'EOF_PY'
import json, sys
form, steps = sys.argv[1], int(sys.argv[2])
trial = json.load(open("out"))["trials"][0]
p50 = trial["metrics"]["latency.p50"]["value"] * 1e6
summary = trial["time_steps"]
assert (summary["form"], summary["count"], summary["state"]) == (form, steps, "derived"), summary
assert abs(summary["per_step_us"] * steps - p50) <= 1e-9 * p50, (summary, p50)
for name in ("groups", "steps"):
    rows = trial[name]
    unknown = [row for row in rows if row["time_us"] is None]
    assert all(row["state"] == "unavailable" and row["note"] for row in unknown), unknown
    assert all(row["state"] != "unavailable" for row in rows if row["time_us"] is not None), rows
    total = sum(row["time_us"] for row in rows if row["time_us"] is not None)
    if not any("have no time" in row["note"] for row in unknown):
        assert abs(total - p50) <= 1e-9 * p50, (name, total, p50)
    # each layer is in one row
    assert sum(row["layers"] for row in rows) == len(trial["layers"]), (name, rows)
kinds = {row["kind"] for row in trial["groups"]}
assert {"engine", "unattributed"} <= kinds, kinds
if form == "scan":
    scan = [row for row in trial["groups"] if row["kind"] == "scan"]
    assert len(scan) == 1 and scan[0]["layers"] == 1, scan
    inside = [row for row in trial["steps"] if row["kind"] == "scan"]
    assert len(inside) == 1 and inside[0]["layers"] > 1, inside
    assert abs(summary["scan_per_step_us"] * steps - inside[0]["time_us"]) <= 1e-9 * p50, summary
    assert any(row["kind"] == "group" and row["time_us"] for row in trial["groups"])
else:
    seen = [row["step"] for row in trial["steps"] if row["kind"] == "step"]
    assert seen == list(range(steps)), seen
    assert any(row["kind"] == "group" and row["time_us"] for row in trial["groups"])
flops = {row["group"]: row["flops"] for row in trial["groups"] if row["kind"] == "group"}
json.dump({name: flops[name] for name in ("inter", "command", "motor")}, open(f"{form}.flops", "w"))
EOF_PY
options=(--threads 1 --time 0.1s --layers=markers --json)
for form in unrolled scan; do
    expect_exit 0 "$ASSAY" run "cfc:units=20,outputs=4,inputs=8,seq=3,form=$form" "${options[@]}" -o "$form.assay"
    python3 check.py "$form" 3 || fail "cfc $form"
    cp out run.json
    python3 "$ROOT/tests/schema_check.py" run run.json || fail "not the promised shape"
    expect_exit 0 "$ASSAY" report "$form.assay" --json
    cmp -s out run.json || fail "report --json of $form differs from run --json"
done
# the same network: the layers' FLOPs by group are those that the graph of the Scan's body has, all steps
cmp -s unrolled.flops scan.flops || fail "FLOPs by group: $(cat unrolled.flops scan.flops)"
expect_exit 0 "$ASSAY" report unrolled.assay --full
expect_has out "Time steps and neuron groups  CfC, unrolled over 3 steps"
expect_exit 0 "$ASSAY" report scan.assay --format csv --table groups
expect_has out "sensory,group,,,"
expect_exit 0 "$ASSAY" report unrolled.assay --format csv --table steps
expect_equal "$(grep -c '^1,[0-9]*,step,' out)" 3
expect_exit 0 "$ASSAY" query scan.assay "SELECT kind, form, steps FROM cells"
expect_has out "scan"
expect_exit 0 "$ASSAY" run ltc:units=12,outputs=2,inputs=4,form=step "${options[@]}"
python3 check.py step 1 || fail "ltc"
python3 - <<'EOF_PY' || fail "ltc: neurons are computed at once"
import json
rows = {row["group"]: row for row in json.load(open("out"))["trials"][0]["groups"]}
assert rows["neurons"]["time_us"] > 0 and rows["inter"]["time_us"] is None, rows
assert rows["inter"]["flops_state"] == "estimated" and "at once" in rows["inter"]["note"], rows
EOF_PY
# metadata that contradicts itself is said to, and the run is as good as without it
expect_exit 0 "$ASSAY" make cfc:units=20,outputs=4,inputs=8,seq=3 -o good.onnx
LC_ALL=C sed 's/"steps":3/"steps":0/' good.onnx >bad.onnx
cmp -s good.onnx bad.onnx && fail "the metadata does not read \"steps\":3"
expect_exit 0 "$ASSAY" run bad.onnx "${options[@]}"
expect_has out time_steps_fault
expect_not out '"groups"'
# a model that is no such cell has none of it
expect_exit 0 "$ASSAY" run mlp "${options[@]}"
expect_not out time_steps
