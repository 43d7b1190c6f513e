# plain-only: it measures; test_ceiling_cache runs the same under sanitizers
# devices --ceilings: measured once, then kept; asked again only when told to; Ctrl-C; bad options. One row only: time.
. "$ROOT/tests/cli/lib.sh"
export XDG_CACHE_HOME=$PWD/cache
rows=(--ceilings --only compute.float32.one-core)
expect_exit 0 "$ASSAY" devices "${rows[@]}" --json
expect_lines err 0
cp out first
python3 "$ROOT/tests/schema_check.py" devices out || fail "devices --ceilings --json"
expect_equal "$(json_get out '.devices[0].ceilings_state')" measured
expect_equal "$(json_get out '.devices[0].ceilings["compute.float32.one-core"].state')" measured
expect_equal "$(json_get out '.devices[0].ceilings["compute.float32.one-core"].unit')" FLOP/s
expect_equal "$(json_get out '.devices[0].ceilings["compute.float32.one-core"].threads')" 1
expect_equal "$(json_get out '.devices[0].ceilings_measurement.from_cache')" false
# the second time: the same numbers, and when they were measured
expect_exit 0 "$ASSAY" devices "${rows[@]}" --json
expect_equal "$(json_get out '.devices[0].ceilings_measurement.from_cache')" true
for path in '.ceilings_measurement.measured_at' '.ceilings["compute.float32.one-core"].value'; do
    expect_equal "$(json_get out ".devices[0]$path")" "$(json_get first ".devices[0]$path")"
done
expect_exit 0 "$ASSAY" devices "${rows[@]}"
expect_has out "measured    $(json_get first .devices[0].ceilings_measurement.measured_at)"
expect_has out "loaded from file"
expect_has out "GFLOP/s"
expect_exit 0 "$ASSAY" devices "${rows[@]}" --remeasure --json
expect_equal "$(json_get out '.devices[0].ceilings_measurement.from_cache')" false
# only when asked; only of the CPU
expect_exit 0 "$ASSAY" devices --json
python3 "$ROOT/tests/schema_check.py" devices out || fail "devices --json"
expect_equal "$(json_get out '.devices[0].ceilings_state')" unavailable
expect_has out "not requested"
# another machine cannot be measured: a reason, not a failure
mkdir -p machine/proc
echo 'processor : 0' >machine/proc/cpuinfo
ASSAY_FSROOT=$PWD/machine expect_exit 0 "$ASSAY" devices "${rows[@]}"
expect_has out "measured    — ASSAY_FSROOT"
# the file cannot be written: said, and the values are there
: >file
XDG_CACHE_HOME=$PWD/file expect_exit 0 "$ASSAY" devices "${rows[@]}"
tr -s " \n" " " <out >flat
expect_has flat "not saved for next time:"
expect_has out "GFLOP/s"
expect_error 2 "--remeasure needs --ceilings" "$ASSAY" devices --remeasure
expect_error 2 "--only needs --ceilings" "$ASSAY" devices --only compute
expect_error 2 "starts with 'nothing'" "$ASSAY" devices --ceilings --only nothing
# a name that only the CPU has: a device says that it has none, the others are not asked in vain
ASSAY_FAKE_DEVICES='cpu;gpu:0' expect_exit 0 "$ASSAY" devices --engine fake --ceilings --only latency.l1
expect_has out "gpu:0       — it has no ceiling whose name starts with 'latency.l1'"
expect_not out "Ceilings of gpu:0"
expect_has out "chain through"
ASSAY_FAKE_DEVICES='cpu;gpu:0' expect_exit 0 "$ASSAY" devices --engine fake --ceilings --only latency.l1 --device gpu:0 --json
expect_equal "$(json_get out '.devices[0].ceilings_state')" unavailable
expect_has out "no ceiling whose name starts with"
# the same in every format, and a line for each ceiling in CSV
ASSAY_FAKE_DEVICES='cpu;gpu:0' python3 "$ROOT/tests/formats_same.py" "$ASSAY" devices --engine fake --ceilings --only latency.l1 || fail "formats differ"
ASSAY_FAKE_DEVICES='cpu;gpu:0' expect_exit 0 "$ASSAY" devices --engine fake --ceilings --only latency.l1 --format csv --table ceilings
expect_lines out 2
expect_equal "$(tail -n 1 out | cut -d, -f 1,2,4,7)" cpu,latency.l1,s,measured
# as wide as it is told to be
for columns in 40 60 80; do
    expect_exit 0 "$ASSAY" devices --engine fake --ceilings --only latency.l1 --columns $columns --ascii
    if awk -v most=$columns 'length($0) > most { wide = 1 } END { exit !wide }' out; then
        fail "wider than $columns columns: $(cat out)"
    fi
done
expect_error 2 "is not between 40 and 1000" "$ASSAY" devices --columns 20
# another machine: no advice that cannot work
ASSAY_FSROOT=$PWD/machine expect_exit 0 "$ASSAY" devices --engine fake
expect_not out "measures them"
# interrupted: status 130, one line, the rows until then, nothing kept
for seconds in 2 4 8; do # a busy machine may need longer for the first row
    rm -rf cache
    "$ASSAY" devices --engine fake --ceilings >out 2>err &
    pid=$!
    sleep $seconds
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    expect_equal "$status" 130
    expect_lines err 1
    expect_has err interrupted
    if ls cache/assay/ceilings-* >/dev/null 2>&1; then fail "an interrupted measurement was kept"; fi
    if grep -q "FLOP/s" out; then break; fi
    expect_has out "interrupted before anything was measured"
done
expect_has out incomplete
expect_has out "GFLOP/s"
