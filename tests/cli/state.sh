# plain-only: real models; its parts run under sanitizers as unit tests
# States that are fed back: what is found, said and refused, in every command that runs a model; the real-time factor.
. "$ROOT/tests/cli/lib.sh"
vad=$ROOT/tests/fixtures/models/state/vad.onnx growing=$ROOT/tests/fixtures/models/state/growing.onnx
fake() { # fake COMMAND ARGUMENT…: the fake engine, exact times
    expect_exit 0 "$ASSAY" "$1" -q --engine fake --script 'steady=2ms' "${@:2}"
}

# --- found by name: in text, Markdown, JSON, CSV and the database
fake run "$vad" --iters 20 -o kept.assay
expect_has out "stateN → state (found by name)"
expect_has out "512 samples at 16 kHz: --seconds-per-inference 0.032 gives the"
for how in "--format md" "--full" "--format html"; do
    # shellcheck disable=SC2086 # two words
    expect_exit 0 "$ASSAY" report kept.assay $how
    expect_has out "stateN → state (found by name)"
done
expect_exit 0 "$ASSAY" report kept.assay --ascii
expect_has out "stateN -> state (found by name)"
expect_exit 0 "$ASSAY" report kept.assay --format csv --table state
printf 'trial,output,input,found\n1,stateN,state,name\n' | cmp - out || fail "the table of states"
expect_exit 0 "$ASSAY" query kept.assay "SELECT output || ' ' || input || ' ' || found FROM feedback"
expect_has out "stateN state name"
expect_exit 0 "$ASSAY" report kept.assay --json
python3 "$ROOT/tests/schema_check.py" run out || fail "the JSON is not as promised"
python3 - <<'END' || fail "the JSON does not say what is fed back"
import json
trial = json.load(open("out"))["trials"][0]
workload = trial["workload"]
assert workload["state_feedback"] == [{"output": "stateN", "input": "state", "found": "name"}], workload
assert workload["sound"] == {"samples": 512, "rate_hz": 16000}, workload
assert "seconds_per_inference" not in workload and "realtime.factor" not in trial["metrics"]
assert trial["target"]["options"]["state"] == "stateN=state"
assert [i["fill"] for i in workload["inputs"] if i["name"] == "state"] == ["constant 0: a state, which starts at zero"]
assert trial["metrics"]["state.nonfinite"]["value"] == 0
END

# --- a profile from before there was feedback is whole
cp kept.assay before.assay
python3 - <<'END'
import sqlite3
file = sqlite3.connect("before.assay")
file.execute("DROP TABLE feedback")
for column in ("seconds_per_inference", "sound_samples", "sound_rate_hz"):
    file.execute("ALTER TABLE trials DROP COLUMN " + column)
file.commit()
END
expect_exit 0 "$ASSAY" report before.assay --full
expect_not out "damaged"
expect_not out "found by name"

# --- the real-time factor: 2 ms of 32 ms
for given in 0.032 32ms; do
    fake run "$vad" --iters 20 --seconds-per-inference $given
    tr -s ' \n' ' ' <out >flat
    expect_has flat "real-time factor =0.0625 (16 × faster than real time)"
    expect_not out "gives the"
done
fake run "$vad" --iters 20 --seconds-per-inference 1ms --json
python3 -c 'import json; t = json.load(open("out"))["trials"][0]; m = t["metrics"]
assert abs(m["realtime.factor"]["value"] - 2) < 1e-12 and abs(m["realtime.speed"]["value"] - 0.5) < 1e-12, m
assert m["realtime.factor"]["state"] == "derived" and t["workload"]["seconds_per_inference"] == 0.001' || fail "the factor"
fake run "$vad" --iters 20 --seconds-per-inference 1ms
expect_has out "(slower than real time)"

# --- switched off, and asked for
fake run "$vad" --iters 20 --state none --json
python3 -c 'import json; t = json.load(open("out"))["trials"][0]
assert "state_feedback" not in t["workload"] and t["target"]["options"]["state"] == "none"
assert "state.nonfinite" not in t["metrics"]
assert t["workload"]["inputs"][1]["fill"].startswith("uniform"), t["workload"]' || fail "--state none"
fake run "$vad" --iters 20 --state stateN=state --input state=0.5
expect_has out "stateN → state (as requested)"
fake run "$growing" --iters 20 --json
expect_not out "state_feedback" # another shape every time
expect_exit 0 "$ASSAY" run -q --engine fake --script 'state=1e30:1' "$vad" --iters 50
expect_has out "8 of its numbers are infinite or NaN" # the fake state has left float32
expect_has out "--state none feeds nothing"

# --- refused: one line, status 2
wrong() { # wrong TEXT-IN-ERROR ARGUMENT…
    expect_error 2 "$1" "$ASSAY" run -q --engine fake --script 'steady=2ms' "${@:2}"
}
wrong "no output 'stateM' (did you mean 'stateN'?)" "$vad" --state stateM=state
wrong "no input 'stat' (did you mean 'state'?)" "$vad" --state stateN=stat
wrong "is float32 and the input 'sr' is int64" "$vad" --state output=sr
wrong "is 1x1 and the input 'state' is 1x1x8" "$vad" --state output=state
wrong "fed by two outputs" "$vad" --state stateN=state --state stateN=state
wrong "stands alone" "$vad" --state stateN=state --state none
wrong "not of the form OUTPUT=INPUT" "$vad" --state stateN
wrong "changes its shape" "$growing" --state new_cache=cache
wrong "a generation feeds its own cache back" gpt2 --generate 4 --state none
wrong "has no model" --state none
wrong "--seconds-per-inference" "$vad" --seconds-per-inference=0

# --- the other commands
json='import json; t = json.load(open("out"))["trials"]
assert t and all(x["workload"]["state_feedback"][0]["input"] == "state" for x in t), t
assert all(abs(x["metrics"]["realtime.factor"]["value"] - 0.0625) < 1e-9 for x in t)'
for command in power memory counters; do
    fake "$command" "$vad" --iters 20 --seconds-per-inference 32ms --json
    python3 -c "$json" || fail "$command"
done
fake compare "$vad" "$vad" --launches 10 --iters 5 --seconds-per-inference 32ms --json
python3 -c "$json" || fail "compare"
fake sweep "$vad" --batch 1,2 --launches 3 --iters 5 --seconds-per-inference 32ms --json
python3 -c "$json" || fail "sweep"
fake tune "$vad" --batch 1 --threads 1,2 --budget 5s --seconds-per-inference 32ms --json
python3 -c "$json" || fail "tune"
expect_exit 0 "$ASSAY" advise -q --engine fake --script 'steady=2ms' "$vad" --iters 20 --seconds-per-inference 32ms -o advised.assay
expect_exit 0 "$ASSAY" query advised.assay "SELECT count(*) FROM feedback"
expect_has out 1

# --- ONNX Runtime: layers with states, and a difference of two runs that says what was fed back
[ -e "$BUILD/onnxruntime" ] || [ -n "${ASSAY_ORT_LIBRARY-}" ] || skip "no ONNX Runtime is set up here"
expect_exit 0 "$ASSAY" run -q "$vad" --iters 200 --json -o fed.assay
python3 - <<'END' || fail "layers with a state"
import json
trial = json.load(open("out"))["trials"][0]
assert trial["layer_timing"]["method"] == "markers" and len(trial["layers"]) >= 5, trial["layer_timing"]
assert "differ" not in (trial["layer_timing"]["reason"] or ""), trial["layer_timing"]
assert trial["metrics"]["state.nonfinite"]["value"] == 0
END
expect_exit 0 "$ASSAY" run -q "$vad" --iters 200 --layers=engine --streams 2
expect_exit 0 "$ASSAY" run -q "$vad" --iters 200 --state none -o alone.assay
expect_exit 0 "$ASSAY" report fed.assay alone.assay --json
python3 -c 'import json; d = json.load(open("out"))["differences"]
assert any(x["name"] == "state" and "stateN=state" in str(x) for x in d), d' || fail "the difference is not named"
expect_exit 0 "$ASSAY" run -q cfc --iters 50
expect_has out "hn → h0 (found by name)"
expect_exit 0 "$ASSAY" run -q ltc:mixed_memory=1 --iters 50
expect_has out "hn → h0 (found by name) · cn → c0 (found by name)"
# outputs are compared after the same number of inferences: a model agrees with itself
expect_exit 0 "$ASSAY" compare -q "$vad" "$vad" --launches 10 --iters 5 --json
python3 -c 'import json; rows = json.load(open("out"))["comparison"]["rows"]
assert [r["drift"]["relative_l2"] for r in rows if r["role"] != "reference"] == [0], rows' || fail "drift"
