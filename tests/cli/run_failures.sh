# A worker that crashes, hangs, exits, is killed or reports an error: one reason, status 3, the samples kept.
. "$ROOT/tests/cli/lib.sh"

try() { # try SCRIPT REASON
    expect_exit 3 "$ASSAY" run --engine fake --script "steady=100us;$1" --warmup 0 --iters 1000 --timeout 3s --layers=off \
        --json -o p.assay
    expect_has err "$2"
    expect_equal "$(json_get out '.trials[0].state')" failed
    expect_equal "$(json_get out '.trials[0].launches[0].state')" failed
    expect_equal "$(json_get out '.trials[0].launches[0].samples')" 50
    expect_equal "$(json_get out '.trials[0].metrics["latency.p50"].value')" 0.0001
    # The file says the same.
    expect_exit 0 "$ASSAY" report p.assay --json
    expect_equal "$(json_get out '.trials[0].launches[0].samples')" 50
    expect_has out "$2"
}

try crash_at=52 "worker crashed: SIGSEGV"
try hang_at=52 "worker hung: no sign of life for 3 s"
try exit_at=52 "worker exited with status 3"
try oom_at=52 "SIGKILL"
try error_at=52 "the script fails step 52"

# Refused while opening: nothing measured, still a profile that says why.
expect_exit 3 "$ASSAY" run --engine fake --script "open_error=the roof is on fire" -o q.assay
expect_has err "the roof is on fire"
expect_lines err 1
expect_has out "FAILED"
expect_exit 0 "$ASSAY" report q.assay --json
expect_equal "$(json_get out '.trials[0].launches[0].samples')" 0
# The report says it too, and a failed run is of the promised shape.
expect_exit 0 "$ASSAY" report q.assay
expect_has out "FAILED"
expect_has out "the roof is on fire"
expect_exit 3 "$ASSAY" run --engine fake --script 'steady=100us;error_at=40' --iters 100 --json
python3 "$ROOT/tests/schema_check.py" run out || fail "a failed run is not of the promised shape"
expect_equal "$(json_get out '.trials[0].state')" failed
expect_exit 3 "$ASSAY" run --engine fake --script steady=1us --iters 5 -o no/such/folder/p.assay
expect_lines err 1
