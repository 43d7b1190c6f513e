# assay memory on a script that leaks: exact counts in JSON, the page in text, what is kept in a profile, and its failures.
. "$ROOT/tests/cli/lib.sh"
leak='steady=1ms;memory=3000;memory_peak=4000;allocate=1000;leak=64;layers=conv:600us:Conv;engine=10us'
expect_exit 0 "$ASSAY" memory --engine fake --script "$leak" --iters 50 --warmup 5 --json -o p.assay
expect_equal "$(json_get out '.command')" memory
expect_equal "$(json_get out '.trials[0].metrics["memory.activation.arena"].value')" 4000
expect_equal "$(json_get out '.trials[0].metrics["memory.peak.device"].value')" null
if [ "$SANITIZED" = yes ] || [ ! -e "$BUILD/libassay-track.so" ]; then
    expect_equal "$(json_get out '.trials[0].metrics["memory.growth"].value')" null
    expect_has out "a plain build to count allocations"
else
    expect_equal "$(json_get out '.trials[0].metrics["memory.allocations"].value')" 2
    expect_equal "$(json_get out '.trials[0].metrics["memory.allocated"].value')" 1064
    expect_equal "$(json_get out '.trials[0].metrics["memory.growth"].value')" 64
    expect_equal "$(json_get out '.trials[0].metrics["memory.growth"].state')" derived
    expect_exit 0 "$ASSAY" report p.assay
    expect_has out "GROWS by 64 B per inference"
    # what is not known of the activations is said beside what is known of the arena
    expect_has out "activations — no model file"
    expect_has out "arena       4.00 kB "
    expect_has out "Allocations by size"
    expect_has out "512 B to 1 KiB"
    expect_has out "assay-worker+0x"
    expect_has out "Allocations by size  phase warm, per inference"
    expect_has out "Allocations by caller  phase warm, per inference"
    grep -Eq '^  prerun +[0-9,]+ ' out || fail "the pre-run is no phase"
    for columns in 40 50 72; do
        expect_exit 0 "$ASSAY" report p.assay --ascii --columns $columns
        awk -v most=$columns 'length($0) > most' out >long
        expect_lines long 0
        # a blank between two numbers of a row, and every column has its cell
        grep -Eq '^  warm +([0-9,]+ +)?[0-9,]+ +[0-9.]+ [kM]?B +([0-9,]+ +)?[0-9.]+ [kM]?B' out || fail "$columns columns: cells run together"
        grep -Eq '^ +(warm +)?512 B to 1 KiB +=1 +=1.00 kB' out || fail "$columns columns: sizes"
        grep -Eq '^ +(0 +)?conv +(Conv +)?[^ ]' out || fail "$columns columns: layers"
    done
    expect_exit 0 "$ASSAY" report p.assay --ascii --columns 60
    LC_ALL=C grep -n '[^ -~]' out && fail "--ascii printed more than ASCII"
    awk 'length($0) > 60' out >long
    expect_lines long 0
    expect_exit 0 "$ASSAY" memory --engine fake --script 'steady=1ms;allocate=64' --iters 50
    expect_has out "no growth per inference was detected"
    expect_has out "=1 allocation "
    expect_has out "=64 B requested"
    # Nothing is allocated by an inference: what is shown is said to be the load's, in all.
    expect_exit 0 "$ASSAY" memory --engine fake --script 'steady=1ms;hold=5000000' --iters 50
    expect_has out "Allocations by size  phase load, total"
    expect_has out "Allocations by caller  phase load, total"
    expect_has out "=0 allocations "
    expect_has out "live bytes were the same"
    # Page faults are those between two readings; one reading alone tells none (on the script's clock the tracked launch does few steps).
    if [ -r /proc/self/stat ]; then
        expect_exit 0 "$ASSAY" memory --engine fake --script 'steady=500ms;pace=10ms;hold=5000000' --iters 20 --warmup 2
        expect_has out " minor page faults"
    fi
    # The tracked worker dies, the rest stands.
    expect_exit 0 "$ASSAY" memory --engine fake --script 'steady=1ms;crash_at=500' --iters 50 --warmup 5
    expect_has out "allocation tracker failed"
    expect_has out "SIGSEGV"
    expect_exit 0 env ASSAY_TRACK_LIBRARY=/no/such/file "$ASSAY" memory --engine fake --script steady=1ms --iters 50
    expect_has out "ASSAY_TRACK_LIBRARY=/no/such/file"
    # A library that is no tracker is not loaded in silence.
    printf 'not a library\n' >broken.so
    expect_exit 0 env ASSAY_TRACK_LIBRARY="$PWD/broken.so" "$ASSAY" memory --columns 200 --engine fake --script steady=1ms --iters 50
    expect_has out "was not loaded"
fi
# What the graph predicts is what inspect says, and a layer's live memory that of its node.
model=$ROOT/tests/fixtures/models/cfc/model.onnx
expect_exit 0 "$ASSAY" inspect "$model" --json
predicted=$(json_get out '.memory.peak_bytes')
node=$(json_get out '.layers[3].name')
live=$(json_get out '.layers[3].live_bytes')
expect_exit 0 "$ASSAY" memory "$model" --engine fake --script "steady=1ms;layers=$node:600us:Conv" --iters 20 --warmup 2 --json
expect_equal "$(json_get out '.trials[0].metrics["memory.activation.predicted"].value')" "$predicted"
expect_equal "$(json_get out '.trials[0].layers[0].live_bytes')" "$live"
# What is not there has a reason, in every row.
expect_exit 0 env ASSAY_FSROOT="$ROOT/tests/fixtures/fsroot-container" "$ASSAY" memory --engine fake \
    --script steady=1ms --iters 50
expect_has out "ASSAY_FSROOT"
expect_not out "ended before it could be read"
expect_exit 3 "$ASSAY" memory --engine fake --script 'open_error=no such thing' --iters 50
expect_has out "FAILED"
expect_lines err 1
expect_error 2 "is not" "$ASSAY" memory no-such-model.onnx --interval soon
expect_error 2 "MODEL is missing" "$ASSAY" memory
