# assay make: the zoo into a file, the list, and what is refused. Nothing is run here.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" make --list
expect_has out "resnet50"
python3 "$ROOT/tests/formats_same.py" "$ASSAY" make --list || fail "formats of the zoo differ"
expect_exit 0 "$ASSAY" make --list --json
expect_equal "$(json_get out '.command')" make
[ "$(json_get out '.zoo.length')" -ge 20 ] || fail "the zoo is not all there"

expect_exit 0 "$ASSAY" make mlp -o mlp.onnx
expect_has out "150,794 parameters"
expect_not out "drift"
[ -s mlp.onnx ] || fail "no file"
expect_exit 0 "$ASSAY" make mlp -o mlp.onnx --json
expect_equal "$(json_get out '.model.parameters')" 150794
expect_equal "$(json_get out '.model.bytes')" "$(wc -c <mlp.onnx | tr -d ' ')"
expect_equal "$(json_get out '.drift')" null
expect_equal "$(json_get out '.times.write.state')" measured
expect_exit 0 "$ASSAY" make mlp -o mlp.onnx --format csv
expect_equal "$(tail -n 1 out | cut -d , -f 1-4)" "mlp.onnx,mlp,$(wc -c <mlp.onnx | tr -d ' '),150794"
expect_exit 0 "$ASSAY" make mlp -o mlp.onnx --format csv --table drift # nothing was rewritten: no rows
expect_lines out 1
cp mlp.onnx kept.onnx

# wrong usage: one line, status 2, nothing written
wrong() { # wrong TEXT ARGUMENT…
    expect_error 2 "$1" "$ASSAY" make "${@:2}"
}
wrong "no model given"
wrong "-o FILE is missing" mlp
wrong "is a file; to rewrite it" mlp.onnx -o y.onnx
wrong "nothing to do" --from mlp.onnx -o y.onnx
wrong "is the model itself" --from mlp.onnx --float16 -o ./mlp.onnx
wrong "cannot be used together" mlp --from mlp.onnx --float16 -o y.onnx
wrong "is not of the form FROM..TO" --from mlp.onnx --extract a,b -o y.onnx
wrong "is not of the form NODE=N" --from mlp.onnx --repeat a -o y.onnx
wrong "is not of the form NAME=N" --from mlp.onnx --fix-dim batch -o y.onnx
wrong "is not a number of elements" --from mlp.onnx --strip=x -o y.onnx
wrong "did you mean" --from mlp.onnx --int8 dynamc -o y.onnx
wrong "assay make --from mlp.onnx … -o model.onnx" --from mlp.onnx --float16
wrong "--list only shows the zoo: give no model and" --list extra
wrong "--list only shows the zoo: give no model and" --list -o y.onnx
wrong "'batch' is given twice" --from mlp.onnx --fix-dim batch=2 --fix-dim batch=3 -o y.onnx
wrong "given twice, as 'weights' and as 'dynamic'" --from mlp.onnx --int8 weights --int8 dynamic -o y.onnx
wrong "'a' is given twice" --from mlp.onnx --extract a,a..b -o y.onnx
wrong "'c' is given twice" --from mlp.onnx --extract ..c,b,c -o y.onnx
wrong "is missing after ':'" mlp: -o y.onnx
wrong "the nearest is 'batch'" mlp:bach=2 -o y.onnx
wrong "has no parameter 'foo' (it takes" mlp:foo=2 -o y.onnx
[ ! -e y.onnx ] || fail "a refused make left a file"

# what cannot be done: one line, status 3, nothing written
cannot() { # cannot TEXT ARGUMENT…
    expect_error 3 "$1" "$ASSAY" make "${@:2}"
    [ ! -e y.onnx ] || fail "a failed make left a file"
}
cannot "nearest" --from mlpp --float16 -o y.onnx
cannot "no model 'nosuch'" --from nosuch --float16 -o y.onnx
printf '\020\000\000\000\000\000\000\000{"a": not json!}' >bad.safetensors
cannot "bad.safetensors: its header" cfc:weights=bad.safetensors -o y.onnx
cannot "No such file" --from no.onnx --float16 -o y.onnx
cannot "no dimension is called 'bach'" --from mlp.onnx --fix-dim bach=2 -o y.onnx
cannot "no node is called" --from mlp.onnx --repeat nope=2 -o y.onnx
cannot "tensor is called" --from mlp.onnx --extract ..nope -o y.onnx
cannot "cannot write" mlp -o no/such/folder/y.onnx
cannot "is a folder" mlp -o .
head -c 5000 mlp.onnx >cut.onnx
cannot "cut.onnx" --from cut.onnx --float16 -o y.onnx
: >empty.onnx
cannot "empty" --from empty.onnx --float16 -o y.onnx

# nothing is left behind beside the target, and the source is as it was
expect_exit 0 "$ASSAY" make --from mlp.onnx --strip --no-drift -o small.onnx
expect_has out "the weights were removed"
[ "$(wc -c <small.onnx)" -lt 10000 ] || fail "the weights are still there"
expect_exit 0 "$ASSAY" make --from mlp.onnx --float16 --no-drift -o half.onnx --json
expect_equal "$(json_get out '.drift.state')" unavailable
expect_has out "not requested"
cmp mlp.onnx kept.onnx || fail "the source was changed"
for file in .*.onnx* *.tmp* .*.tmp*; do
    [ ! -e "$file" ] || fail "$file was left behind"
done

# stripped, it costs the same
expect_exit 0 "$ASSAY" inspect mlp.onnx --json
flops=$(json_get out '.metrics["compute.flops"].value')
expect_exit 0 "$ASSAY" inspect small.onnx --json
expect_equal "$(json_get out '.metrics["compute.flops"].value')" "$flops"
