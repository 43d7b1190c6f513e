# live_exports.sh - exported timelines as others read them: Perfetto's by its own package, speedscope's by its published schema. A made-up trace with
# events that nest, cross, touch and have no duration, the Kineto traces of ../shared/data, and those of $ASSAY_TRACES (files or folders) where it is set: every
# event is there, to the ns.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python schema=$ROOT/.cache/speedscope/current/dist/release/file-format-schema.json
"$python" -c 'import perfetto, jsonschema' 2>/dev/null || python=${ASSAY_ORACLE_PYTHON:-}
[ -n "$python" ] && "$python" -c 'import perfetto, jsonschema' 2>/dev/null ||
    skip "no perfetto package: scripts/setup oracle fetches it, or ASSAY_ORACLE_PYTHON names a Python that has it"
[ -e "$schema" ] || skip "no .cache/speedscope: scripts/setup oracle fetches it"
python3 - <<'P' >made.json
import json
import random
random.seed(4)
names = ["aten::mm", "cudaLaunchKernel", "</script>", "a;b\n\"c\"", "\u202egnp", ""]
events = [{"ph": "X", "cat": random.choice(["cpu_op", "python_function", "cuda_runtime", "user_annotation"]), "name": random.choice(names), "pid": 9,
           "tid": random.randrange(9, 12), "ts": random.randrange(5000) / 8, "dur": random.choice([0, 1, random.randrange(900) / 8]), "args": {}} for _ in range(2000)]
events += [{"ph": "X", "cat": "kernel", "name": "k%d" % (i % 7), "pid": 0, "tid": 7, "ts": i * 2.5, "dur": random.randrange(25) / 8,
            "args": {"device": 0, "stream": 7, "correlation": i + 1}} for i in range(300)]
json.dump({"traceEvents": events}, open(1, "w"))
P
traces=made.json
for place in "$ROOT"/../shared/data/traces/kineto-*.json.gz "$ROOT"/../shared/data/traces/labelled ${ASSAY_TRACES-}; do
    [ -e "$place" ] || continue
    traces="$traces $(find "$place" -name '*.json*')"; done
for trace in $traces; do
    expect_exit 0 "$ASSAY" explain "$trace" --export perfetto -o out.perfetto-trace
    expect_exit 0 "$python" "$ROOT/tests/oracle/exports.py" perfetto out.perfetto-trace "$trace"
    expect_exit 0 "$ASSAY" explain "$trace" --export speedscope -o out.speedscope.json
    expect_exit 0 "$python" "$ROOT/tests/oracle/exports.py" speedscope out.speedscope.json "$schema" "$trace"
done
