# plain-only: many workers; its parts run under sanitizers as unit tests
# sweep: a grid of points in one profile; best, JSON, limits, a point that fails, wrong usage.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "ONNX Runtime is not here"
expect_exit 0 "$ASSAY" sweep mlp --batch 1,4 --threads 1,2 --iters 10 --launches 2 --json -o s.assay
expect_equal "$(json_get out '.command')" sweep
expect_equal "$(json_get out '.sweep.axes[0]')" threads
expect_equal "$(json_get out '.sweep.points[3].label')" "threads=2 batch=4"
expect_equal "$(json_get out '.sweep.points[3].values.batch')" 4
expect_equal "$(json_get out '.trials[3].workload.batch')" 4
expect_equal "$(json_get out '.sweep.points[3].usable')" true
expect_exit 0 "$ASSAY" report s.assay
grep -q "^Points " out || fail "no table of the points"
grep -Eq "^(Best throughput:|Not judged:)" out || fail "no verdict" # on a busy machine there is none
# a precision is a rewritten copy that really runs; a limit nobody keeps is said
expect_exit 0 "$ASSAY" sweep mlp --precision float32,float16 --iters 5 --launches 1 --slo p50=1us
expect_has out "point is within the limits"
expect_has out "precision=float16"
expect_error 2 "nothing varies" "$ASSAY" sweep mlp --batch 1
expect_error 2 "is not allowed" "$ASSAY" sweep mlp --batch 1,x
expect_error 2 "is not allowed" "$ASSAY" sweep mlp --batch ,
expect_error 2 "is not of the form p99=20ms" "$ASSAY" sweep mlp --batch 1,2 --slo fast
expect_error 2 "has no unit: write p99=20ms" "$ASSAY" sweep mlp --batch 1,2 --slo p99=20
expect_error 2 "has several limits" "$ASSAY" sweep mlp --batch 1,2 --slo p99=20ms,p50=10ms
# A second limit is refused, of the same percentile or of another; the same one again is not a second.
expect_error 2 "--slo is given twice, as 'p99=20ms' and as 'p99=1ms'" "$ASSAY" sweep mlp --batch 1,2 --slo p99=20ms --slo p99=1ms
expect_error 2 "--slo is given twice, as 'p99=20ms' and as 'p50=1ms'" "$ASSAY" sweep mlp --batch 1,2 --slo=p99=20ms --slo p50=1ms
expect_error 2 "is not of the form p99=20ms" "$ASSAY" sweep mlp --batch 1,2 --slo fast --slo fast
expect_error 2 "--memory-budget is given twice" "$ASSAY" sweep mlp --batch 1,2 --memory-budget 1MB --memory-budget 2MB
expect_error 2 "give none, basic, extended, all" "$ASSAY" sweep mlp --opt wrong
# a device that is not there is a point that failed, the rest is measured
expect_exit 3 "$ASSAY" sweep mlp --devices cpu,cuda:7 --iters 5 --launches 1 --json
expect_equal "$(json_get out '.sweep.points[1].usable')" false
expect_has err "1 of 2 points could not be measured"
expect_error 2 "whole numbers from 1 to 999999999" "$ASSAY" sweep mlp --batch 1,1000000000
