# assay predict: estimates with their error, chips and units that cannot be predicted, the published measurements, and bad input.
# Nothing here is timed, but one bound: a model of 6 GB is predicted without its weights.
. "$ROOT/tests/cli/lib.sh"
export XDG_CACHE_HOME=$PWD/cache # no ceilings, no calibration

# an estimate: every unit, or its reason
expect_exit 0 "$ASSAY" predict resnet50 --chip "M1 Max" --columns 200
expect_lines err 0
expect_has out "~2.08 ms (median error 23 %, 9 of 10 within 68 %)"
expect_has out "9 of 10 such estimates are within 68 %"
expect_not out "±"
expect_not out "does not cover"
expect_has out "=51.2 MB of weights"
expect_has out "of 64.0 GB (published): fits"
expect_has out "not validated"
expect_has out "(35)"
for width in 40 56 72 80 120; do
    "$ASSAY" predict distilbert:seq=128 --chip a15 --columns $width >out
    for page in --validate --chips "resnet50 --chip m1max"; do "$ASSAY" predict $page --columns $width >>out; done
    [ $width -gt 40 ] || "$ASSAY" predict --validate --ascii --columns $width >>out
    awk -v most=$width '{ gsub(/[\200-\277]/, ""); if (length($0) > most) { print; bad = 1 } } END { exit bad }' out >long ||
        { cat long >&2; fail "lines longer than $width"; }
done
expect_exit 0 "$ASSAY" predict mobilenetv2 --chip m1 --ascii
if LC_ALL=C grep -q '[^ -~]' out; then fail "--ascii is not ASCII"; fi

# one document: every view says the same
for page in "resnet50 --chip m1max" "mlp --chip m1 --unit ane" "mlp --chip M5pro" --validate --chips; do
    python3 "$ROOT/tests/formats_same.py" "$ASSAY" predict $page || fail "$page: the views differ"
done
expect_exit 0 "$ASSAY" predict resnet50 --chip m1max -o page.html
python3 "$ROOT/tests/page_check.py" page.html --no-data --sections units,estimate,operators,trust || fail "the page is not well made"
expect_has page.html '<details class="chip fair" id="quality"' # an estimate is not marked like a stable measurement
expect_exit 0 "$ASSAY" predict resnet50 --chip m1max --format csv
[ "$(cut -d, -f1 out | tr '\n' ' ')" = "unit ane gpu cpu " ] || fail "the units"
expect_has out "no source gives the arithmetic rate of its CPU's matrix units"
expect_exit 0 "$ASSAY" predict resnet50 --chip m1max --format csv --table layers
python3 - out <<'EOF' || fail "the layers are not those of two units"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert {r["unit"] for r in rows} == {"ane", "gpu"}
assert abs(sum(float(r["share"]) for r in rows) - 2) < 1e-6
EOF
expect_exit 0 "$ASSAY" predict resnet50 --chip m1max --top 0
expect_not out "/conv1/Conv"
expect_exit 0 "$ASSAY" predict --chips --format csv
expect_has out "M1 Max,409600000000,64000000000,10600000000000,11000000000000,54620000000,1.78,4.4,0.9"
expect_exit 0 "$ASSAY" predict --validate --format csv
expect_lines out 36
expect_exit 0 "$ASSAY" predict --validate --format csv --table excluded
expect_lines out 6
expect_has out "training, not inference"

# a chip keeps all its numbers on a narrow page; every page names the version
version=$("$ASSAY" --version | grep -o '[0-9][0-9.]*[0-9]' | head -n 1)
expect_exit 0 "$ASSAY" predict --chips --columns 40
[ "$(tr -s ' ' <out | grep '^ M1 Max ' | sed 's/^ M1 Max//' | tr -d '\n')" = " 409.6 64 10.6 11 54.62 1.78 4.4 0.9" ] ||
    fail "a narrow page lost numbers"
expect_has out "assay $version"
expect_exit 0 "$ASSAY" predict --validate
expect_has out "assay $version"
expect_exit 0 "$ASSAY" predict --chips --json
python3 - out <<'EOF' || fail "--chips --json is not the promised JSON"
import json, sys
chips = {c["name"]: c for c in json.load(open(sys.argv[1]))["chips"]}
assert chips["M1 Max"]["memory_bandwidth"]["value"] == 409.6e9, chips["M1 Max"]
for chip in chips.values():
    for name, cell in chip.items():
        if name == "name": continue
        assert (cell["value"] is None) == (cell["state"] == "unavailable"), (chip["name"], name, cell)
        assert cell["source"], (chip["name"], name, cell)
EOF

label() { "$ASSAY" predict "$1" --chip A16 --unit ane --format csv | tail -n 1 | cut -d, -f4; }
# the label does not cover what is mostly the cost of any inference, nor what leaves the unit
expect_exit 0 "$ASSAY" predict mlp --chip m1 --unit ane
expect_has out "(median error 33 %, 9 of 10 within 157 %; does not apply"
expect_has out "The error does not cover this model:"
[ -z "$(label mlp)" ] || fail "the table has an error that does not apply"
# of which half or more is fixed cost, the label widens: this model is published with 130 µs, and 334 µs are predicted
expect_exit 0 "$ASSAY" predict mobilenetv3-small --chip a16 --unit ane --columns 200
expect_has out "~334 µs (median error 33 %, 9 of 10 within 157 %)"
expect_exit 0 "$ASSAY" predict efficientnet-b0 --chip m1 --unit ane # functions, which no measurement has
expect_has out "does not cover this model"
expect_exit 0 "$ASSAY" predict lstm:seq=8 --chip m1 --unit ane --json
expect_has out "does not cover"
expect_exit 0 "$ASSAY" predict distilbert:seq=128 --chip m1 --unit ane # it only asks for sizes, and is among those measured
expect_not out "does not cover"

# JSON: trials like those of a run, every value estimated, derived or published, or unavailable with a reason
expect_exit 0 "$ASSAY" predict resnet50 --chip m2max --json
python3 "$ROOT/tests/schema_check.py" run out || fail "not the shape of a run"
python3 - out <<'EOF' || fail "not the promised JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["command"] == "predict" and d["model"]["name"] == "resnet50"
assert [t["target"]["device"] for t in d["trials"]] == ["M2 Max/ane", "M2 Max/gpu", "M2 Max/cpu"]
assert [t["state"] for t in d["trials"]] == ["ok", "ok", "skipped"]
ane, gpu, cpu = d["trials"]
for t in (ane, gpu):
    for name, m in t["metrics"].items():
        assert m["state"] in ("estimated", "derived", "published", "unavailable"), (name, m)
        assert m["note"] or m["source"], (name, m)
        assert (m["value"] is None) == (m["state"] == "unavailable"), (name, m)
    assert t["metrics"]["latency.p50"]["state"] == "estimated"
    total = sum(l["time_us"] for l in t["layers"]) + t["engine_us"]
    assert abs(total * 1e-6 / t["metrics"]["latency.p50"]["value"] - 1) < 1e-9
    assert all(l["state"] == "estimated" and l["bound"] in ("compute", "memory", "overhead") for l in t["layers"])
assert "23 %" in ane["metrics"]["latency.p50"]["note"] and "68 %" in ane["metrics"]["latency.p50"]["note"]
assert "never validated" in gpu["metrics"]["latency.p50"]["note"]
assert ane["metrics"]["memory.capacity_share"]["state"] == "unavailable"  # nobody says how much memory it has at most
assert gpu["metrics"]["power.average"]["value"] is None
assert cpu["metrics"]["latency.p50"]["value"] is None and cpu["reason"]
EOF

# precision: fewer bits are never slower; a batch is never faster than its part
latency() { "$ASSAY" predict "$@" --json >out && json_get out '.trials[0].metrics["latency.p50"].value'; }
f16=$(latency resnet50 --chip a17pro --unit ane) w8=$(latency resnet50 --chip a17pro --unit ane --precision w8)
w8a8=$(latency resnet50 --chip a17pro --unit ane --precision w8a8) b8=$(latency resnet50 --chip a17pro --unit ane --batch 8)
awk "BEGIN { exit !($w8a8 < $w8 && $w8 < $f16 && $f16 < $b8 && $b8 < 8 * $f16) }" || fail "order: $w8a8 $w8 $f16 $b8"

# every number of a chip is missing: a reason each, and status 3
expect_exit 3 "$ASSAY" predict mobilenetv2 --chip "M5 Pro" --format csv
expect_has out "Apple does not say how fast its Neural Engine is"
expect_exit 3 "$ASSAY" predict mobilenetv2 --chip M3pro --unit ane --columns 200
expect_has out "no source gives the bandwidth of its Neural Engine"

# 6.2 GB of weights: no weight is made or read
TIMEFORMAT='%U %S'
took=$({ time "$ASSAY" predict gpt2:size=xl,seq=512 --chip "M2 Ultra" >out 2>err; } 2>&1) || fail "$(cat err)"
[ "$SANITIZED" = yes ] || awk -v took="$took" 'BEGIN { split(took, s, " "); exit !(s[1] + s[2] < 1) }' ||
    fail "took $took s of CPU time" # 0.04 s is usual
expect_has out "3.12 GB of weights"

# the published measurements
expect_exit 0 "$ASSAY" predict --validate --format csv --table errors
grep -q '^one chip left out,0.12[56][0-9]*,0.45[67][0-9]*,26$' out || fail "the errors with a chip left out"
grep -q '^one model left out,0.143[0-9]*,0.68[0-9]*,26$' out || fail "the errors with a model left out"
expect_exit 0 "$ASSAY" predict --validate --json
python3 - out <<'EOF' || fail "not the promised validation"
import json, sys
v = json.load(open(sys.argv[1]))["validation"]
used = [r for r in v["rows"] if r["excluded"] is None]
assert len(used) == 26 and all(r["measured_s"] and r["chip_out_s"] and r["model_out_s"] for r in used)
assert {r["row"] for r in v["rows"]} == {"A", "A+", "B", "C", "D", "E", "F", "G", "G+", "H", "I"}
errors = sorted(abs(r["model_out_s"] / r["measured_s"] - 1) for r in used)
assert abs((errors[12] + errors[13]) / 2 - v["leave_model_out"]["median"]) < 1e-12
errors = sorted(abs(r["both_out_s"] / r["measured_s"] - 1) for r in used) # what is printed: neither was seen
assert abs((errors[12] + errors[13]) / 2 - v["leave_both_out"]["median"]) < 1e-12
assert v["leave_both_out"]["median"] < v["blind"]["median"] < v["fixed_cost"]["median"] < v["mostly_fixed_cost"]["median"]
assert v["blind"]["p90"] < v["fixed_cost"]["p90"] < v["mostly_fixed_cost"]["p90"]
assert v["leave_chip_out"]["median"] <= 0.25 and v["leave_model_out"]["median"] <= 0.25
EOF
# where fixed cost is more than a third of the estimate, or half, the label is that of such estimates
[ "$(label mobilenetv3-small)" = 0.328 ] && [ "$(label mobilenetv2)" = 0.3 ] && [ "$(label resnet50)" = 0.232 ] || fail "the label of an estimate that is mostly fixed cost"
expect_exit 0 "$ASSAY" predict --chips
expect_has out "A18 Pro"

# bad input: one clear line each
expect_error 2 "did you mean 'M1 Max'?" "$ASSAY" predict resnet50 --chip "M1 Mux"
expect_error 2 "unknown chip 'Pentium'" "$ASSAY" predict resnet50 --chip Pentium
expect_error 2 "no chip given:" "$ASSAY" predict resnet50
expect_error 2 "no MODEL given" "$ASSAY" predict --chip M1
expect_error 2 "one MODEL at a time" "$ASSAY" predict resnet50 resnet18 --chip M1
expect_error 2 "cannot be used together" "$ASSAY" predict --validate --calibrate
expect_error 2 "for --calibrate" "$ASSAY" predict resnet50 --chip M1 --whole
expect_error 2 "measures only this machine" "$ASSAY" predict --calibrate --chip M1
expect_error 2 "--validate works on" "$ASSAY" predict --validate --chip M1
expect_error 2 "--unit: " "$ASSAY" predict resnet50 --chip this --unit ane
expect_exit 3 "$ASSAY" predict resnet50 --chip this
expect_has err "assay devices --ceilings"
expect_exit 3 "$ASSAY" predict --validate --chip this
"$ASSAY" predict no-such-model --chip M1 >out 2>err && fail "a model that is not there"
expect_has err "no-such-model"
"$ASSAY" predict resnet50 --chip gone.assay >out 2>err && fail "a profile that is not there"
expect_has err "gone.assay"
cp "$ROOT/tests/fixtures/models/inspect/mlp.onnx" .
cp mlp.onnx kept.onnx
expect_error 2 "give another name" "$ASSAY" predict mlp.onnx --chip M1 -o mlp.onnx
cmp mlp.onnx kept.onnx || fail "-o cost a model"
expect_exit 0 "$ASSAY" predict mlp.onnx --chip M1 --json -o file.json
expect_lines out 0
expect_equal "$(json_get file.json '.trials.length')" 3
# what the report asks for is said in the words of the command line
expect_exit 0 "$ASSAY" predict mlp --chip m1 --unit ane --columns 200
expect_has out "see whether all of it runs there: assay check --target ane."
