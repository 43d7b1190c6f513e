#!/usr/bin/env bash
# h200_bench.sh DIST [OUT [once]] - runs `assay bench` on cpu and cuda:0 and checks what it says; then, unless "once", cuda:0 again.
#
# DIST is a folder of `make dist`. ONNX Runtime with the CUDA provider is found through $ASSAY_ORT_LIBRARY (default: the first
# libonnxruntime.so of $LD_LIBRARY_PATH), CUDA and cuDNN through $LD_LIBRARY_PATH. Profiles, JSON and the page go to OUT
# (default: $OUT, else the current folder). LAUNCHES, ITERS and ONLY change the size of the runs, THREADS (default 8) is how many
# the engine has: see h200_all.sh. Ceilings are measured for shares of them only if CEILINGS is set. Prints compact lines; the exit
# status is 1 if a check failed. Loading CUDA in every launch dominates: about 5 minutes on an H200.
set -u
dist=${1:?usage: h200_bench.sh DIST [OUT]}
out=${2:-${OUT:-.}}
once=${3:-}
assay=$dist/bin/assay
launches=${LAUNCHES:-5} iters=${ITERS:-1000} only=${ONLY:-} threads=${THREADS:-8}
failed=0

for folder in $(printf '%s' "${LD_LIBRARY_PATH:-}" | tr ':' ' '); do
    [ -n "${ASSAY_ORT_LIBRARY:-}" ] && break
    for file in "$folder"/libonnxruntime.so*; do
        [ -f "$file" ] && export ASSAY_ORT_LIBRARY=$file && break
    done
done
echo "library: ${ASSAY_ORT_LIBRARY:-the one of DIST}"
mkdir -p "$out"

check() { # check TEXT COMMAND…
    local text=$1
    shift
    if "$@"; then echo "ok    $text"; else echo "FAIL  $text" && failed=1; fi
}

json() { # json FILE EXPRESSION: of the member "bench" (b) of a report
    python3 - "$1" "$2" <<'EOF'
import json, math, statistics, sys
document = json.load(open(sys.argv[1]))
b, trials = document["bench"], document["trials"]
rows = b["benchmarks"]
def drift(trial): return trial["metrics"].get("drift.relative_l2", {}).get("value")
print(eval(sys.argv[2]))
EOF
}

holds() { [ "$(json "$1" "$2")" = True ]; }

common=(--iters "$iters" --launches "$launches" --threads "$threads" ${only:+--only "$only"})
start=$(date +%s)
"$assay" bench --devices cpu,cuda:0 "${common[@]}" ${CEILINGS:+--ceilings} -o "$out/bench.assay" --report "$out/bench.html" --json -q \
    >"$out/bench.json" 2>"$out/bench.err"
echo "bench on cpu and cuda:0: status $?, $(($(date +%s) - start)) s"
head -5 "$out/bench.err"
"$assay" report "$out/bench.assay" --columns 120 | sed -n '1,70p'
check "every benchmark ran on both devices" holds "$out/bench.json" 'all(r["usable"] for r in rows) and len({r["device"] for r in rows}) == 2'
check "five launches of each were good" holds "$out/bench.json" \
    "all(sum(l['state'] == 'ok' for l in t['launches']) >= $launches for t in trials)"
check "the outputs of both devices agree (relative L2 <= 0.01)" holds "$out/bench.json" \
    'all(drift(t) is not None and drift(t) <= 0.01 for t in trials if t["target"]["device"] == "cuda:0")'
check "no share of a ceiling is above 105 %" holds "$out/bench.json" \
    'all((r[k] or 0) <= 1.05 for r in rows for k in ("bandwidth_share", "compute_share"))'
check "throughput x median latency is about 1 with one request in flight" holds "$out/bench.json" \
    'statistics.median((r["inferences_per_s"] or 0) * (r["latency_s"] or 0) for r in rows) > 0.8'

[ -z "$once" ] || exit $failed

# The same again: two runs of one program must mostly show no difference, and the GPU against the CPU must show one.
start=$(date +%s)
"$assay" bench --device cuda:0 "${common[@]}" --against "$out/bench.assay" --json -q >"$out/again.json" 2>"$out/again.err"
echo "cuda:0 again, against the first: status $?, $(($(date +%s) - start)) s"
head -5 "$out/again.err"
json "$out/again.json" '"faster %d, slower %d, no difference %d, no verdict %d" % tuple(b[k] for k in ("faster", "slower", "same", "unjudged"))'
json "$out/again.json" '"\n".join("%-14s %s (%s to %s)" % (r["label"], *("%.3f" % v if v else "-" for v in (r["ratio"], r["ratio_low"], r["ratio_high"]))) for r in rows)'
check "every benchmark has a ratio to the first run" holds "$out/again.json" 'all(r["ratio"] for r in rows)'
exit $failed
