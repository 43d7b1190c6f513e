# plain-only: it runs the engine many times; the rewrites themselves run sanitized in test_rewrite
# The rewrites run in ONNX Runtime and their outputs stay near the original's: the drift that `assay make` measures.
. "$ROOT/tests/cli/lib.sh"
"$ASSAY" devices --engine ort --json >devices 2>/dev/null || true
[ "$(json_get devices '.devices[0].available')" = true ] || skip "ONNX Runtime is not set up"

# drift STEP… MODEL COSINE: every output is compared, its cosine at least that
drift() {
    local model=$1 least=$2
    shift 2
    expect_exit 0 "$ASSAY" make --from "$model" "$@" -o y.onnx --json
    python3 - "$least" <<'PYTHON' || fail "$model $*: drifts too far"
import json, sys
drift = json.load(open("out"))["drift"]
assert drift["state"] == "measured", drift["state"]
assert drift["outputs"], "no outputs"
for output in drift["outputs"]:
    cosine = output["cosine"]
    assert cosine["state"] == "measured", (output["name"], cosine)
    assert output["broken"] == 0 and output["nonfinite"] == 0, output
    assert cosine["value"] >= float(sys.argv[1]), (output["name"], cosine["value"])
    assert output["max_absolute"]["state"] == "measured"
PYTHON
}

# fewer operators, the same numbers but for roundings: 4 + 3 of 25 nodes become 2 + 1 (1 + 1 with HardSwish), 9 go into
# 4 convolutions
for opset in 12 14; do
    fold=$ROOT/tests/fixtures/models/fold/opset$opset.onnx
    drift "$fold" 0.9999999 --fuse-hardswish
    expect_equal "$(json_get out .model.nodes)" $((25 - 4 - (opset == 14)))
    drift "$fold" 0.9999999 --fold-affine
    drift "$fold" 0.9999999 --fuse-hardswish --fold-affine
    expect_equal "$(json_get out .model.nodes)" $((25 - 4 - (opset == 14) - 9))
done

net=squeezenet:image=64 # small images: quick
for model in $net mlp lstm cfc cfc:form=scan,seq=4 ltc:form=scan,seq=3 \
    bert:layers=1,width=64,heads=2,ffn=128,vocab=300 \
    llama:layers=1,width=64,heads=4,kv_heads=2,head_dim=16,ffn=128,vocab=300; do
    drift $model 0.9999 --float16
    drift $model 0.98 --int8 weights
    drift $model 0.98 --int8 dynamic
done
drift $net 0.98 --int8 weights --float16 --batch 2
size=$("$ASSAY" make $net -o full.onnx --json >made; json_get made .model.bytes)
"$ASSAY" make --from $net --int8 weights --no-drift -o int8.onnx >/dev/null
[ $(($(wc -c <int8.onnx) * 37 / 10)) -lt "$size" ] || fail "int8 is not about a quarter of $size bytes"

# the same values however often, whatever the batch is called
node=$(python3 - <<'PYTHON'
import re
data = open("full.onnx", "rb").read()
print(re.search(rb"/[A-Za-z0-9_./]*Conv(?![A-Za-z0-9_])", data).group().decode())
PYTHON
)
drift full.onnx 0.9999999 --repeat "$node=4" # the engine may choose another kernel for the copies
drift full.onnx 0.9999999 --batch 2

# the older models of the onnx package: IR 3, operator set 9, a fixed batch
for light in "$ROOT"/.cache/onnx/current/onnx/backend/test/data/light/light_{squeezenet,shufflenet}.onnx; do
    [ -e "$light" ] || continue
    drift "$light" 0.999 --float16
    drift "$light" 0.9999999 --int8 weights # its weights are no constants: only the operator set is raised
    expect_exit 0 "$ASSAY" make --from "$light" --batch 2 --no-drift -o b2.onnx
    expect_exit 0 "$ASSAY" run b2.onnx --iters 2 --layers=off --json
    expect_equal "$(json_get out '.trials[0].state')" ok
done

# a part of a model, and a model without its weights, run
expect_exit 0 "$ASSAY" make --from full.onnx --strip -o stripped.onnx
expect_exit 0 "$ASSAY" run stripped.onnx --iters 2 --layers=off --json
expect_equal "$(json_get out '.trials[0].state')" ok

# stripped and quantised, in whatever order of precision, activations stay finite and of moderate size
for steps in "--int8 weights" "--int8 dynamic" "--int8 weights --float16"; do
    expect_exit 0 "$ASSAY" make --from $net $steps --strip -o s.onnx
    expect_exit 0 "$ASSAY" make --from s.onnx --fix-dim batch=1 -o s1.onnx --json
    python3 - <<'PYTHON' || fail "$net $steps --strip: not finite"
import json
for output in json.load(open("out"))["drift"]["outputs"]:
    assert output["nonfinite"] == 0 and output["broken"] == 0, output
    assert output["max_absolute"]["state"] == "measured", output
PYTHON
done

# what overflows float16 stays float32, and what the drift does not hold is said
python3 - <<'PYTHON'
import struct
def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])
def field(number, payload):
    return bytes([number << 3 | 2]) + varint(len(payload)) + payload
def number(field_number, value):
    return bytes([field_number << 3]) + varint(value)
def node(op, a, b, y):
    return field(1, field(1, a) + field(1, b) + field(2, y) + field(3, y) + field(4, op))
def value(name):
    shape = field(1, number(1, 4)) * 2
    return field(1, name) + field(2, field(1, number(1, 1) + field(2, shape)))
constant = number(2, 1) + field(8, b"c") + field(9, struct.pack("<f", 6e4))
graph = node(b"Mul", b"x", b"c", b"a") + node(b"Mul", b"a", b"c", b"b") + node(b"Div", b"b", b"c", b"d")
graph += node(b"Div", b"d", b"c", b"y") + field(2, b"g") + field(5, constant) + field(11, value(b"x")) + field(12, value(b"y"))
open("act.onnx", "wb").write(number(1, 8) + field(7, graph) + field(8, number(2, 17)))
PYTHON
expect_exit 0 "$ASSAY" make --from act.onnx --float16 -o y.onnx
expect_has out "kept 2 operators in float32: their values reach 3.6e+09 on these inputs"
expect_has out "4 float32 values checked"
expect_has out "computes float16 in float32 internally"
python3 "$ROOT/tests/formats_same.py" --without '=?[0-9.]+ ([mnµ]?s|[kMG]?B/s)' "$ASSAY" make --from act.onnx --float16 -o y.onnx ||
    fail "formats of what was made differ"
expect_exit 0 "$ASSAY" make --from act.onnx --float16 -o y.onnx --json
json_get out '.drift.note' >note
expect_has note "not of every operation"
expect_exit 0 "$ASSAY" make --from act.onnx --float16 --no-drift -o y.onnx
expect_has out "whether values overflow float16 is unknown: nothing is run (--no-drift)"

# without the engine the file is made and the drift is unavailable, with the reason
expect_exit 0 "$ASSAY" make --from full.onnx --float16 --library /no/such/library.so -o y.onnx --json
expect_equal "$(json_get out '.drift.state')" unavailable
expect_has out "no such file"

# a rewrite that makes the file larger says so, in JSON too; one that makes it smaller does not
"$ASSAY" make mlp --quiet -o small.onnx >/dev/null
node=$("$ASSAY" inspect small.onnx --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["layers"][0]["name"])')
expect_exit 0 "$ASSAY" make --from small.onnx --repeat "$node=100" --no-drift -o large.onnx --json
python3 - <<'PYTHON' || fail "the size of a file that grew"
import json, os
made = json.load(open("out"))
grown = [n for n in made["notes"] if "× as large" in n]
assert made["model"]["bytes"] == os.path.getsize("large.onnx") > os.path.getsize("small.onnx")
assert len(grown) == 1, made["notes"]
assert "%.2f ×" % (os.path.getsize("large.onnx") / os.path.getsize("small.onnx")) in grown[0], grown
PYTHON
expect_exit 0 "$ASSAY" make --from small.onnx --int8 weights -o smaller.onnx --json
[ "$(wc -c <smaller.onnx)" -lt "$(wc -c <small.onnx)" ] || fail "int8 weights are not smaller"
expect_not out '× as large'
