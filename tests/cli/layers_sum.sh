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
