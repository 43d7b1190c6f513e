# live_shapes.sh - shapes against onnx.shape_inference, now: every node test of the onnx package (also with its small
# inputs as constants), the light models, transformers as PyTorch exports them, and the zoo.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
export ASSAY_TEST_TIMEOUT_S=900

"$python" -W ignore "$ROOT/tests/oracle/shapes_export.py" "$PWD/exports" >/dev/null
mkdir zoo
for name in cfc cfc:form=scan ltc ltc:form=scan lora attention mlp lstm gru resnet18 mobilenetv2 mobilenetv3-small \
    squeezenet efficientnet-b0 unet bert:layers=2 gpt2:layers=2 llama:layers=2; do
    "$ASSAY" make "$name" -o "zoo/${name//[:=]/_}.onnx" >/dev/null
done
"$python" -W ignore "$ROOT/tests/oracle/shapes.py" live "$BUILD/tests/unit/test_shapes_oracle" exports/*.onnx zoo/*.onnx
