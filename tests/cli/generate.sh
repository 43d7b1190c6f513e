# plain-only: real models; its parts run under sanitizers as unit tests
# run --generate: wrong use, the report, the JSON, and a real decoder of the zoo.
. "$ROOT/tests/cli/lib.sh"
wrong() { # wrong TEXT-IN-ERROR ARGUMENT…
    expect_error 2 "$1" "$ASSAY" run --engine fake --script steady=1us "${@:2}"
}
wrong "requires --generate" --prompt 8
wrong "cannot be used together" --generate 4 --prompt 8 --seq 8
wrong "one stream" --generate 4 --streams 2
wrong "gpt2:phase=decode" --generate 4 --layers=markers
wrong "0 is not between 1 and 1000000" --generate 0
wrong "1000001 is not between 1 and 1000000" --generate 1000001

script='steady=1ms;decode=100us'
expect_exit 0 "$ASSAY" run -q --engine fake --script "$script" --generate 8 --iters 20 --layers=off
expect_has out "10,000 tokens/s, the first after 1.00 ms."
grep -Eq '^  the first token \(TTFT\) +1\.00 ms +— +—$' out || fail "the time to the first token"
grep -Eq '^  each further token \(ITL\) +100 µs +100 µs +—$' out || fail "the time between tokens"
expect_not out "token_ids"
expect_exit 0 "$ASSAY" run -q --engine fake --script "$script" --generate 8 --iters 20 --json -o g.assay
python3 "$ROOT/tests/schema_check.py" run out || fail "the JSON is not as promised"
cp out run.json
expect_has out "phase=decode" # and not: time the layers, which is refused
expect_exit 0 "$ASSAY" report g.assay --json
python3 - <<'END' || fail "the generation is not what the script says, or was not kept"
import json
ran, kept = (json.load(open(name))["trials"][0]["generation"] for name in ("run.json", "out"))
assert ran == kept, (ran, kept)
assert ran["token_ids"] == list(range(8)) and ran["generations"] == 20 and ran["dropped"] == 0, ran
assert abs(ran["ttft_us"]["p50"] - 1000) < 1e-6 and abs(ran["itl_us"]["p50"] - 100) < 1e-6, ran
assert ran["ttft_us"]["p90"] is None and abs(ran["itl_us"]["p90"] - 100) < 1e-6, ran
END
expect_error 1 "phase=decode" "$ASSAY" report g.assay --svg layers
expect_exit 0 "$ASSAY" report g.assay --format csv
expect_has out "llm.decode,"
expect_exit 0 "$ASSAY" run -q --engine fake --script "$script" --iters 20 --json
expect_not out '"generation"'

# Interrupted and killed: what was told window by window is kept; what was not is said to be missing.
stop() { # stop SIGNAL FILE STATUS
    in_background "$ASSAY" run --engine fake --script "$script;pace=1ms" --generate 8 --warmup 0 --iters 1000000 -q -o "$2"
    wait_for 1 "$2" "SELECT count(*) FROM samples"
    expect_stop "$1" "$3"
    expect_exit 0 "$ASSAY" report "$2" --json
    python3 "$ROOT/tests/schema_check.py" run out || fail "the JSON is not as promised"
}
stop INT int.assay 130
python3 -c 'import json; t = json.load(open("out"))["trials"][0]; m = t["metrics"]
assert abs(m["llm.ttft"]["value"] - 1e-3) < 1e-12 and m["llm.generations"]["value"] > 0, m["llm.ttft"]
assert t["generation"]["token_ids"] == list(range(8))' || fail "the tokens of an interrupted run are lost"
stop KILL kill.assay 137
python3 -c 'import json; g = json.load(open("out"))["trials"][0]["generation"]
assert g["generations"] is None and g["ttft_us"]["p50"] is None, g' || fail "a killed run says what it cannot know"

expect_exit 3 "$ASSAY" run --generate 4 mlp
expect_has err "no known role in a generation"

[ -e "$BUILD/onnxruntime" ] || [ -n "${ASSAY_ORT_LIBRARY-}" ] || skip "no ONNX Runtime is set up here"
count=0
model=llama:layers=2,width=32,heads=4,kv_heads=2,head_dim=8,ffn=64,vocab=97,tied=0
for seed in 1 1 2; do
    expect_exit 0 "$ASSAY" run -q --generate 12 --prompt 6 --batch 2 --iters 3 --seed "$seed" --json "$model"
    python3 "$ROOT/tests/schema_check.py" run out || fail "the JSON is not as promised"
    cp out "ran$((++count))"
done
python3 - <<'END' || fail "tokens do not follow the seed"
import json
one, two, three = (json.load(open(f"ran{i}"))["trials"][0] for i in (1, 2, 3))
ids = [t["generation"]["token_ids"] for t in (one, two, three)]
assert ids[0] == ids[1] != ids[2], ids
assert all(len(i) == 12 and all(0 <= t < 97 for t in i) for i in ids), ids
assert one["generation"]["prompt"] == 6 and one["generation"]["batch"] == 2
metrics = {name: m["value"] for name, m in one["metrics"].items()}
assert metrics["llm.itl"] * 11 + metrics["llm.ttft"] <= metrics["latency.max"] * 2
assert metrics["compute.flops"] > 0 and metrics["llm.choose"] > 0, metrics
assert not any("past" in note.split("'")[1::2] for note in one["workload"]["notes"])
END
