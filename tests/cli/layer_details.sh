# What a profile keeps of layers: the times of each launch with their interval, shapes and attributes, the tensors at the peak.
. "$ROOT/tests/cli/lib.sh"
export LC_ALL=C.UTF-8

# six launches of the fake engine: exact times, an interval of no width
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us;layers=conv:60us:Conv,relu:30us:Relu;engine=7us' \
    --iters 20 --launches 6 -q -o six.assay
expect_exit 0 "$ASSAY" report six.assay --json
python3 - out <<'PYTHON' || fail "the interval of a layer is not right"
import json, sys
t = json.load(open(sys.argv[1], encoding="utf-8"))["trials"][0]
conv = t["layers"][0]
assert (conv["time_us"], conv["time_low_us"], conv["time_high_us"]) == (60, 60, 60), conv
assert t["layer_timing"]["launches"] == 6 and t["layer_timing"]["interval_reason"] is None
assert conv["inputs"] is None and t["peak"] is None, "a script has no graph"
PYTHON
expect_exit 0 "$ASSAY" query six.assay 'SELECT count(*) AS n, sum(time_ns) AS ns FROM layer_times' --csv
expect_has out '12,540000'
expect_exit 0 "$ASSAY" report six.assay --format csv --table layer-times
expect_lines out 13
expect_has out '1,0,6,conv,60'

# one launch: none, and what would give one
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us;layers=conv:60us:Conv' --iters 20 -q -o one.assay
expect_exit 0 "$ASSAY" report one.assay --json
expect_has out 'an interval needs the layers of at least 5 launches'
expect_has out '"time_low_us": null'
expect_exit 0 "$ASSAY" report one.assay six.assay --json
expect_has out '"layers_interval_reason": "each side needs the layers of at least 5 launches"'

# a real graph: shapes, weights, attributes; the tensors at the peak sum to what the graph needs
expect_exit 0 "$ASSAY" run cfc --iters 5 --warmup 0 -q -o real.assay
expect_exit 0 "$ASSAY" report real.assay --json
python3 - out <<'PYTHON' || fail "shapes or the peak are not right"
import json, sys
t = json.load(open(sys.argv[1], encoding="utf-8"))["trials"][0]
gemm = [l for l in t["layers"] if l["from"] == ["/step0/inter/time_a/Gemm"]][0]
assert gemm["inputs"] == "1x61 float32" and gemm["outputs"] == "1x29 float32", gemm
assert gemm["weights"] == "29x61 float32, 29 float32" and gemm["attributes"] == "transB 1", gemm
peak = t["peak"]
assert sum(x["bytes"] for x in peak["tensors"]) == peak["bytes"] == t["metrics"]["memory.activation.predicted"]["value"]
assert peak["rest_bytes"] == 0 and peak["alive"] == len(peak["tensors"]) and peak["node"]
PYTHON
expect_exit 0 "$ASSAY" report real.assay -o page.html
expect_has page.html 'Alive at the peak'
expect_has page.html '29x61 float32, 29 float32'
expect_exit 0 "$ASSAY" report real.assay --format csv --table peak
expect_has out 'trial,position,name,type,bytes,producer,op,first,last'
