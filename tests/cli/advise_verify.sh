# plain-only: many workers; its parts run under sanitizers as unit tests
# assay advise --verify on scripts: exact gains of changes that help, hurt, fail and drift; what is kept; the budget; Ctrl-C; wrong usage; a model and a kept profile for real.
. "$ROOT/tests/cli/lib.sh"
quick="--iters 20 --warmup 2 --launches 5 --layers=off -q"
base="--engine fake --cpus 0 --threads 2 --opt none"
# Two changes that help: one CPU for two threads, and optimisation; together they are worth less than the better one alone.
script='steady=100us;when_threads=1:steady=50us;when_opt=all:steady=80us'
expect_exit 0 "$ASSAY" advise $base --script "$script" $quick --verify -o v.assay --json
python3 "$ROOT/tests/schema_check.py" advise out || fail "not the promised shape"
python3 - out <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
v, found = d["verification"], {f["id"]: f for f in d["findings"]}
assert (v["launches"], v["changes"], v["tried"], v["verified"], v["withdrawn"]) == (5, 2, 2, 2, 0), v
assert abs(v["baseline_us"] - 100) < 1e-9 and not v["interrupted"] and v["reason"] is None, v
def gain(name, value, of="latency"):
    f = found[name]
    assert f["state"] == "verified" and f["verified_of"] == of, f
    for key in ("verified_gain", "verified_low", "verified_high"):
        assert abs(f[key] - value) < 1e-9, (key, f)
gain("threads-over", 2)
gain("optimization-off", 1.25)
gain("combined", 1.25)
assert found["threads-over"]["tried"] == "threads=1"
assert (found["threads-over"]["severity"], found["optimization-off"]["severity"]) == ("high", "medium")
assert found["threads-over"]["drift_relative_l2"] == 0
assert found["threads-over"]["verified_energy"] is None
assert abs(found["combined"]["expected_gain"] - 2.5) < 1e-9
assert "less than threads=1 alone" in found["combined"]["reason"]
PYTHON
# It is kept: the trials, the findings, and what the same profile says later.
expect_exit 0 "$ASSAY" query v.assay --csv "SELECT id, state, tried, verified_gain FROM findings WHERE id = 'threads-over'"
expect_has out "threads-over,verified,threads=1,2"
expect_exit 0 "$ASSAY" query v.assay --csv "SELECT count(*) FROM trials"
expect_equal "$(tail -n 1 out)" 6
expect_exit 0 "$ASSAY" advise v.assay --json
expect_equal "$(json_get out '.findings[0].state')" verified
expect_equal "$(json_get out '.verification')" null
expect_exit 0 "$ASSAY" report v.assay
expect_has out "verified: 2 × as fast, 95 %: 2 to 2"
# The page: three sections, narrow and in ASCII.
script='steady=100us;when_threads=1:steady=125us;when_opt=all:steady=50us;when_opt=all:output=1.25;first=9ms'
expect_exit 0 "$ASSAY" advise $base --script "$script" $quick --verify --ascii --columns 60
expect_has out "Tried and withdrawn"
expect_has out "tried: 0.8 x as fast (0.8 to 0.8), slower"
expect_has out "2 of 2 changes"
tr -s ' \n' ' ' <out >flat
expect_has flat "tried: 2 x as fast (2 to 2), but the outputs drift: relative L2 0.25, the limit is 0.001"
expect_has flat "Open not tried, or without a verdict"
expect_has flat "not tried: needs a measurement of program start"
LC_ALL=C grep -n '[^ -~]' out && fail "--ascii printed more than ASCII"
awk 'length($0) > 60' out >long
expect_lines long 0
# A change that cannot run is withdrawn with the engine's words; so is the budget's end, and both are status 0.
expect_exit 0 "$ASSAY" advise $base --script 'when_threads=1:open_error=no room;when_opt=all:steady=90us' $quick --verify --rule threads-over --json
expect_equal "$(json_get out '.findings[0].state')" withdrawn
expect_has out "tried: it does not run: the first 2 of 5 launches failed; launch 1: no room"
expect_exit 0 "$ASSAY" advise $base --script 'steady=100us' $quick --verify --verify-budget 1ms --json
expect_equal "$(json_get out '.verification.tried')" 0
expect_equal "$(json_get out '.findings[0].state')" open
expect_has out "not tried: the budget was used up"
# The run that the rules look at must work.
expect_exit 3 "$ASSAY" advise $base --script 'open_error=nothing' $quick --verify
expect_lines err 1
expect_has err nothing
expect_exit 3 "$ASSAY" advise $base --script 'when_weather=bad:steady=1us' $quick --verify
expect_has err 'unknown key "when_weather"'
# A kept profile of a script cannot be run again: the findings say so.
expect_exit 0 "$ASSAY" advise v.assay --verify --launches 5 --json
expect_has out "the profile names no model file"
# Ctrl-C keeps what is done.
in_background "$ASSAY" advise $base --script 'steady=1ms;pace=1ms' --warmup 0 --iters 300 --layers=off -q --verify -o int.assay
wait_for 2 int.assay "SELECT count(*) FROM trials"
expect_stop INT 130
expect_lines err 1
expect_has out "Interrupted"
tr -s ' \n' ' ' <out >flat
expect_has flat "not tried: it was interrupted"
expect_has err "interrupted; what was measured is saved in int.assay"
# So it does in the run before: the line says what is kept, and where.
in_background "$ASSAY" advise $base --script 'steady=1ms;pace=1ms' --warmup 0 --iters 100000 --layers=off -q --verify -o first.assay
wait_for 1 first.assay "SELECT count(*) FROM samples"
expect_stop INT 130
expect_lines err 1
expect_has err "interrupted; what was measured is saved in first.assay"
expect_exit 0 "$ASSAY" query first.assay "SELECT count(*) > 0 FROM samples" --csv
expect_equal "$(tail -n 1 out)" 1
# Wrong usage: one line each.
expect_error 2 "--verify-budget requires --verify" "$ASSAY" advise v.assay --verify-budget 5s
expect_error 2 "--launches applies to a MODEL" "$ASSAY" advise v.assay --launches 5
expect_error 2 "--batch applies to a MODEL" "$ASSAY" advise v.assay --verify --batch 2
# For real, from a kept profile: a model's symbolic sizes are fixed in a copy that gives the same numbers.
"$ASSAY" make mlp --quiet -o model.onnx >/dev/null
"$ASSAY" run model.onnx --iters 20 --layers=off -q -o m.assay >/dev/null 2>&1 || exit 0 # ONNX Runtime is not here
expect_exit 0 "$ASSAY" advise m.assay --rule dynamic-shapes --iters 20 --launches 5 --verify --json
expect_equal "$(json_get out '.findings[0].drift_relative_l2')" 0
expect_equal "$(json_get out '.findings[0].tried')" "dimensions fixed: batch=1"
expect_equal "$(json_get out '.verification.tried')" 1
