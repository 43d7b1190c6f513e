#!/usr/bin/env bash
# h200_all.sh DIST [PART…] - what only a machine with a GPU can show, in parts of at most nine minutes:
#
#   short   the four below in one process: about three minutes
#   ratio   resnet50, mobilenetv2 and gpt2: runs with recording against runs beside them without, 16 alternating rounds, three
#           times each (h200_layers.py)
#   p50     `assay run resnet50 --device cuda:0`: the traced run against the unprofiled median
#   graphs  a session that replays a CUDA graph: its kernels by layer, its latency, its timeline
#   drops   CUPTI's buffers exhausted by a storm of launches: recorded + dropped = launched
#   bench   `assay bench --devices cpu,cuda:0` to its end, 1,000 iterations in each of five launches, beside nothing: about five
#           minutes. With eight threads (--threads 8): with all of a virtual machine's sixteen cores spinning, others of its host
#           interfere, and the benchmark, which notices that, would measure everything twice.
#
# Without PART: short, then bench. DIST is a folder of `make dist`; ONNX Runtime with the CUDA provider is found through
# $ASSAY_ORT_LIBRARY (default: the first libonnxruntime.so of $LD_LIBRARY_PATH), CUDA and cuDNN through $LD_LIBRARY_PATH. Output goes
# to OUT (default: out). A line that ends in MISSES or begins with FAIL is a check that failed: the exit status is 1 then.
set -u
dist=${1:?usage: h200_all.sh DIST [PART...]}
shift
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-out}
mkdir -p "$out"
[ $# -gt 0 ] || set -- short bench

for folder in $(printf '%s' "${LD_LIBRARY_PATH:-}" | tr ':' ' '); do
    [ -n "${ASSAY_ORT_LIBRARY:-}" ] && break
    for file in "$folder"/libonnxruntime.so*; do
        [ -f "$file" ] && export ASSAY_ORT_LIBRARY=$file && break
    done
done
if [ -z "${ASSAY_CUPTI:-}" ]; then # of a Python package, where the loader does not look
    ASSAY_CUPTI=$(python3 -c 'import glob, sys
found = [path for folder in sys.path for path in sorted(glob.glob(f"{folder}/nvidia/**/libcupti.so.1[23]", recursive=True), reverse=True)]
print(found[0] if found else "")')
    [ -n "$ASSAY_CUPTI" ] && export ASSAY_CUPTI || unset ASSAY_CUPTI
fi
echo "library: ${ASSAY_ORT_LIBRARY:-the one of DIST}, CUPTI: ${ASSAY_CUPTI:-that of the loader}"

layers() { # layers PARTS SECONDS
    python3 "$here/h200_layers.py" "$dist" "$out" --only "$1" --budget "$2" 2>&1 | tee "$out/layers-${1//,/-}.log"
}

bench() {
    local begin=$SECONDS status
    timeout -s INT -k 30 540 "$here/h200_bench.sh" "$dist" "$out" once 2>&1 | tee "$out/bench.log"
    status=${PIPESTATUS[0]}
    echo "bench: $((SECONDS - begin)) s, status $status"
    [ "$status" -eq 0 ] || echo "FAIL  bench"
}

for part in "$@"; do
    case $part in
    short) layers graphs,drops,p50,ratio 420 ;;
    ratio | p50 | graphs | drops) layers "$part" 300 ;;
    bench) bench ;;
    *) echo "FAIL  there is no part '$part'" ;;
    esac
done 2>&1 | tee "$out/all.log"
! grep -qE 'MISSES|^FAIL' "$out/all.log"
