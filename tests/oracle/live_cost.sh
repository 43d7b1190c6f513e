# live_cost.sh - multiply-adds node by node against onnx-tool, now: the light models, and BERT and GPT-2 of real size as
# PyTorch exports them.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
light=$ROOT/.cache/onnx/current/onnx/backend/test/data/light
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
[ -d "$light" ] || skip "no light models: scripts/setup test unpacks them"
export ASSAY_TEST_TIMEOUT_S=900

"$python" "$ROOT/tests/oracle/cost.py" live "$BUILD/tests/unit/test_cost_oracle" "$light"
