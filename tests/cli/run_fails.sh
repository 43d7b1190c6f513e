# A worker that fails is status 3, its reason in the report and on stderr, and the kept profile says the same.
. "$ROOT/tests/cli/lib.sh"
expect_exit 3 "$ASSAY" run --engine fake --script 'open_error=no such thing' --iters 50 -o p.assay
expect_has out "FAILED"
expect_has err "no such thing"
expect_lines err 1
expect_exit 0 "$ASSAY" report p.assay
expect_has out "FAILED"
expect_has out "no such thing"
expect_exit 3 "$ASSAY" run --engine fake --script 'steady=100us;error_at=40' --iters 100 --json
python3 "$ROOT/tests/schema_check.py" run out || fail "a failed run is not of the promised shape"
expect_equal "$(json_get out '.trials[0].state')" failed
expect_exit 3 "$ASSAY" run --engine fake --script steady=1us --iters 5 -o no/such/folder/p.assay
expect_lines err 1
