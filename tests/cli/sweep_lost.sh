# plain-only: many workers; its parts run under sanitizers as unit tests
# sweep: a worker that is killed costs one launch, not the point; text, JSON and the status agree; --resume measures that launch again.
# A point whose first launches all fail is given up.
. "$ROOT/tests/cli/lib.sh"

args=(sweep mlp --engine fake --script 'steady=1ms;when_batch=2:steady=1200us;pace=1ms' --batch 1,2 --warmup 0 --iters 60 --launches 4)
"$ASSAY" "${args[@]}" --json -o lost.assay >out 2>err &
sweep=$!
kill_worker $sweep
wait $sweep || fail "status $? after a lost launch"
expect_has err "1 of 2 points lost a launch: judged by the remaining ones; --resume measures it again"
python3 - out <<'EOF' || fail "not the promised JSON"
import json, sys
s = json.load(open(sys.argv[1]))["sweep"]
lost, other = s["points"]
assert lost["usable"] and lost["within_limits"] and lost["reason"] is None, lost
assert lost["lost"].startswith("1 of 4 launches failed; ") and "3" in lost["lost"].rpartition(";")[2], lost
assert other["lost"] is None and s["optimal"] == "batch=2", s["optimal"]
EOF
expect_exit 0 "$ASSAY" report lost.assay --columns 200
expect_has out "batch=1: 1 of 4 launches failed"
expect_not out "  not run  "
expect_has out "NOTE: trial 1 lost 1 of 4 launches: judged by the 3 that are left (launch "
expect_not out FAILED
for format in markdown html; do
    expect_exit 0 "$ASSAY" report lost.assay --format $format
    expect_has out "NOTE: trial 1 lost 1 of 4 launches: judged by the 3 that are left (launch "
    expect_not out "FAILED"
done
expect_exit 0 "$ASSAY" "${args[@]}" --json -o lost.assay --resume
expect_has err "1 of 2 points were complete; 7 launches were reused"
expect_equal "$(json_get out '.sweep.points[0].lost')" null
expect_equal "$("$ASSAY" query lost.assay "SELECT count(*) FROM launches WHERE state='ok'" --csv | tail -n 1)" 8

# a software device alone is measured and not recommended, whichever way it is named
for named in --devices --device; do
    expect_exit 0 env ASSAY_FAKE_DEVICES='gpu=software' "$ASSAY" sweep cfc --engine fake $named gpu --opt all,none --iters 5 --launches 2 -q --json
    expect_equal "$(json_get out '.sweep.optimal')" null
    expect_has out "only a device emulated in software ran,"
done
# "--confirm" is not advised beside its own result
expect_exit 0 "$ASSAY" sweep mlp --engine fake --script 'steady=1ms' --threads 1,2 --warmup 0 --iters 5 --launches 2 --confirm -q --columns 200
expect_has out "not distinguishable from the best"
expect_not out "confirming tests"
# a rate below one has its three digits
expect_exit 0 "$ASSAY" sweep mlp --engine fake --script 'steady=40s' --batch 1,2 --warmup 0 --iters 2 --launches 1 -q
expect_has out "0.0250"
# a point that was given up: the first launches of those asked for, and after --resume it is no complete one
args=(sweep mlp --engine fake --script 'steady=1ms;when_batch=2:open_error=no room' --batch 1,2 --warmup 0 --iters 5 --launches 3 -o gone.assay)
expect_exit 3 "$ASSAY" "${args[@]}" -q --columns 200
expect_has out "FAILED (trial 2): "
expect_has out "the first 2 of 3 launches failed; launch 1: no room"
expect_exit 3 "$ASSAY" "${args[@]}" --resume
expect_has err "1 of 2 points were complete, 1 had failed; 5 launches were reused"
