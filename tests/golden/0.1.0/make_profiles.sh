#!/usr/bin/env bash
# make_profiles.sh ASSAY MODELS FSROOT OUT: the profiles of this folder, one of each kind. They were made once, by assay 0.1.0; a later
# program must report the same numbers of them (tests/cli/since_0_1_0.sh), so they are never made again.
set -u
assay=$1 models=$2 fsroot=$3 out=$4
mkdir -p "$out"
cd "$(mktemp -d /tmp/demo.XXXXXX)" || exit 1
export XDG_CONFIG_HOME=$PWD XDG_CACHE_HOME=$PWD
keep() { # keep NAME COMMAND…
    local name=$1
    shift
    "$assay" "$@" -q -o "$name.assay" >"$name.log" 2>&1
    echo "$name: status $?, $(stat -c %s "$name.assay") bytes"
    gzip -9n <"$name.assay" >"$out/$name.assay.gz"
}
cp "$models/encoder/model.onnx" encoder.onnx
encoder=encoder.onnx

keep run-fake run "$encoder" --engine fake --launches 5 --iters 60 --warmup 5 --script \
    'load=2ms;compile=3ms;first=9ms;steady=100us,101us,99us,104us;noise=900ns;seed=7;launch=0.01;memory=4000000;memory_peak=5000000;layers=node_MatMul_11:40us:MatMul,node_Softmax_74:20us:Softmax,other:-:Add;engine=10us'
keep run-cfc run cfc:seq=4 --launches 5 --iters 200 --threads 1 --power --memory --counters --idle 200ms
keep run-groups run cfc --launches 2 --iters 100 --threads 1
keep run-mlp run mlp --iters 50 --require m1 --detail detailed --counters --memory
keep run-generate run --engine fake --script 'steady=1ms;decode=100us' --generate 8 --iters 20
keep run-failed run --engine fake --script 'steady=1ms;crash_at=30' --iters 50 --warmup 5 --launches 3
keep run-require run --engine fake --script 'steady=1ms;layers=conv:600us:Conv,relu:300us:Relu;engine=100us' --iters 700 --require m1-pro
keep run-ceilings run mlp --iters 200 --threads 1 --ceilings --launches 5
ASSAY_FAKE_DEVICES='cpu;npu;gpu' ASSAY_FAKE_ASSIGNMENT=Softmax ASSAY_FAKE_SCRIPTS='npu steady=50us|gpu output=1.5' \
    keep compare-devices compare "$encoder" --engine fake --script 'steady=100us' --launches 5 --iters 20 --no-power --devices cpu,npu,gpu
keep compare-models compare mlp cfc --launches 5 --iters 20 --no-power
keep sweep-batch sweep mlp --batch 1,2,4,8 --threads 1,2 --iters 20 --launches 3 --slo p50=5ms --memory-budget 900MB --confirm
ASSAY_FAKE_DEVICES='cpu;gpu:0;npu:0=software' \
    keep sweep-matrix sweep mlp --engine fake --script 'steady=100us' --devices cpu,gpu:0,npu:0 --opt none,all --iters 20 --launches 2
keep sweep-lost sweep mlp --engine fake --script 'steady=100us;when_batch=4:open_error=no room' --batch 1,2,4 --iters 20 --launches 2
keep tune tune mlp --engine fake --script 'steady=100us;when_threads=1:steady=80us;when_opt=none:steady=120us' --precision float32 --spinning on --threads 1,2 --opt none,all --budget 20s
mkdir root && cp -r "$fsroot/." root && chmod -R u+w root
cat >feed.py <<'PYTHON'
import os, sys, time
begin = time.monotonic()
file = os.open(sys.argv[1], os.O_WRONLY)
while not os.path.exists("stop") and time.monotonic() - begin < 60:
    os.pwrite(file, b"%d\n" % (100_000_000_000 + int((time.monotonic() - begin) * 40e6)), 0)
    time.sleep(0.002)
PYTHON
python3 feed.py "root/sys/class/powercap/intel-rapl:0/energy_uj" &
ASSAY_FSROOT=$PWD/root keep power power --engine fake --script 'clock=real;steady=2ms' --duration 800ms --idle 300ms --interval 20ms
ASSAY_FSROOT=$PWD/root keep compare-power compare --engine fake --script 'clock=real;steady=2ms' --launches 5 --time 200ms mlp mlp
touch stop
wait
keep memory memory cfc --iters 50
keep counters counters mlp --iters 100
keep counters-fake counters "$encoder" --engine fake --iters 100 --script \
    'steady=100us;layers=conv:60us:Conv,relu:30us:Relu;counts=cycles:4000,instructions:10000,task-clock:50000'
keep advise advise --engine fake --cpus 0 --threads 2 --opt none --verify --iters 20 --warmup 2 --launches 5 --layers=off \
    --script 'steady=100us;when_threads=1:steady=50us;when_opt=all:steady=80us'
keep advise-withdrawn advise "$encoder" --engine fake --threads 2 --opt none --verify --iters 20 --warmup 2 --launches 5 \
    --script 'steady=100us;when_threads=1:steady=125us;when_opt=all:steady=50us;when_opt=all:output=1.25;first=9ms'
for name in *.log; do echo "== $name"; tail -n 3 "$name"; done
