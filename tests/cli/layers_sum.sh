# plain-only: several real models; under sanitizers it would take minutes
# On real models layers + engine + unattributed is the unprofiled median, and every layer names its method and state.
# How small unattributed is depends on the machine: that is `make bench layers`.
# alone: it compares times
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "ONNX Runtime is not here"
models=("$ROOT"/tests/fixtures/models/{cfc,ltc,encoder}/model.onnx squeezenet:image=32)
# AlexNet streams 240 MB of weights: its sessions are timed one at a time.
alexnet=$ROOT/.cache/onnx/current/onnx/backend/test/data/light/light_bvlc_alexnet.onnx
[ ! -f "$alexnet" ] || models+=("$alexnet")
cat >check.py <<'EOF'
import json, sys
trial = json.load(open("out"))["trials"][0]
assert trial["layer_timing"]["method"] == "markers", trial["layer_timing"]
p50 = trial["metrics"]["latency.p50"]["value"] * 1e6
total = sum(layer["time_us"] for layer in trial["layers"] if layer["time_us"] is not None)
total += trial["engine_us"] + trial["unattributed_us"]
assert abs(total - p50) <= 1e-9 * p50, (total, p50)
for layer in trial["layers"]:
    assert layer["method"] == "markers" and layer["state"] in ("measured", "unavailable"), layer
    assert layer["state"] == "measured" or layer["note"], layer
for launch in trial["launches"]:
    metrics = launch["metrics"]
    parts = sum(metrics["layers." + name]["value"] for name in ("sum", "engine", "unattributed"))
    assert abs(parts - metrics["latency.p50"]["value"]) <= 1e-9 * parts, launch["id"]
EOF
for model in "${models[@]}"; do
    case $model in */cfc/*) launches=2 ;; *) launches=1 ;; esac
    expect_exit 0 "$ASSAY" run "$model" --layers=markers --time 0.2s --threads 1 --launches $launches --json
    python3 check.py || fail "$model does not add up"
done
