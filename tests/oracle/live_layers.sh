# AlexNet streams 240 MB of weights: its sessions are timed one at a time. Layers add up as in cli/layers_sum.sh.
. "$ROOT/tests/cli/lib.sh"
alexnet=$ROOT/.cache/onnx/current/onnx/backend/test/data/light/light_bvlc_alexnet.onnx
[ -f "$alexnet" ] || skip "the onnx package is not here (scripts/setup test)"
expect_exit 0 "$ASSAY" run "$alexnet" --layers=markers --time 0.2s --threads 1 --json
python3 "$ROOT/tests/layers_check.py" out || fail "AlexNet does not add up"
