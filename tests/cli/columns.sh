# plain-only: many pages; test_text_pages runs under sanitizers
# Every page of text, 40, 60 and 80 columns wide, in Unicode and in ASCII: no line is wider than asked, and no heading loses its words.
. "$ROOT/tests/cli/lib.sh"
export ASSAY_FAKE_DEVICES='cpu;npu;gpu:0'
model=$ROOT/tests/fixtures/models/encoder/model.onnx
fake=(--engine fake -q)
steady=(--script 'steady=100us;noise=5us;layers=conv:60us:Conv,relu:30us:Relu;engine=7us')
expect_exit 0 "$ASSAY" run "${fake[@]}" "${steady[@]}" --iters 50 --launches 2 -o run.assay
expect_exit 0 "$ASSAY" run "${fake[@]}" "${steady[@]}" --iters 50 -o second.assay
expect_exit 0 env ASSAY_FAKE_ASSIGNMENT=Softmax ASSAY_FAKE_SCRIPTS='npu steady=50us|gpu output=nan' \
    "$ASSAY" compare "$model" "${fake[@]}" --script 'steady=100us' --iters 20 --launches 5 --no-power -o compare.assay
expect_exit 0 "$ASSAY" sweep mlp "${fake[@]}" --script 'steady=100us' --devices cpu,gpu --opt none,all --batch 1,2 --iters 20 --launches 1 -o sweep.assay
expect_exit 0 "$ASSAY" tune mlp "${fake[@]}" --script 'steady=100us' --precision float32 --spinning on --threads 1,2 --opt none,all --budget 10s -o tune.assay
expect_exit 0 "$ASSAY" memory "$model" "${fake[@]}" "${steady[@]}" --iters 20 -o memory.assay
expect_exit 0 env ASSAY_FSROOT="$ROOT/tests/fixtures/fsroot-intel-laptop" "$ASSAY" power "${fake[@]}" --script 'clock=real;steady=2ms' --duration 100ms \
    --idle 0s -o power.assay
expect_exit 0 "$ASSAY" counters "${fake[@]}" "${steady[@]}" --iters 20 -o counters.assay

# each page at each width: the words stand there, over however many lines
cat >pages.py <<'PYTHON'
import subprocess, sys, unicodedata
assay, model = sys.argv[1:]
pages = [
    ("report run.assay", ["numbers p50", "operator", "metrics not"]),
    ("report run.assay second.assay", ["Layers"]),
    ("report compare.assay", ["Numbers medians", "Speed and energy against the reference; 95 % intervals",
                              "Outputs on the same inputs", "Placement of the nodes"]),
    ("report sweep.assay", ["Configurations"]),
    ("report tune.assay", ["Configurations the best"]),
    ("report memory.assay", ["Alive at the peak", "Layers by the bytes they move"]),
    ("report power.assay", ["Power in the measured windows"]),
    ("report counters.assay", []),  # what is counted is the machine's
    ("advise run.assay", ["Not evaluated"]),
    ("inspect " + model, ["peak activations"]),
    ("check --engine fake --target gpu:0 " + model, ["queried fake 1, FakeExecutionProvider on gpu:0"]),
    ("report --list", ["Formats", "markdown", "roofline"]),
    ("devices --engine fake", ["npu"]),
]
for command, words in pages:
    for columns, signs in (40, []), (40, ["--ascii"]), (60, []), (80, ["--ascii"]):
        asked = [assay, *command.split(" "), "--columns", str(columns), *signs]
        out = subprocess.run(asked, capture_output=True, check=True).stdout.decode("ascii" if signs else "utf-8")
        for line in out.split("\n"):
            width = sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
            if width > columns:
                sys.exit(f"{command}: {width} columns, {columns} were asked for: {line}")
        for text in words:
            if (text.replace("·", "|") if signs else text) not in " ".join(out.split()):
                sys.exit(f"{command} --columns {columns}: '{text}' is not there:\n{out}")
PYTHON
cp "$model" model.onnx
python3 pages.py "$ASSAY" model.onnx || fail "a page is not as it must be"
