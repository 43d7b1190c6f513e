# plain-only: several real models; under sanitizers it would take minutes
# On real models layers + engine + unattributed is the unprofiled median, and every layer names its method and state.
# How small unattributed is depends on the machine: that is `make bench layers`. A model of 240 MB: oracle/live_layers.sh.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "ONNX Runtime is not here"
models=("$ROOT"/tests/fixtures/models/{cfc,ltc,encoder}/model.onnx squeezenet:image=32)
for model in "${models[@]}"; do
    case $model in */cfc/*) launches=2 ;; *) launches=1 ;; esac
    expect_exit 0 "$ASSAY" run "$model" --layers=markers --time 0.2s --threads 1 --launches $launches --json
    python3 "$ROOT/tests/layers_check.py" out || fail "$model does not add up"
done
# inside If, Loop and Scan: as many rows as nodes run, and their FLOPs are the model's
for model in if:7 loop:8 scan:5; do
    expect_exit 0 "$ASSAY" run "$ROOT/tests/fixtures/models/layers/${model%:*}.onnx" --layers=markers --time 0.1s --threads 1 --json
    python3 "$ROOT/tests/layers_check.py" out || fail "$model does not add up"
    python3 - "${model#*:}" <<'EOF_PY' || fail "$model: rows or FLOPs"
import json, sys
trial = json.load(open("out"))["trials"][0]
assert len(trial["layers"]) == int(sys.argv[1]), [layer["name"] for layer in trial["layers"]]
flops = [layer["flops"] for layer in trial["layers"]]
assert sum(flops) == trial["metrics"]["compute.flops"]["value"] > 0, flops
EOF_PY
done
# by the engine's profile, which slows such a model down many times over, no layer takes more than 100 %, and CSV says the same as JSON
for model in if loop; do
    expect_exit 0 "$ASSAY" run "$ROOT/tests/fixtures/models/layers/$model.onnx" --layers=engine --time 0.1s --threads 1 -o kept.assay --json
    cp out json
    expect_exit 0 "$ASSAY" report kept.assay --format csv --table layers
    python3 - <<'EOF_PY' || fail "$model: shares"
import csv, json
trial = json.load(open("json"))["trials"][0]
shares = [layer["share"] for layer in trial["layers"]]
times = [layer["time_us"] for layer in trial["layers"]]
whole = max(sum(times), trial["metrics"]["latency.p50"]["value"] * 1e6)
assert len(shares) > 3 and all(abs(share - time / whole) < 1e-6 for share, time in zip(shares, times)), shares
assert sum(shares) < 1 + 1e-6, shares
rows = {row["name"]: row["share"] for row in csv.DictReader(open("out"))}
for layer in trial["layers"]:
    assert abs(float(rows[layer["name"]]) - layer["share"]) < 1e-6, layer
EOF_PY
done
