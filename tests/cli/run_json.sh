# The numbers of a scripted run, exactly, through the command line.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" run --engine fake --json --iters 1000 --warmup 5 --launches 2 \
    --script "load=2ms;compile=3ms;first=9ms;steady=100us;layers=conv:60us:Conv,relu:30us:Relu;engine=4us"
expect_equal "$(json_get out '.trials[0].state')" ok
expect_equal "$(json_get out '.trials[0].metrics["latency.p50"].value')" 0.0001
expect_equal "$(json_get out '.trials[0].metrics["latency.p50"].state')" measured
expect_equal "$(json_get out '.trials[0].metrics["latency.p50"].source')" clock
expect_equal "$(json_get out '.trials[0].metrics["timing.first"].value')" 0.009
expect_equal "$(json_get out '.trials[0].metrics["latency.p999"].value')" null
expect_equal "$(json_get out '.trials[0].launches.length')" 2
expect_equal "$(json_get out '.trials[0].layers.length')" 2
expect_equal "$(json_get out '.trials[0].layers[0].time_us')" 60
expect_equal "$(json_get out '.trials[0].engine_us')" 4
expect_equal "$(json_get out '.trials[0].unattributed_us')" 6
expect_equal "$(json_get out '.trials[0].stability.verdict')" stable
# what a launch did, told apart: kept = warm-up found + counted; before them the pre-run
expect_equal "$(json_get out '.trials[0].launches[0].prerun')" 5
python3 - <<'PYTHON' || fail "the counts of the launches"
import json
t = json.load(open("out"))["trials"][0]
found, counted, prerun = 0, 0, 0
for l in t["launches"]:
    assert l["samples"] == l["warmup"] + l["counted"], l
    found, counted, prerun = found + l["warmup"], counted + l["counted"], prerun + l["prerun"]
assert counted == t["metrics"]["latency.samples"]["value"], t["launches"]
assert found + prerun == t["metrics"]["latency.warmup"]["value"], t["launches"]
PYTHON
