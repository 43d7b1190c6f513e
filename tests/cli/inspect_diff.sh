# assay inspect A B: layers are matched by structure, then by name; equal models are called equal.
. "$ROOT/tests/cli/lib.sh"
cp "$ROOT"/tests/fixtures/models/inspect/*.onnx .
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp.onnx
expect_has out "The two models are equal:"
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp.onnx --json
expect_equal "$(json_get out .difference.equal)" true
expect_equal "$(json_get out .difference.layers.same)" 4
expect_equal "$(json_get out .difference.layers.differences)" "[]"
# a layer more, another renamed: renaming is no difference
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp_more.onnx --json
expect_equal "$(json_get out .difference.equal)" false
expect_equal "$(json_get out .difference.layers.same)" 4
expect_equal "$(json_get out .difference.layers.renamed)" 1
expect_equal "$(json_get out .difference.layers.added)" 1
expect_equal "$(json_get out '.difference.layers.differences[0].second.name')" squash
expect_equal "$(json_get out '.difference.operators[0].op')" Tanh
expect_equal "$(json_get out '.difference.operators[0].first')" null
# the other way round it is removed
expect_exit 0 "$ASSAY" inspect mlp_more.onnx mlp.onnx --json
expect_equal "$(json_get out .difference.layers.removed)" 1
# a wider layer: found by name where the shape changed, by structure where only the cost did
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp_wide.onnx --json
expect_equal "$(json_get out .difference.layers.changed)" 3
expect_equal "$(json_get out .difference.layers.same)" 1
expect_equal "$(json_get out '.difference.layers.differences[0].matched_by')" name
expect_equal "$(json_get out '.difference.layers.differences[2].matched_by')" structure
expect_equal "$(json_get out '.difference.parameters[0].second.elements')" 1738
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp_wide.onnx --top 1
expect_has out "2 more layers"
for width in 40 56 80 120; do
    expect_exit 0 "$ASSAY" inspect mlp.onnx mlp_wide.onnx --columns $width
    awk -v most=$width '{ gsub(/[\200-\277]/, ""); if (length($0) > most) { print; bad = 1 } } END { exit bad }' out >long ||
        { cat long >&2; fail "lines longer than $width"; }
done
expect_exit 0 "$ASSAY" inspect mlp.onnx unknown.onnx
expect_exit 1 "$ASSAY" inspect mlp.onnx conflict.onnx
expect_has out "SHAPE CONFLICTS"
# one document: every view says the same, and programs have its tables
for pair in "mlp.onnx mlp_wide.onnx" "mlp.onnx mlp_more.onnx" "mlp.onnx mlp.onnx" "mlp lora"; do
    python3 "$ROOT/tests/formats_same.py" "$ASSAY" inspect $pair || fail "$pair: the views differ"
done
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp_wide.onnx --format csv
expect_lines out 4
expect_has out "changed,fc1,Gemm,Gemm,1×32,1×64,1056,2112,"
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp_wide.onnx --format csv --table totals
expect_has out "model,parameters,count,874,1738,1.98"
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp_wide.onnx --format csv --table parameters
expect_has out '"float32, dense",elements,count,874,1738,'
expect_exit 0 "$ASSAY" inspect mlp.onnx mlp.onnx --format csv --table operators # none differs: the head alone
expect_lines out 1
expect_exit 2 "$ASSAY" inspect mlp.onnx mlp.onnx --format csv --table metrics # of one model
expect_exit 2 "$ASSAY" inspect mlp.onnx mlp.onnx --dot
expect_has err "takes one model"
expect_exit 3 "$ASSAY" inspect mlp.onnx missing.onnx
expect_lines err 1
