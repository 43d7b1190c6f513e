# assay counters: exact counts of a script, what this machine really has, and every row that it has not says why.
. "$ROOT/tests/cli/lib.sh"
value() { json_get out ".trials[0].metrics[\"$1\"].value"; }

expect_exit 0 "$ASSAY" counters --engine fake --json --iters 100 --script \
    "steady=100us;layers=conv:60us:Conv,relu:30us:Relu;counts=cycles:4000,instructions:10000,task-clock:50000"
expect_equal "$(json_get out .command)" counters
expect_equal "$(value hardware.cycles)" 4000
expect_equal "$(value hardware.ipc)" 2.5
expect_equal "$(value hardware.task_clock)" 5e-05
expect_equal "$(value hardware.cache_misses)" null

# The table by kind of layer explains its column "counted" where it has one, and only there.
script='steady=100us;layers=conv:60us:Conv,relu:30us:Relu;counts=cycles:4000,task-clock:50000'
expect_exit 0 "$ASSAY" counters --engine fake --iters 100 --columns 200 --script "$script"
expect_has out "Counters by kind of layer"
expect_not out '"counted"'
expect_exit 0 "$ASSAY" counters --engine fake --iters 100 --columns 200 --script "$script,elapsed:110000"
grep -Eq '^ *(kind|operator|layers).* counted' out || fail "no column 'counted': $(grep -A3 'by kind' out)"
grep -q '"counted"' out || fail "the column 'counted' is not explained"

# A run with --counters has them too, and one without says how to get them.
expect_exit 0 "$ASSAY" run --engine fake --counters --iters 100 --script "steady=100us;counts=cycles:4000"
grep -Eq '^  cycles +4,000 ' out || fail "the cycles are not shown"
expect_exit 0 "$ASSAY" run --engine fake --iters 100 --script "steady=100us;counts=cycles:4000"
expect_not out "Counters "

expect_error 2 "MODEL is missing" "$ASSAY" counters
expect_error 2 "cannot be used together" "$ASSAY" counters cfc --iters 5 --time 1s

[ -e "$BUILD/onnxruntime" ] || [ -n "${ASSAY_ORT_LIBRARY-}" ] || skip "no ONNX Runtime is set up here"
expect_exit 0 "$ASSAY" counters cfc --time 200ms --json
python3 - <<'PYTHON'
import json
trial = json.load(open("out"))["trials"][0]
metrics = trial["metrics"]
names = ["cycles", "instructions", "ipc", "cache_references", "cache_misses", "llc_loads", "llc_load_misses", "branches",
         "branch_misses", "stalled_frontend", "stalled_backend", "task_clock", "page_faults", "context_switches", "migrations"]
for name in names:
    metric = metrics["hardware." + name]
    if metric["value"] is None:
        assert metric["state"] == "unavailable" and len(metric["note"]) > 20, (name, metric)
    else:
        assert metric["state"] in ("measured", "derived") and metric["value"] >= 0, (name, metric)
clock, latency = metrics["hardware.task_clock"]["value"], metrics["latency.p50"]["value"]
if clock is not None:  # the worker's CPU time of an inference is of the order of its time
    assert latency / 100 < clock < 1000 * latency + 1, (clock, latency)
assert 0.1 < metrics["overhead.counters"]["value"] < 10
PYTHON
