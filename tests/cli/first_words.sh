# What people type first: a file without a command, a class of devices, llama-bench's words; and one screen of a report.
. "$ROOT/tests/cli/lib.sh"
model=$ROOT/tests/fixtures/models/encoder/model.onnx
fake=(--engine fake --iters 20 --warmup 2 -q)
script='steady=100us;layers=a:40us:MatMul,b:20us:Softmax,c:10us:MatMul;engine=10us'
# a file is run, a profile is reported, another word is no command
expect_exit 0 "$ASSAY" "$model" "${fake[@]}" --script "$script" -o kept.assay --json
expect_equal "$(json_get out .command)" run
expect_equal "$(json_get out '.trials[0].operators.length')" 2
expect_equal "$(json_get out '.trials[0].operators[0].op')" MatMul
expect_equal "$(json_get out '.trials[0].operators[0].layers')" 2
expect_equal "$(json_get out '.trials[0].operators[0].time_us')" 50
expect_equal "$(json_get out '.trials[0].operators[1].share')" 0.2
cp "$model" plain
expect_exit 0 "$ASSAY" plain "${fake[@]}" --script "$script"
expect_error 3 "missing.onnx" "$ASSAY" missing.onnx
mkdir folder
expect_error 2 "unknown command 'folder'" "$ASSAY" folder
expect_exit 0 "$ASSAY" kept.assay
cp out short
[ "$(wc -l <short)" -le 33 ] || fail "the report has $(wc -l <short) lines"
expect_exit 0 "$ASSAY" report kept.assay
cmp -s out short || fail "assay FILE is not assay report FILE"
expect_exit 0 "$ASSAY" kept.assay --full
[ "$(wc -l <out)" -gt "$(wc -l <short)" ] || fail "--full is not longer"
expect_exit 0 "$ASSAY" kept.assay --format md
cp out short.md
[ "$(wc -l <short.md)" -le 30 ] || fail "the Markdown has $(wc -l <short.md) lines"
expect_exit 0 "$ASSAY" kept.assay --format markdown
cmp -s out short.md || fail "md is not markdown"
expect_exit 0 "$ASSAY" kept.assay --format csv --table operators
expect_equal "$(sed -n 2p out)" "1,MatMul,2,50,0.5,,derived"
expect_equal "$(sed -n 4p out)" "1,(engine per run),,10,0.1,,measured"
# a class is its first usable device, a real one before an emulated one
device() { # device CLASS EXPECTED
    expect_exit 0 "$ASSAY" run "$model" "${fake[@]}" --script steady=100us --device "$1" --json
    expect_equal "$(json_get out '.trials[0].target.device')" "$2"
}
export ASSAY_FAKE_DEVICES='cpu;gpu:0=software;gpu:1;npu:0=software'
device gpu gpu:1
device npu npu:0
device cpu cpu
export ASSAY_FAKE_DEVICES='cpu;gpu:0=refused'
expect_error 2 "no device of class gpu can be used here" "$ASSAY" run "$model" "${fake[@]}" --script steady=100us --device gpu
unset ASSAY_FAKE_DEVICES
# llama-bench's words: five generations, a row for the prompt and one for the tokens
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=1ms;decode=100us;prompt=16' --pp 16 --tg 8 -r 5 -q -o g.assay --format csv --table bench
python3 - <<'PYTHON' || fail "the table"
import csv
pp, tg = csv.DictReader(open("out"))
assert (pp["test"], tg["test"]) == ("pp16", "tg8"), (pp, tg)
assert float(pp["tokens_per_second"]) == 16000 and float(tg["tokens_per_second"]) == 10000, (pp, tg)
assert float(pp["sd"]) == 0 and float(tg["sd"]) == 0, (pp, tg)
PYTHON
expect_exit 0 "$ASSAY" report g.assay --format md
grep -q '| tg8 @ d16 | =10000.00 ± 0.00 |$' out || fail "the row of llama-bench"
expect_error 2 "--repetitions cannot be used with" "$ASSAY" run --engine fake --script steady=1ms -r 5 --iters 3
# the tables of a profile, a line each
expect_exit 0 "$ASSAY" query kept.assay
[ "$(wc -l <out)" -le 60 ] || fail "query lists $(wc -l <out) lines"
