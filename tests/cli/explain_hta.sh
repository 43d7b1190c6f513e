# What Holistic Trace Analysis said of recorded traces (tests/fixtures/explain/hta.json, written by tests/oracle/hta_numbers.py) against
# assay now: kernel counts, times, idle classes, queue lengths.
. "$ROOT/tests/cli/lib.sh"
traces=$ROOT/../shared/data/traces
[ -d "$traces" ] || skip "no ../shared/data/traces beside the checkout"
cp "$traces"/kineto-*.json.gz "$traces"/labelled/*.json.gz .
python3 "$ROOT/tests/oracle/hta_numbers.py" check "$ROOT/tests/fixtures/explain/hta.json" "$ASSAY" .
