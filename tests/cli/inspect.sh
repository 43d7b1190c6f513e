# assay inspect over small models: the text is exact, the JSON holds what doc/inspect.md promises with the right numbers, and
# unknown operators, conflicts, missing data and hostile names are said, not swallowed.
. "$ROOT/tests/cli/lib.sh"
models=$ROOT/tests/fixtures/models/inspect
cp "$models"/*.onnx .

# text, exactly
golden() { # golden NAME STATUS ARGUMENTS…
    expect_exit "$2" "$ASSAY" "${@:3}"
    expect_golden "inspect-$1" out
}
golden mlp.txt 0 inspect mlp.onnx
golden mlp-40.txt 0 inspect mlp.onnx --columns 40 --batch 4
golden mlp-ascii.txt 0 inspect mlp.onnx --ascii --sort memory --top 2
golden mlp.dot 0 inspect mlp.onnx --dot
golden mlp.csv 0 inspect mlp.onnx --format csv
golden mlp.md 0 inspect mlp.onnx --format markdown
golden unknown.txt 0 inspect unknown.onnx
golden conflict.txt 1 inspect conflict.onnx
golden diff.txt 0 inspect mlp.onnx mlp_more.onnx
for width in 40 47 56 63 71 80 100 120 200; do
    for model in mlp unknown conflict external sequence_input; do
        "$ASSAY" inspect $model.onnx --columns $width >out || [ $model = conflict ] || fail "$model at $width"
        awk -v most=$width '{ gsub(/[\200-\277]/, ""); if (length($0) > most) { print; bad = 1 } } END { exit bad }' out >long ||
            { cat long >&2; fail "$model: lines longer than $width"; }
    done
done
if LC_ALL=C grep -q '[^ -~]' "$ROOT/tests/golden/inspect-mlp-ascii.txt"; then fail "--ascii is not ASCII"; fi

# JSON: exact numbers. fc1: 16x32 multiply-adds and 32 bias additions a sample; fc2: 32x10 and 10
expect_exit 0 "$ASSAY" inspect mlp.onnx --json --batch 2
expect_lines err 0
python3 "$ROOT/tests/schema_check.py" inspect out || fail "not the promised shape"
expect_equal "$(json_get out .command)" inspect
expect_equal "$(json_get out .model.parameters)" 874
expect_equal "$(json_get out .model.nodes)" 4
expect_equal "$(json_get out '.model.inputs[0].shape')" "[2, 16]"
expect_equal "$(json_get out '.model.inputs[0].symbolic_shape')" '["batch", 16]'
expect_equal "$(json_get out '.workload.dims.batch')" 2
expect_equal "$(json_get out '.layers[0].macs')" 1088
expect_equal "$(json_get out '.layers[0].flops')" 2112
expect_equal "$(json_get out '.layers[2].macs')" 660
expect_equal "$(json_get out '.layers[0].bytes_weights')" 2176
expect_equal "$(json_get out '.layers[0].bytes_read')" 2304
expect_equal "$(json_get out '.layers[0].bytes_written')" 256
expect_equal "$(json_get out '.layers[0].outputs[0].symbolic_shape')" '["batch", 32]'
expect_equal "$(json_get out '.memory.peak_bytes')" 512
expect_equal "$(json_get out '.memory.layer')" act
expect_equal "$(json_get out '.metrics["compute.flops"].state')" derived
expect_equal "$(json_get out '.metrics["memory.model"].value')" 3496
expect_equal "$(json_get out '.parameters[0].tensors')" 4
expect_equal "$(json_get out .ncp)" null
expect_exit 0 "$ASSAY" inspect mlp.onnx --json --shape x=7x16 -o file.json
expect_equal "$(json_get file.json '.model.outputs[0].shape')" "[7, 10]"

# an operator nobody knows: counted, named, left out, and its name harmless everywhere
expect_exit 0 "$ASSAY" inspect unknown.onnx --json
python3 "$ROOT/tests/schema_check.py" inspect out || fail "not the promised shape"
expect_equal "$(json_get out '.unknown_operators[0].op')" Frobnicate
expect_equal "$(json_get out '.unknown_operators[0].count')" 2
expect_equal "$(json_get out '.metrics["compute.flops"].value')" null
expect_equal "$(json_get out '.layers[1].flops')" null
for format in text dot csv markdown html; do
    expect_exit 0 "$ASSAY" inspect unknown.onnx --format $format
    if LC_ALL=C grep -q "$(printf '\033')" out; then fail "$format lets an escape through"; fi
    if grep -q "$(printf '\342\200\256')" out; then fail "$format lets a direction override through"; fi
done
expect_exit 0 "$ASSAY" inspect unknown.onnx --format csv
expect_has out "'=cmd()"

# conflicts: status 1, both operators
expect_exit 1 "$ASSAY" inspect conflict.onnx --json
expect_equal "$(json_get out '.conflicts.length')" 1
expect_equal "$(json_get out '.conflicts[0].node')" product
case $(json_get out '.conflicts[0].producer') in left | right) ;; *) fail "the conflict's other side" ;; esac

# what running would need is said, and not needed
expect_exit 0 "$ASSAY" inspect external.onnx
expect_has out "MISSING"
expect_has out "not_there.bin"
# a link may not lead out of the model's folder; where the model is a link too, its own folder counts
mkdir -p linked blobs cache
cp external.onnx linked
head -c 512 /dev/zero >elsewhere.bin
ln -s ../elsewhere.bin linked/not_there.bin
expect_exit 3 "$ASSAY" inspect linked/external.onnx
expect_exit 3 "$ASSAY" check linked/external.onnx --target ane
expect_exit 3 "$ASSAY" make --from linked/external.onnx --strip --no-drift -o stripped.onnx
[ ! -e stripped.onnx ] || fail "a file outside the folder was read"
cp external.onnx blobs/a && cp elsewhere.bin blobs/b
ln -s ../blobs/a cache/external.onnx && ln -s ../blobs/b cache/not_there.bin
expect_exit 0 "$ASSAY" inspect cache/external.onnx
expect_not out "MISSING"
expect_exit 0 "$ASSAY" inspect sequence_input.onnx
expect_has out "inputs keep the shapes"

# one document: every view says the same; the name of a file chooses the format
for model in mlp external sequence_input; do
    python3 "$ROOT/tests/formats_same.py" "$ASSAY" inspect $model.onnx || fail "$model: the views differ"
done
python3 "$ROOT/tests/formats_same.py" "$ASSAY" inspect cfc:seq=4 || fail "cfc: the views differ"
expect_exit 0 "$ASSAY" inspect mlp.onnx -o page.html
python3 "$ROOT/tests/page_check.py" page.html --no-data --sections summary,values,totals,operators,parameters,memory,layers --without unknown ||
    fail "the page is not well made"
expect_exit 0 "$ASSAY" inspect mlp.onnx -o graph.dot
cmp -s graph.dot "$ROOT/tests/golden/inspect-mlp.dot" || fail "graph.dot is no graph"
expect_exit 0 "$ASSAY" inspect mlp.onnx -o by-name.json
expect_equal "$(json_get by-name.json .model.parameters)" 874

# every table and order
expect_exit 0 "$ASSAY" inspect mlp.onnx --format csv --table operators
expect_lines out 4
expect_exit 0 "$ASSAY" inspect mlp.onnx --format csv --table parameters
expect_has out "float32,dense,4,874,3496"
expect_exit 0 "$ASSAY" inspect mlp.onnx --format csv --table metrics
expect_has out "compute.macs,874,MAC,derived,graph,"
expect_exit 0 "$ASSAY" inspect mlp.onnx --format csv --table values
expect_has out "input,x,float32,batch×16,1×16"
expect_exit 0 "$ASSAY" inspect mlp.onnx --format csv --table unknown # no such operator: the head alone
expect_lines out 1
expect_exit 0 "$ASSAY" inspect unknown.onnx --format csv --table unknown
expect_has out "Frobnicate"
expect_exit 0 "$ASSAY" inspect cfc:seq=4 --format csv --table groups
expect_lines out 6
expect_exit 0 "$ASSAY" inspect cfc:seq=4 --format csv --table steps
expect_lines out 5
expect_exit 0 "$ASSAY" inspect mlp.onnx --top 1
expect_has out "3 more layers"
expect_exit 0 "$ASSAY" inspect mlp.onnx --layers
expect_not out "more layers"

# a name of the zoo
expect_exit 0 "$ASSAY" inspect resnet50 --json
expect_equal "$(json_get out .model.parameters)" 25557032
expect_equal "$(json_get out .model.path)" null
python3 "$ROOT/tests/schema_check.py" inspect out || fail "not the promised shape"

# sums hold where bodies run, weights are unpacked at each run, or made by ConstantOfShape
expect_exit 0 "$ASSAY" inspect cfc:seq=4,form=scan --json
python3 "$ROOT/tests/schema_check.py" inspect out || fail "the Scan's sums"
[ "$(json_get out .memory.inside_bodies_bytes)" != 0 ] || fail "the peak has nothing of the body"
expect_exit 0 "$ASSAY" make --from mlp --int8 weights --no-drift -o w8.onnx
expect_exit 0 "$ASSAY" inspect w8.onnx --json
python3 "$ROOT/tests/schema_check.py" inspect out || fail "the quantised model's sums"
expect_exit 0 "$ASSAY" make --from resnet18 --strip --no-drift -o stripped.onnx
expect_exit 0 "$ASSAY" inspect stripped.onnx --json
python3 "$ROOT/tests/schema_check.py" inspect out || fail "the stripped model's sums"
expect_equal "$(json_get out .model.parameters)" 11689512
