# live_hta.sh - kernel counts and times, idle classes, queue lengths and overlap against Holistic Trace Analysis, now; and four
# generated ranks, whose straggler HTA must name as well.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
"$python" -c 'import hta' 2>/dev/null || python=${ASSAY_HTA_PYTHON:-}
[ -n "$python" ] && "$python" -c 'import hta' 2>/dev/null ||
    skip "no HolisticTraceAnalysis: install it into .cache/oracle, or name a Python that has it in ASSAY_HTA_PYTHON"
export ASSAY_TEST_TIMEOUT_S=900
python3 "$ROOT/tests/oracle/make_ranks.py" ranks 2
traces=$(ls "$ROOT"/../shared/data/traces/kineto-*.json.gz "$ROOT"/../shared/data/traces/labelled/*.json.gz 2>/dev/null || true)
# shellcheck disable=SC2086
"$python" "$ROOT/tests/oracle/hta_numbers.py" live "$ASSAY" $traces ranks/rank*.json
"$python" - <<'END'
import logging, os, warnings
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")
from hta.trace_analysis import TraceAnalysis
found = TraceAnalysis(trace_dir="ranks", trace_files={r: "ranks/rank%d.json" % r for r in range(4)},
                      include_last_profiler_step=True).get_potential_stragglers(num_candidates=1)
assert found == [2], found
END
expect_exit 0 "$ASSAY" explain ranks/rank*.json --json
expect_equal "$(python3 -c 'import json; print(json.load(open("out"))["ranks"]["straggler"])')" 2
