# plain-only: many workers; its parts run under sanitizers as unit tests
# sweep looks at outputs: a device that gives NaN or other numbers is never the best, with a reference and without one;
# the class of the one device; numbers stand apart in tables and carry their marks.
. "$ROOT/tests/cli/lib.sh"

fake=(--engine fake --warmup 0 --iters 20 --launches 1 -q)
export ASSAY_FAKE_DEVICES="cpu;npu"
best() { # best LABEL_OR_NULL: of the sweep in out
    expect_equal "$(json_get out '.sweep.optimal')" "$1"
}

# five times as fast, and all its numbers are NaN
export ASSAY_FAKE_SCRIPTS="npu output=nan;steady=20us"
expect_exit 0 "$ASSAY" sweep cfc "${fake[@]}" --devices cpu,npu --opt none,all -o nan.assay --json
best "device=cpu opt=none"
expect_equal "$(json_get out '.sweep.points[2].outputs_nonfinite')" 4
expect_equal "$(json_get out '.sweep.points[2].outputs_sound')" false
expect_equal "$(json_get out '.sweep.points[0].outputs_sound')" true
expect_exit 0 "$ASSAY" report nan.assay
expect_has out "4 of its output"
# a cell never touches the next one; what was not measured itself says so
sed -n '/^Points/,/^  … /p' out | grep -E '^[>│ ] *[cn]pu' >rows
[ "$(wc -l <rows)" -ge 8 ] || fail "$(cat out)"
grep -qE '[^ ](=|—)' rows && fail "cells touch: $(cat rows)"
grep -qE '(^| )[0-9.]+e[-+][0-9]' rows && fail "a number that nobody reads: $(cat rows)"
grep -qE '=50\.0 k/s' rows || fail "derived numbers carry no mark: $(cat rows)"
expect_exit 0 "$ASSAY" report nan.assay --format csv --table sweep
expect_has out "wrong outputs"
# nothing to compare with; the class of the one device
expect_exit 0 "$ASSAY" sweep cfc "${fake[@]}" --device npu --batch 1,2,4 --json
best null
expect_has out "no point can be recommended: batch=1: "
expect_equal "$(json_get out '.sweep.points[0].class')" npu
expect_exit 0 "$ASSAY" sweep cfc "${fake[@]}" --batch 1,2 --json
best "batch=2"
expect_equal "$(json_get out '.sweep.points[0].class')" cpu

# seven times the CPU's numbers: relative L2 is 6, whichever device is named first
export ASSAY_FAKE_SCRIPTS="npu output=7;steady=20us"
expect_exit 0 "$ASSAY" sweep cfc "${fake[@]}" --devices npu,cpu --threads 1,2 -o far.assay --json
best "device=cpu threads=1"
python3 - <<'PYTHON' || fail "drift"
import json
points = json.load(open("out"))["sweep"]["points"]
assert [p["drift_relative_l2"] for p in points] == [6, 6, None, None], points
assert [p["within_limits"] for p in points] == [False, False, True, True], points
assert " 6" in points[0]["reason"] and "0.01" in points[0]["reason"], points[0]
PYTHON
# allowed afterwards, as the goal and the limits are: nothing is measured again
expect_exit 0 "$ASSAY" sweep cfc "${fake[@]}" --devices npu,cpu --threads 1,2 -o far.assay --resume --allow-drift --json
best "device=npu threads=1"
unset ASSAY_FAKE_DEVICES ASSAY_FAKE_SCRIPTS
