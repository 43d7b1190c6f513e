# A run that fails before its first sample leaves the profile that was there; one that measured replaces it.
. "$ROOT/tests/cli/lib.sh"
samples() { "$ASSAY" query "$1" "SELECT count(*) FROM samples" --csv | tail -n 1; }

expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us' --warmup 0 --iters 20 --launches 1 -q -o p.assay
cp p.assay copy
expect_exit 3 "$ASSAY" run --engine fake --script 'open_error=no such thing' --iters 50 -q -o p.assay
expect_has err "no such thing"
cmp p.assay copy || fail "a failed run replaced the profile"
[ ! -e p.assay.previous ] || fail "p.assay.previous is left"

expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us' --warmup 0 --iters 30 --launches 1 -q -o p.assay
! cmp -s p.assay copy || fail "a run that measured did not replace the profile"
[ "$(samples p.assay)" -gt 0 ] || fail "no sample in the new profile"
[ "$(ls p.assay*)" = p.assay ] || fail "files are left: $(ls p.assay*)"

# no other command replaces a profile, nor a report another model
cp p.assay copy
expect_error 2 p.assay "$ASSAY" make cfc -o p.assay
expect_error 2 p.assay "$ASSAY" inspect cfc --format csv -o p.assay
expect_error 2 p.assay "$ASSAY" inspect cfc mlp --format csv -o p.assay
expect_error 2 p.assay "$ASSAY" check cfc --target ane --format json -o p.assay
expect_error 2 p.assay "$ASSAY" predict cfc --chip M1 --format json -o p.assay
cmp p.assay copy || fail "a profile was replaced"
expect_exit 0 "$ASSAY" make cfc -o other.onnx
cp other.onnx copy
expect_error 2 other.onnx "$ASSAY" inspect mlp --format csv -o other.onnx
expect_error 2 other.onnx "$ASSAY" report p.assay --format csv -o other.onnx
cmp other.onnx copy || fail "a model was replaced by a report"
expect_exit 0 "$ASSAY" make mlp -o other.onnx # by another model it may be
