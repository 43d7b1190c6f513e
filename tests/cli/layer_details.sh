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

# what a layer is called is the same in JSON, CSV, the database and the text, also where the engine has names of its own
expect_exit 0 "$ASSAY" run mobilenetv2:image=32 --iters 3 --launches 1 -q -o names.assay --json
cp out names.json
expect_exit 0 "$ASSAY" report names.assay --format csv --table layers
cp out names.csv
expect_exit 0 "$ASSAY" query names.assay 'SELECT title, name FROM layers ORDER BY trial, position' --csv
cp out names.db
expect_exit 0 "$ASSAY" report names.assay --full
python3 - <<'PYTHON' || fail "layers have several names"
import csv, json
layers = json.load(open('names.json'))['trials'][0]['layers']
titles = [l['title'] for l in layers]
rows = [r for r in csv.DictReader(open('names.csv')) if r['index']]
stored = list(csv.DictReader(open('names.db')))
assert sorted(r['layer'] for r in rows) == sorted(titles), "CSV"
assert [r['title'] for r in stored] == titles and [r['name'] for r in stored] == [l['name'] for l in layers], "database"
assert any(l['title'] != l['name'] for l in layers), "the engine renames none: nothing is tested"
text = open('out', encoding='utf-8').read()
longest = max((l for l in layers if l['time_us']), key=lambda l: l['time_us'])
assert longest['title'] in text.replace('\n', ''), longest
PYTHON

# a name as long as some converters make them leaves the first sentence readable
long=$(printf "model_1/re_lu_1/Relu+%.0s" 1 2 3 4 5)
expect_exit 0 "$ASSAY" run --engine fake --script "steady=100us;layers=$long:60us:Conv,relu:30us:Relu" --iters 5 -q
expect_has out 'takes 60 %'
expect_has out '…'

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
"$ASSAY" report real.assay --json >real.json
expect_has real.json '29x61 float32, 29 float32'
python3 "$ROOT/tests/page_check.py" page.html --json real.json || fail "the page does not have the details"
expect_exit 0 "$ASSAY" report real.assay --format csv --table peak
expect_has out 'trial,position,name,type,bytes,producer,op,first,last'
