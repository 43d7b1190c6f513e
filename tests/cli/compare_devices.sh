# compare: devices of the fake engine, each with a script of its own: who ran the nodes, and every way in which one goes wrong
# while the others stay whole.
. "$ROOT/tests/cli/lib.sh"
model=$ROOT/tests/fixtures/models/encoder/model.onnx
export ASSAY_FAKE_DEVICES='cpu;npu;gpu'
# exact times: each arm's launches have one and the same median
compare() { "$ASSAY" compare "$model" --engine fake --script 'steady=100us' --launches 5 --iters 20 --no-power "$@"; }
flat() { tr -s ' \n' ' ' <out >flat; }

# twice as fast, with two nodes elsewhere: named, counted, sized; a kept profile says the same, word for word
ASSAY_FAKE_ASSIGNMENT=Softmax ASSAY_FAKE_SCRIPTS='npu steady=50us' expect_exit 0 compare --devices cpu,npu -o kept.assay
cp out shown
flat
expect_has flat "npu =2 × (2 to 2)"
expect_has flat "npu 84 2 =3 =4 =65.5 kB =98.8 %"
expect_has flat "CPUExecutionProvider ran node_Softmax_74 (Softmax), node_Softmax_163 (Softmax)"
expect_has flat "latency npu: 2 × as fast as cpu, the next best (95 % CI 2 to 2); 2 of its 86 nodes ran elsewhere"
expect_exit 0 "$ASSAY" report kept.assay
cmp -s out shown || fail "the kept profile gives another report"
expect_exit 0 "$ASSAY" report kept.assay --json
python3 - out <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
cpu, npu = d["comparison"]["rows"]
assert cpu["placement"] is None and cpu["drift"] is None, cpu
p = npu["placement"]
assert (p["nodes"], p["elsewhere"], p["partitions"], p["crossings"]) == (84, 2, 3, 4), p
assert p["names"] == ["node_Softmax_74 (Softmax)", "node_Softmax_163 (Softmax)"], p
assert p["crossing_time_s"] is None and "not timed" in p["crossing_time_reason"], p
assert npu["drift"]["nonfinite"] == 0 and npu["drift"]["max_absolute"] == 0, npu
assert npu["speedup"] == npu["speedup_low"] == npu["speedup_high"] == 2, npu
assert d["comparison"]["recommendation"]["latency"] == "npu"
assert d["trials"][1]["metrics"]["placement.elsewhere"]["value"] == 2
PYTHON
expect_exit 0 "$ASSAY" report kept.assay --format csv
expect_lines out 3
python3 - out <<'PYTHON'
import csv, sys
cpu, npu = csv.DictReader(open(sys.argv[1]))
assert cpu["role"] == "reference" and cpu["speedup"] == "" and cpu["nodes"] == "", cpu
assert float(npu["speedup"]) == 2 and npu["verdict"] == "faster" and npu["elsewhere"] == "2", npu
assert npu["recommended_for"] == "latency throughput" and npu["energy_j"] == "", npu
PYTHON
expect_exit 0 "$ASSAY" report kept.assay --format markdown
expect_has out "## Comparison"
expect_has out "| =2 × (2 to 2) | "
for columns in 40 80; do
    expect_exit 0 "$ASSAY" report kept.assay --ascii --columns $columns
    python3 -c 'import sys; lines = open("out").read().split("\n"); sys.exit(any(len(l) > int(sys.argv[1]) for l in lines))' $columns ||
        fail "a line is longer than $columns"
done

# copies that the engine timed: 3 and 4 µs
ASSAY_FAKE_ASSIGNMENT=Softmax ASSAY_FAKE_SCRIPTS='npu layers=a:60us:MatMul,c1:3us:MemcpyToHost,c2:4us:MemcpyFromHost' \
    expect_exit 0 compare --devices cpu,npu --layers=engine --columns 200
flat
expect_has flat "=4 =65.5 kB =7.00 µs"

# it runs nothing of the model: said, and not recommended however fast
everything=$(python3 - "$ROOT/tests/fixtures/models/encoder/model.onnx" "$ASSAY" <<'PYTHON'
import json, subprocess, sys
d = json.loads(subprocess.run([sys.argv[2], "inspect", sys.argv[1], "--json"], capture_output=True, text=True, check=True).stdout)
print(",".join(sorted({layer["op"] for layer in d["layers"]})))
PYTHON
)
ASSAY_FAKE_ASSIGNMENT=$everything ASSAY_FAKE_SCRIPTS='npu steady=50us' expect_exit 0 compare --devices cpu,npu
flat
expect_has flat "npu: none of the 86 nodes ran on it, all on CPUExecutionProvider"
expect_has flat "latency cpu: the only candidate that ran"
# the engine cannot say, or refuses to
ASSAY_FAKE_ASSIGNMENT=refuse expect_exit 0 compare --devices cpu,npu
expect_has out "the script refuses the model"
expect_exit 0 compare --devices cpu,npu --no-placement
expect_not out "Placement of the nodes"

# NaN, or numbers of another model: said where outputs are compared, and never recommended however fast
ASSAY_FAKE_SCRIPTS='npu steady=50us;output=nan|gpu steady=25us;output=7' expect_exit 0 compare -o wrong.assay
flat
expect_has flat "npu is not recommended: 4 "
expect_has flat "gpu is not recommended: "
expect_has flat "latency cpu: the only candidate"
expect_has flat "npu (50.0 µs) would have been faster but is not recommended: 4 of its values are NaN or infinite"
expect_has flat "gpu (25.0 µs) would have been faster but is not recommended: its outputs differ from those of cpu (relative L2 6, the limit is 0.01)"
expect_exit 0 "$ASSAY" report wrong.assay --json
python3 - out <<'PYTHON'
import json, sys
c = json.load(open(sys.argv[1]))["comparison"]
assert (c["recommendation"]["latency"], c["recommendation"]["throughput"]) == ("cpu", "cpu"), c["recommendation"]
cpu, npu, gpu = c["rows"]
assert cpu["not_advised"] is None and "NaN" in npu["not_advised"] and "relative L2 6" in gpu["not_advised"], c["rows"]
assert npu["drift"]["outputs_nonfinite"] == 4 and gpu["drift"]["outputs_nonfinite"] == 0
p = npu["placement"]
assert p["inferred_nodes"] == 0 and p["asked"].endswith("on npu"), p
PYTHON
expect_exit 0 "$ASSAY" report wrong.assay --format csv
python3 -c 'import csv; r = list(csv.DictReader(open("out"))); assert r[0]["not_advised"] == "" and "NaN" in r[1]["not_advised"], r'
# the same speed: said all the same
ASSAY_FAKE_SCRIPTS='npu output=7' expect_exit 0 compare --devices cpu,npu
flat
expect_has flat "npu (100 µs) is not recommended: its outputs differ from those of cpu"
# alone, or the reference of what is left: one reference for speed and outputs
ASSAY_FAKE_SCRIPTS='npu output=nan' expect_exit 0 compare --devices npu
flat
expect_has flat "npu: 4 of its outputs are NaN or infinite"
expect_has flat "latency none of the trials that ran can be recommended; npu (100 µs) is not recommended"
ASSAY_FAKE_SCRIPTS='gpu gone=2:left' ASSAY_FAKE_DEVICES='gpu;npu;npu:1' expect_exit 3 compare
flat
expect_has flat "npu reference —"
expect_has flat "gpu =0 =0 =1.000000 =100 % 0 npu — — — — — npu:1 =0 =0 =1.000000 =100 % 0"
expect_exit 3 env ASSAY_FAKE_SCRIPTS='gpu open_error=no' ASSAY_FAKE_DEVICES='gpu;npu;npu:1' "$ASSAY" compare "$model" --engine fake --launches 5 --iters 20 --no-power --json
python3 - out <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
assert [r["role"] == "reference" for r in d["comparison"]["rows"]] == [False, True, False]
assert "compared with npu on" in d["trials"][2]["metrics"]["drift.relative_l2"]["note"]
assert "drift.relative_l2" not in d["trials"][1]["metrics"]
PYTHON

# a device that disappears between launches, a provider that refuses the model: rows with the reason, the others whole
ASSAY_FAKE_SCRIPTS='npu gone=2:opened|gpu open_error=it has no kernel for Einsum' expect_exit 3 compare
flat
expect_has flat "2 of 5 launches failed; launch 3: the device is gone"
expect_has flat "the first 2 of 5 launches failed; launch 1: it has no kernel for Einsum"
expect_has flat "latency cpu: the only candidate that ran"
expect_has err "2 of 3 could not be measured"
expect_equal "$(grep -c FAILED out)" 2 # each with its reason
expect_equal "$(wc -c <opened)" 4 # twice in a row and no more
# none runs
ASSAY_FAKE_SCRIPTS='npu open_error=no driver|gpu open_error=no memory' expect_exit 3 compare --devices npu,gpu
expect_has out "launch 1: no driver"
expect_has out "launch 1: no memory"
expect_has err "2 of 2 could not be measured"

# far too slow: ended by the limit, shown with what there is, the others whole and soon done
start=$SECONDS
ASSAY_FAKE_SCRIPTS='npu pace=2s;steady=1s' expect_exit 3 compare --launch-limit 3s --devices cpu,npu --json
[ $((SECONDS - start)) -lt 60 ] || fail "a slow device held the comparison for $((SECONDS - start)) s"
expect_equal "$(json_get out '.trials[0].launches.length')" 5
expect_equal "$(json_get out '.trials[1].launches.length')" 1
expect_has out "the launch took more than 3 s"

# --devices
expect_error 2 "--devices: the value is empty" compare --devices ""
expect_error 2 "--devices: " compare --devices ", ,"
expect_error 2 "there is no device 'tpu'" compare --devices cpu,tpu
expect_exit 0 compare --devices npu,npu,cpu
expect_has err "'npu' is listed twice; it is measured once"
expect_error 2 "there is no device 'tpu'" "$ASSAY" compare "$model" "$model" --engine fake --device tpu
# a device that is named and belongs to a named class too; a device whose name is a class
export ASSAY_FAKE_DEVICES='cpu;gpu:0;slow'
expect_exit 0 compare --devices slow,gpu --json
expect_not err "twice"
expect_equal "$(json_get out '.comparison.rows.length')" 2
export ASSAY_FAKE_DEVICES='cpu;gpu;slow'
expect_exit 0 compare --devices gpu,cpu --json
expect_equal "$(json_get out '.comparison.rows.length')" 2
expect_exit 3 compare --devices cpu,npu
flat
expect_has flat "no device of class npu can be used here"
expect_error 2 "--devices: " "$ASSAY" compare "$model" "$model" --engine fake --devices cpu
export ASSAY_FAKE_DEVICES='cpu;npu:0=refused'
expect_exit 3 compare --devices cpu,npu:0
flat
expect_has flat "the script refuses it"

# one launch is lost: the others are judged, the reference stays, outputs come from the next one
# (a worker lives for some 2,000 steps: warm-up by its own clock)
"$ASSAY" compare "$model" "$model" --engine fake --script 'steady=100us;pace=200us' --launches 6 --iters 20 --no-power --json >out 2>err &
compared=$!
kill_worker $compared
wait $compared || fail "status $? after a lost launch"
expect_has err "1 of 2 lost a launch"
python3 - out <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
one, two = d["comparison"]["rows"]
assert one["role"] == "reference" and one["usable"] and two["usable"], one
assert one["reason"].startswith("1 of 6 launches failed"), one
assert two["speedup"] == 1 and two["verdict"] == "no difference shown", two
assert two["drift"]["max_absolute"] == 0, two
PYTHON
# a model that is not there: its name stands above the report all the same
expect_exit 3 "$ASSAY" compare nosuch.onnx --engine fake
expect_has out "nosuch.onnx"
expect_not out "unnamed"

# where nothing measures power, all trials have one reason, and the report has it among what is not available, of the trial it shows
mkdir -p bare/proc bare/sys
ASSAY_FSROOT=$PWD/bare ASSAY_FAKE_DEVICES='cpu;npu;gpu' expect_exit 0 "$ASSAY" compare mlp --engine fake --script 'steady=100us' \
    --launches 5 --iters 20 --devices cpu,npu,gpu --columns 1000 -q -o bare.assay
expect_equal "$(grep -c 'no energy counter or power sensor' out)" 0
expect_has out "Not available"
expect_exit 0 "$ASSAY" query bare.assay "SELECT count(*) AS n, count(DISTINCT note) AS notes FROM metrics WHERE name = 'power.average'" --csv
expect_equal "$(tail -n 1 out)" "3,1"
