# Nothing that a model is made of is ever written over: not its file, its external data, its package or its weights file.
. "$ROOT/tests/cli/lib.sh"

# a model with its weights outside, written by hand: MatMul of x [1, 4] with w [4, 4] in e.data
python3 - <<'PYTHON'
def field(number, payload):
    return bytes([number << 3 | 2]) + varint(len(payload)) + payload
def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])
def number(field_number, value):
    return bytes([field_number << 3]) + varint(value)
def entry(key, value):
    return field(13, field(1, key) + field(2, value))
def tensor_value(name, *dims):
    shape = b"".join(field(1, number(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, number(1, 1) + field(2, shape)))
def model(location):
    node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(3, b"product") + field(4, b"MatMul")
    weight = number(1, 4) + number(1, 4) + number(2, 1) + field(8, b"w") + entry(b"location", location) + number(14, 1)
    graph = field(1, node) + field(2, b"g") + field(5, weight)
    graph += field(11, tensor_value(b"x", 1, 4)) + field(12, tensor_value(b"y", 1, 4))
    return number(1, 8) + field(7, graph) + field(8, number(2, 17))
open("e.onnx", "wb").write(model(b"e.data"))
open("a.onnx", "wb").write(model(b"b.onnx.data"))
for name in "e.data", "b.onnx.data":
    open(name, "wb").write(bytes(64))
PYTHON
expect_exit 0 "$ASSAY" inspect e.onnx
cp e.data kept
ln e.data hard
ln -s e.data soft
for target in e.data ./e.data hard soft; do
    expect_error 2 "holds the model's weights" "$ASSAY" make --from e.onnx --float16 --no-drift -o $target
    expect_error 2 "holds the model's weights" "$ASSAY" inspect e.onnx -o $target
    expect_error 2 "holds the model's weights" "$ASSAY" inspect mlp e.onnx -o $target
done
expect_error 2 "is the model itself" "$ASSAY" make --from e.onnx --float16 --no-drift -o e.onnx
expect_error 2 "b.onnx.data holds the model's weights" "$ASSAY" make --from a.onnx --float16 --no-drift -o b.onnx
cmp e.data kept || fail "the weights were changed"
expect_exit 0 "$ASSAY" make --from e.onnx --float16 --no-drift -o half.onnx

# a package: nothing goes into it
cp -R "$ROOT"/tests/fixtures/coreml/flow.mlpackage .
chmod -R u+w flow.mlpackage
for target in Data/com.apple.CoreML/model.mlmodel Manifest.json new.txt; do
    expect_error 2 "inside the model's package" "$ASSAY" inspect flow.mlpackage -o flow.mlpackage/$target
done
diff -r flow.mlpackage "$ROOT"/tests/fixtures/coreml/flow.mlpackage || fail "the package was changed"
expect_exit 0 "$ASSAY" inspect flow.mlpackage -o out.txt

# operators of its branches and loops are part of what it is made of
expect_has out.txt "made of"
expect_exit 0 "$ASSAY" inspect flow.mlpackage --columns 200
for operator in mul add tile squeeze; do
    sed -n '/made of/,/inputs/p' out | grep -qw $operator || fail "made of: $operator of a body is missing"
done
expect_exit 0 "$ASSAY" inspect flow.mlpackage mlp
nodes=$(sed -n 's/^ *nodes *\([0-9]*\) .*/\1/p' out)
expect_exit 0 "$ASSAY" inspect flow.mlpackage
grep -qE "numbers +nodes $nodes " out || fail "not the $nodes nodes of the comparison"

# versions that are not known here are said
python3 - <<'PYTHON'
data = open("a.onnx", "rb").read()
old = bytes([8 << 3 | 2, 2, 2 << 3, 17])
assert data.endswith(old)
open("new.onnx", "wb").write(bytes([8, 14]) + data[2:-1] + bytes([30]))
open("old.onnx", "wb").write(data[:-1] + bytes([6]))
PYTHON
expect_exit 0 "$ASSAY" inspect new.onnx --columns 200
expect_has out "operator set 30 is newer than"
expect_has out "IR version 14 is newer than"
expect_exit 0 "$ASSAY" inspect old.onnx --json
json_get out '.model.version_note' >note
expect_has note "operator set 6 is older than 7"
expect_exit 0 "$ASSAY" inspect a.onnx --json
expect_equal "$(json_get out '.model.version_note')" null
