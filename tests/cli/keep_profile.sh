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
