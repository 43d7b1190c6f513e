# plain-only: ceilings; its parts run under sanitizers as unit tests
# What bounds a layer: against ceilings that are kept (made up here, in the file of this machine), nothing without them; JSON, CSV,
# query and text say the same, and a report of the kept profile is the same text.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "ONNX Runtime is not here"
export XDG_CACHE_HOME=$PWD/cache
model=$ROOT/tests/fixtures/models/encoder/model.onnx
run=(run "$model" --threads 1 --iters 30)
# none kept: every bound is unknown, and the reason says how to get them; nothing is measured
expect_exit 0 "$ASSAY" "${run[@]}" --json -o none.assay
expect_equal "$(json_get out '.trials[0].metrics["compute.utilization"].state')" unavailable
expect_equal "$(json_get out '.trials[0].metrics["roofline.time"].value')" null
expect_has out "no ceilings of this machine are saved:"
expect_equal "$(json_get out '.trials[0].layers[0].bound')" unknown
expect_exit 0 "$ASSAY" report none.assay
expect_not out "Roofline"
if ls cache/assay/* >/dev/null 2>&1; then fail "ceilings were measured without being asked for"; fi
# the file of this machine: the key of a part of the rows, less its last line
expect_exit 0 "$ASSAY" devices --ceilings --only compute.float32.one-core --json
cat >make.py <<'PYTHON'
import glob, hashlib, json
whole = json.load(open(glob.glob("cache/assay/ceilings-*.json")[0]))
whole["key"] = whole["key"].replace("only compute.float32.one-core\n", "")
row = whole["rows"][0]
rows = {"compute.float32.one-core": 1e12, "bandwidth.l1.read.one-core": 9e11, "bandwidth.l2.read.one-core": 8e11,
        "bandwidth.l3.read.one-core": 7e11, "bandwidth.dram.read.one-core": 6e11}
def made(name, value):
    new = dict(row, name=name, value=value, low=value, median=value, high=value)
    if name.startswith("bandwidth"):
        new.update(kind="bandwidth", unit="B/s", type="", level=name.split(".")[1], pattern="read", working_set_bytes=4096)
    return new
whole["rows"] = [made(name, value) for name, value in rows.items()]
name = hashlib.sha256(whole["key"].encode()).hexdigest()[:16]
json.dump(whole, open(f"cache/assay/ceilings-{name}.json", "w"))
PYTHON
python3 make.py
cat >check.py <<'PYTHON'
import collections, csv, json
profile = json.load(open("out.json"))
trial = profile["trials"][0]
metrics = {name: m["value"] for name, m in trial["metrics"].items()}
rate, sum_s, count = metrics["compute.rate"], 0, collections.Counter()
assert abs(metrics["compute.utilization"] - rate / 1e12) <= 1e-9 * rate / 1e12
assert abs(metrics["memory.bandwidth_utilization"] - metrics["memory.bandwidth"] / 6e11) < 1e-9
for layer in trial["layers"]:
    count[layer["bound"]] += 1
    assert layer["bound"] in ("compute", "memory", "overhead", "neither", "unknown"), layer
    if layer["flops"] is None or layer["bytes"] is None or layer["time_us"] is None:
        assert layer["bound"] == "unknown", layer
        continue
    # the roofs are so far away that no layer can be near them: short ones are overhead
    least = max(layer["flops"] / 1e12, layer["bytes"] / 9e11)
    assert layer["bound"] != "unknown", layer
    assert layer["time_us"] >= 20 or layer["bound"] == "overhead" or least * 1.51e7 >= layer["time_us"], layer
    sum_s += least
assert count["overhead"] + count["compute"] + count["memory"] > 0, count
# at least what the nearest level would allow, at most what the memory would
assert sum_s <= metrics["roofline.time"] * (1 + 1e-9), (sum_s, metrics["roofline.time"])
assert metrics["roofline.time"] <= sum_s * 1.51, (sum_s, metrics["roofline.time"])
shares = sum(l["time_us"] for l in trial["layers"] if l["time_us"]) + trial["engine_us"] + trial["unattributed_us"]
assert abs(shares - metrics["latency.p50"] * 1e6) <= 1e-9 * shares
assert len(profile["ceilings"]) == 5, profile["ceilings"]
tabled = collections.Counter(row["bound"] for row in csv.DictReader(open("out.csv")) if not row["name"].startswith("("))
assert tabled == count, (tabled, count)
asked = {row["bound"]: int(row["n"]) for row in csv.DictReader(open("query.csv"))}
assert asked == dict(count), (asked, count)
PYTHON
expect_exit 0 "$ASSAY" "${run[@]}" --ceilings --full -o kept.assay # they are kept: nothing is measured
cp out run.txt
expect_has out "Roofline"
expect_has out "Of the time in layers"
expect_has out "1.00 TFLOP/s"
expect_has out " bound"
expect_exit 0 "$ASSAY" report kept.assay --full
cmp -s out run.txt || fail "the report of the kept profile differs from that of the run"
expect_exit 0 "$ASSAY" report kept.assay --json
cp out out.json
expect_exit 0 "$ASSAY" report kept.assay --format csv --table layers
cp out out.csv
expect_exit 0 "$ASSAY" query kept.assay "SELECT bound, count(*) AS n FROM layers GROUP BY bound" --csv
cp out query.csv
python3 check.py || fail "the bounds do not agree"
# every command that measures uses them, the figure of the devices too
small=(--iters 30 --launches 1 -q --json)
expect_exit 0 "$ASSAY" compare "$model" --devices cpu --threads 1 --no-power "${small[@]}" -o compare.assay
cp out compare.json
expect_exit 0 "$ASSAY" compare "$model" "$model" --ceilings --threads 1 --no-power "${small[@]}" # kept: nothing is measured
cp out models.json
expect_exit 0 "$ASSAY" sweep "$model" --opt none,all --threads 1 "${small[@]}"
cp out sweep.json
expect_exit 0 "$ASSAY" tune "$model" --opt none,all --threads 1 --precision float32 --spinning on --budget 30s --iters 30 -q --json
cp out tune.json
python3 - <<'PYTHON' || fail "compare, sweep and tune do not use the ceilings alike"
import json
for name in ("compare", "models", "sweep", "tune"):
    p = json.load(open(name + ".json"))
    assert len(p["ceilings"]) == 5 and {c["device"] for c in p["ceilings"]} == {"cpu"}, (name, p["ceilings"])
    for t in p["trials"]:
        m = t["metrics"]
        assert abs(m["compute.utilization"]["value"] - m["compute.rate"]["value"] / 1e12) < 1e-12, (name, m["compute.utilization"])
PYTHON
expect_exit 0 "$ASSAY" report compare.assay --chart devices
expect_has out " %"
# a damaged file is none
for file in cache/assay/*; do echo '{' >"$file"; done
expect_exit 0 "$ASSAY" "${run[@]}" --layers=off --json
expect_equal "$(json_get out '.trials[0].metrics["compute.utilization"].value')" null
expect_has out "no ceilings of this machine are saved:"
# every command that runs a model has the option; a script's times have no ceiling
for command in run power memory counters compare sweep tune advise; do
    expect_exit 0 "$ASSAY" help "$command"
    expect_has out "--ceilings"
done
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us;layers=conv:60us:Conv' --json
expect_has out "the fake engine's times are scripted"
