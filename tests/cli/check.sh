# assay check: the page, the JSON and the JUnit of small models; the statuses; and what is wrong is said in one line.
. "$ROOT/tests/cli/lib.sh"
export LC_ALL=C.UTF-8
cp "$ROOT"/tests/fixtures/models/inspect/*.onnx .

# the Neural Engine: rules, no Mac and no engine needed
expect_exit 0 "$ASSAY" check mlp.onnx --target ane --batch 1
expect_lines err 0
expect_has out "PASS: 4 notes; every node may run on the Neural Engine."
expect_exit 0 "$ASSAY" check mlp.onnx --target ane # the batch is open
expect_has out "WARN: 1 warning"
expect_exit 1 "$ASSAY" check mlp.onnx --target ane --strict
expect_exit 0 "$ASSAY" check mlp.onnx --target ane --batch 1 --strict
expect_exit 1 "$ASSAY" check conflict.onnx --target ane
expect_has out "FAIL: 1 error"
expect_has out "[shape-conflict]"

# the pages, exactly
golden() { # golden NAME STATUS ARGUMENTS…
    expect_exit "$2" "$ASSAY" "${@:3}"
    expect_golden "check-$1" out
}
golden ane.txt 0 check mlp.onnx --target ane
golden ane-ascii.txt 0 check gpt2:layers=1,width=64,heads=2,vocab=20000 --target ane --batch 1 --seq 4 --ascii
export ASSAY_FAKE_DEVICES="cpu;gpu:0;npu=refused"
ASSAY_FAKE_ASSIGNMENT=Relu golden device.txt 0 check mlp.onnx --target gpu:0 --engine fake --batch 4
golden no-device.txt 4 check mlp.onnx --target npu --engine fake --batch 4

# one document: every view says the same, and programs have its tables
for target in "--target ane" "--target gpu:0 --engine fake" "--target npu --engine fake"; do
    ASSAY_FAKE_ASSIGNMENT=Relu python3 "$ROOT/tests/formats_same.py" "$ASSAY" check mlp.onnx $target || fail "$target: the views differ"
done
ASSAY_FAKE_ASSIGNMENT=Relu expect_exit 0 "$ASSAY" check mlp.onnx --target gpu:0 --engine fake --format csv
expect_has out "fallback,warning,act,Relu,"
ASSAY_FAKE_ASSIGNMENT=Relu expect_exit 0 "$ASSAY" check mlp.onnx --target gpu:0 --engine fake --format csv --table partitions
expect_lines out 4
expect_exit 0 "$ASSAY" check mlp.onnx --target ane --format csv --table chips
expect_has out "M1,warn,0,0,1,1"
expect_exit 0 "$ASSAY" check mlp.onnx --target ane -o page.html
python3 "$ROOT/tests/page_check.py" page.html --no-data --sections summary,warnings --without errors || fail "the page is not well made"
expect_exit 0 "$ASSAY" check mlp.onnx --target ane -o by-name.xml
grep -q '<testsuite' by-name.xml || fail "by-name.xml is no JUnit"

# gated by the generation
expect_exit 0 "$ASSAY" check gpt2:layers=1,width=64,heads=2,vocab=20000 --target ane --batch 1 --seq 4 --json
python3 "$ROOT/tests/schema_check.py" check out || fail "not the promised shape"
expect_equal "$(json_get out .command)" check
expect_equal "$(json_get out .verdict)" warn
expect_equal "$(json_get out '.partitions.method')" rules
expect_has out '"chips": "A14, M1"'
expect_has out '"chips": "A14, A15, M1, M2, M3"'
expect_exit 0 "$ASSAY" check gpt2:layers=1,width=64,heads=2,vocab=20000 --target ane --batch 1 --seq 4 --chip "M4 Max" --json
expect_not out '"rule": "gather"'
expect_not out '"rule": "extent"'
expect_equal "$(json_get out '.chips[0].name')" M4
expect_equal "$(json_get out '.chips[0].nodes_elsewhere')" 0

# text fits at any width, and --ascii is ASCII
for width in 40 47 63 80 100; do
    "$ASSAY" check gpt2:layers=1,width=64,heads=2,vocab=20000 --target ane --columns $width --all >out
    LC_ALL=C awk -v most=$width '{ gsub(/[\200-\277]/, ""); if (length($0) > most) { print; bad = 1 } } END { exit bad }' out >long ||
        { cat long >&2; fail "lines longer than $width"; }
done
"$ASSAY" check gpt2:layers=1,width=64,heads=2,vocab=20000 --target ane --ascii >out
if LC_ALL=C grep -q '[^ -~]' out; then fail "--ascii is not ASCII"; fi

# JUnit is XML, counts its own cases, and follows --strict
expect_exit 0 "$ASSAY" check mlp.onnx --target ane --format junit -o check.xml
python3 - <<'EOF' || fail "the JUnit file does not add up"
import xml.etree.ElementTree as tree
suite = tree.parse("check.xml").getroot()[0]
cases = suite.findall("testcase")
assert int(suite.get("tests")) == len(cases) > 30
assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == 0
assert [c for c in cases if c.get("name") == "dynamic-input"][0].find("system-out") is not None
EOF
expect_exit 1 "$ASSAY" check mlp.onnx --target ane --format junit --strict
expect_has out 'failures="1"'

# an engine that is asked: scripted, so exact
expect_exit 0 "$ASSAY" check mlp.onnx --target gpu:0 --engine fake --json
python3 "$ROOT/tests/schema_check.py" check out || fail "not the promised shape"
expect_equal "$(json_get out .verdict)" pass
expect_equal "$(json_get out '.partitions.flops_share')" 1
ASSAY_FAKE_ASSIGNMENT=Relu expect_exit 0 "$ASSAY" check mlp.onnx --target gpu:0 --engine fake --json
python3 "$ROOT/tests/schema_check.py" check out || fail "not the promised shape"
expect_equal "$(json_get out .verdict)" warn
expect_equal "$(json_get out '.items[0].rule')" fallback
expect_equal "$(json_get out '.items[0].node')" act
expect_equal "$(json_get out '.partitions.target.partitions')" 2
expect_equal "$(json_get out '.partitions.crossings')" 2
expect_equal "$(json_get out '.partitions.crossing_bytes')" 256 # two times 32 float32
ASSAY_FAKE_ASSIGNMENT=Relu expect_exit 1 "$ASSAY" check mlp.onnx --target gpu:0 --engine fake --strict
ASSAY_FAKE_ASSIGNMENT=Gemm expect_exit 1 "$ASSAY" check mlp.onnx --target gpu:0 --engine fake
expect_has out "mostly-elsewhere"
ASSAY_FAKE_ASSIGNMENT=refuse expect_exit 1 "$ASSAY" check mlp.onnx --target gpu:0 --engine fake
expect_exit 4 "$ASSAY" check mlp.onnx --target npu --engine fake
expect_has out "NO VERDICT"
expect_has out "the script refuses it"
expect_exit 4 "$ASSAY" check mlp.onnx --target npu --engine fake --json
python3 "$ROOT/tests/schema_check.py" check out || fail "not the promised shape"
expect_equal "$(json_get out .verdict)" null
expect_equal "$(json_get out .partitions)" null

# Ctrl-C while a device hangs
ASSAY_FAKE_ASSIGNMENT=hang "$ASSAY" check mlp.onnx --target gpu:0 --engine fake >out 2>err &
asked=$!
for _ in $(seq 300); do # until the device is asked, in a process of its own: a signal that comes earlier finds nobody listening
    pgrep -P $asked >/dev/null && break
    sleep 0.1
done
kill -TERM $asked # a script in the background passes SIGINT on as ignored
wait $asked && status=0 || status=$?
[ "$status" = 130 ] || fail "status $status after Ctrl-C"
expect_has err "interrupted"

# wrong usage
expect_error 2 "--target is missing" "$ASSAY" check mlp.onnx
expect_error 2 "neither ane nor a device" "$ASSAY" check mlp.onnx --target abacus
expect_error 2 "nearest: M" "$ASSAY" check mlp.onnx --target ane --chip M9
expect_error 2 "--chip requires --target ane;" "$ASSAY" check mlp.onnx --target cpu --chip M1
expect_error 2 "cannot be used together" "$ASSAY" check mlp.onnx --target ane --json --format junit
expect_error 2 "is not of the form" "$ASSAY" check mlp.onnx --target ane --dim batch
expect_error 2 "give another name" "$ASSAY" check mlp.onnx --target ane -o mlp.onnx
expect_error 3 "no-such" "$ASSAY" check no-such.onnx --target ane
