# plain-only: many workers; its parts run under sanitizers as unit tests
# sweep on the fake engine: the configuration matrix with classes nobody has and a software device, presets, an exact table, limits, goals,
# points out of memory, inputs larger than it, --confirm, the wall-clock split, the formats.
. "$ROOT/tests/cli/lib.sh"

fake=(--engine fake --script "steady=1ms" --warmup 0 --iters 20 --launches 1 -q)
export ASSAY_FAKE_DEVICES="cpu=works;gpu:0=software;npu:0=refused"
expect_exit 3 "$ASSAY" sweep mlp "${fake[@]}" --opt none,all --devices cpu,gpu,npu --json -o m.assay
expect_has out "no device of class npu can be used here"
# 20 steps of 1 ms: p50 is 1 ms; operations of the graph over it
python3 - <<'PYTHON' || fail "the numbers of the matrix"
import json
p = json.load(open("out"))
flops = p["trials"][0]["metrics"]["compute.flops"]["value"]
matrix, points = p["sweep"]["matrix"], p["sweep"]["points"]
assert [(r["compiled"], r["accelerator"]) for r in matrix] == [("no", "no"), ("yes", "no")] + 2 * [("no", "yes"), ("yes", "yes")]
assert [r["device"] for r in matrix] == 2 * ["cpu"] + 2 * ["gpu:0"] + 2 * ["npu"]
assert [x["usable"] for x in points] == 4 * [True] + 2 * [False]
assert [x["software"] for x in points] == [False, False, True, True, False, False]
assert p["sweep"]["optimal"].startswith("device=cpu"), "a software device is recommended"
for row, point in zip(p["sweep"]["matrix"][:4], p["sweep"]["points"]):
    assert abs(row["tflops"] - flops / 1e-3 / 1e12) < 1e-12, row
    assert point["latency_s"] == 1e-3 and abs(point["throughput_per_s"] - 1000) < 1e-6, point
wall = p["sweep"]["wall"]
assert abs(wall["total_s"] - wall["measuring_s"] - wall["loading_s"] - wall["overhead_s"]) < 1e-9
assert min(wall.values()) >= 0 and wall["loading_s"] > 0, wall
assert p["trials"][0]["metrics"]["sweep.wall.total"]["value"] == wall["total_s"]
PYTHON
expect_exit 0 "$ASSAY" report m.assay
grep -qE '^  device +opt +compiled +accelerator ' out || fail "no configuration matrix"
expect_has out "emulated in software"
expect_exit 0 "$ASSAY" report m.assay --columns 40 --ascii
awk 'length($0) > 40 { exit 1 }' out || fail "wider than 40 columns"
expect_exit 0 "$ASSAY" report m.assay --format csv --table sweep
expect_lines out 7
grep -q '^1,device=cpu opt=none,cpu,0.001,,1000,' out || fail "$(cat out)"
expect_exit 0 "$ASSAY" report m.assay --format markdown
expect_has out "## Sweep"
unset ASSAY_FAKE_DEVICES

# presets: batch of the table, backbone of a bare cfc, alone the two levels of optimisation
expect_exit 0 "$ASSAY" sweep cfc --preset m1-ultra "${fake[@]}" --json
expect_equal "$(json_get out '.sweep.points[1].label')" "opt=all batch=256"
expect_equal "$(json_get out '.trials[0].workload.batch')" 256
expect_has out "cfc:backbone_units=128"
expect_exit 0 "$ASSAY" sweep mlp --preset m1 --batch 2,4 "${fake[@]}" --json
expect_equal "$(json_get out '.sweep.points[1].label')" batch=4
expect_exit 2 "$ASSAY" sweep mlp --preset m9 "${fake[@]}"

# every inference takes 1 ms whatever the batch: batch 4 is best and the knee is at the end
expect_exit 0 "$ASSAY" sweep mlp --batch 1,2,4 "${fake[@]}" --launches 2 --json
python3 - <<'PYTHON' || fail "best, knee and scaling"
import json
s = json.load(open("out"))["sweep"]
assert s["optimal"] == s["knee"] == "batch=4", s
assert s["gain"] == "batch 4 gives 4 × the throughput of batch 1 at 1 × its latency", s["gain"]
assert s["points"][2]["scaling_efficiency"] == 1 and s["not_separated"] == [], s
PYTHON
expect_exit 0 "$ASSAY" sweep mlp --batch 1,2,4 "${fake[@]}" --goal latency
expect_has out "batch=2, batch=4: not distinguishable from the best"
# nobody meets the limit; a percentile that is not known
expect_exit 0 "$ASSAY" sweep mlp --batch 1,2 "${fake[@]}" --slo p50=800us --goal latency --json
for word in "batch=1: latency.p50" "1.00 ms" "800 µs" "25 % over"; do expect_has out "$word"; done
expect_exit 0 "$ASSAY" sweep mlp --batch 1,2 "${fake[@]}" --slo p99=800us --json
expect_has out "no point is known to be within the limits"
# no energy without a sensor: said, the rest stands
mkdir empty
ASSAY_FSROOT=$PWD/empty expect_exit 0 "$ASSAY" sweep mlp --batch 1,2 "${fake[@]}" --goal energy
expect_has out "energy per inference"
# out of memory is a result
expect_exit 3 "$ASSAY" sweep mlp --batch 1,2 --engine fake --script "oom_at=3" --launches 2 -q
expect_has out "batch=1, batch=2: 2 of 2 launches failed"
expect_has out "SIGKILL"
# the best two again: scripted times do not differ
expect_exit 0 "$ASSAY" sweep mlp --threads 1,2 --engine fake --script "steady=1ms;noise=10us" --warmup 0 --iters 10 --launches 2 --confirm -q --json
expect_equal "$(json_get out '.sweep.confirmation.first_launches')" 10
expect_equal "$(json_get out '.sweep.points.length')" 2
expect_equal "$(json_get out '.trials.length')" 4
expect_has out "are tied after 10 launches each"
# when_… holds in the script of a device, too
expect_exit 0 env ASSAY_FAKE_SCRIPTS='cpu when_batch=2:steady=7ms' "$ASSAY" sweep mlp --engine fake --batch 1,2 --warmup 0 --iters 5 --launches 1 -q --json
expect_equal "$(json_get out '.sweep.points[1].latency_s')" 0.007
# inputs that no machine holds are not tried
mkdir -p small/proc
echo "MemTotal: 65536 kB" >small/proc/meminfo
ASSAY_FSROOT=$PWD/small expect_exit 3 "$ASSAY" sweep cfc --engine fake --warmup 0 --iters 20 --launches 1 -q --batch 1,2,999999999 --json
expect_equal "$(json_get out '.sweep.optimal')" "batch=2"
expect_equal "$(json_get out '.sweep.points[2].usable')" false
expect_has out "inputs alone take 384 GB, but this machine has"
ASSAY_FSROOT=$PWD/small expect_error 3 "inputs alone take 384 GB," "$ASSAY" run cfc --batch 999999999
expect_error 2 "cannot be used together" "$ASSAY" sweep mlp --device cpu --devices cpu --batch 1,2
expect_error 2 "cannot be used together" "$ASSAY" sweep mlp --spinning on,off --no-spinning
expect_error 2 "--devices: " "$ASSAY" sweep mlp --devices cpu,,gpu --opt none,all
expect_error 2 "is not a size such as 500MB" "$ASSAY" sweep mlp --batch 1,2 --memory-budget much
expect_error 2 "more than 400 points" "$ASSAY" sweep mlp --batch "$(seq -s, 1 21)" --threads "$(seq -s, 1 20)"
