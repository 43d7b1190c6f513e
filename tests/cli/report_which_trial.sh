# The numbers above a comparison and a sweep name the trial they belong to and what the throughput counts; the table of a
# comparison says why a drift is missing; the tensors at the peak have their type and their shape apart.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" sweep mlp --engine fake --script 'steady=1ms;when_batch=4:steady=2ms' --batch 1,4 --warmup 0 --iters 5 --launches 2 -q -o s.assay --columns 200
grep -q "^Best throughput: batch=4, 2.00 k/s" out || fail "the first sentence does not name the best"
grep -qE "numbers +p50 of the best 2.00 ms" out || fail "the trial of the numbers is not named"
grep -q "samples/s =2,000" out || fail "what the throughput counts is not said"
expect_exit 0 "$ASSAY" report s.assay --format html
expect_has out "p50 of the best"
expect_exit 0 env ASSAY_FAKE_DEVICES='cpu;gpu:0' "$ASSAY" compare mlp --devices cpu,gpu:0 --engine fake --warmup 0 --iters 5 --launches 5 -q -o c.assay --columns 200
grep -qE "p50 +cpu .* · gpu:0 " out || fail "the trials of the numbers are not named"
grep -qE " per second  .*medians|^Numbers" out || fail "no numbers"
expect_exit 0 "$ASSAY" run mlp --engine fake --warmup 0 --iters 5 -q
expect_not out "of the best"
# a comparison of models whose outputs have other shapes: no drift, and the reason in its column
gzip -dc "$ROOT/tests/golden/0.1.0/profiles/compare-models.assay.gz" >m.assay
for profile in c m; do
    expect_exit 0 "$ASSAY" report $profile.assay --format csv --table comparison
    python3 - <<'PYTHON' || fail "$profile: a missing drift has no reason, or a known one has"
import csv, sys
with open("out", encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
sys.exit(len(rows) < 2 or any((row["drift_relative_l2"] == "") != (row["drift_reason"] != "") for row in rows))
PYTHON
done
expect_has out "its shape differs"
gzip -dc "$ROOT/tests/golden/0.1.0/profiles/memory.assay.gz" >p.assay
expect_exit 0 "$ASSAY" report p.assay --format csv --table peak
python3 - <<'PYTHON' || fail "type and shape are not apart"
import csv, sys
with open("out", encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
sys.exit(not rows or any(row["type"] != row["shape"] + " " + row["dtype"] for row in rows))
PYTHON
expect_exit 0 "$ASSAY" report p.assay --columns 200
grep -qE "^  tensor +shape +type +size" out || fail "type and shape are one column"
