#!/usr/bin/env bash
# record.sh ASSAY ROOT OUT: what a program prints of the kept profiles and of the commands that measure nothing, a file each in OUT.
# The output of assay 0.1.0 is expected.tar.gz; tests/cli/since_0_1_0.sh compares what the program prints today.
set -u
assay=$1 root=$2 out=$3
mkdir -p "$out" work
cd work || exit 1
export XDG_CONFIG_HOME=$PWD XDG_CACHE_HOME=$PWD/cache ASSAY_ORT_LIBRARY=/nowhere
print() { # print FILE ARGUMENT…
    local file=$1
    shift
    "$assay" "$@" >"$out/$file" 2>"$out/$file.err"
    local status=$?
    [ $status -eq 0 ] || echo "status $status" >>"$out/$file.err"
    [ -s "$out/$file.err" ] || rm "$out/$file.err"
}

tables='metrics layers layer-times peak steps groups launches samples series spans allocations counters ceilings sweep comparison tune'
for packed in "$root"/tests/golden/0.1.0/profiles/*.assay.gz; do
    name=$(basename "$packed" .assay.gz)
    gzip -dc "$packed" >"$name.assay"
    print "$name.json" report "$name.assay" --json
    print "$name.md" report "$name.assay" --format markdown --full
    print "$name.txt" report "$name.assay" --columns 200 --full
    print "$name-80.txt" report "$name.assay" --columns 80 --full
    print "$name.html" report "$name.assay" --format html
    print "$name.xml" report "$name.assay" --format junit
    print "$name.explorer.json" report "$name.assay" --format model-explorer
    for table in $tables; do print "$name.$table.csv" report "$name.assay" --format csv --table "$table"; done
done
for name in run-cfc run-require run-mlp; do
    for detail in basic detailed; do
        print "$name-$detail.json" report $name.assay --detail $detail --json
        print "$name-$detail.txt" report $name.assay --detail $detail --columns 200
    done
done
for name in advise advise-withdrawn run-cfc run-ceilings counters memory sweep-batch; do
    print "advise-$name.json" advise $name.assay --json
    print "advise-$name.txt" advise $name.assay --columns 200
done
for pair in 'run-cfc run-groups' 'run-fake run-failed' 'run-mlp run-ceilings' 'compare-models compare-power' 'power power' 'tune sweep-batch'; do
    set -- $pair
    print "diff-$1-$2.json" report "$1.assay" "$2.assay" --json
    print "diff-$1-$2.txt" report "$1.assay" "$2.assay" --columns 200 --top 0
    print "diff-$1-$2.md" report "$1.assay" "$2.assay" --format markdown
done
print diff-run-cfc-run-groups.html report run-cfc.assay run-groups.assay --format html
print diff-three.txt report run-cfc.assay run-groups.assay run-mlp.assay --columns 200
print diff-three.json report run-cfc.assay run-groups.assay run-mlp.assay --json

cp "$root"/tests/fixtures/models/encoder/model.onnx encoder.onnx
cp "$root"/tests/fixtures/models/inspect/*.onnx . 2>/dev/null
models='cfc:seq=4 ltc lora mlp resnet50 gpt2:layers=1 encoder.onnx'
for file in mlp.onnx mlp_wide.onnx conflict.onnx unknown.onnx; do [ -e "$file" ] && models="$models $file"; done
for model in $models; do
    name=inspect-${model%%:*}
    case $model in gpt2*) sizes=(--seq 1 --dim past=1) ;; *) sizes=() ;; esac # what 0.1.0 took
    print "$name.json" inspect "$model" "${sizes[@]}" --json
    print "$name.txt" inspect "$model" "${sizes[@]}" --columns 200 --layers --top 0
    print "$name-80.txt" inspect "$model" "${sizes[@]}" --columns 80
    print "$name.md" inspect "$model" "${sizes[@]}" --format markdown
    print "$name.dot" inspect "$model" "${sizes[@]}" --dot
    for table in layers operators parameters metrics; do print "$name.$table.csv" inspect "$model" "${sizes[@]}" --format csv --table $table; done
    print "check-$name.json" check "$model" "${sizes[@]}" --target ane --batch 1 --json
    print "check-$name.txt" check "$model" "${sizes[@]}" --target ane --batch 1 --columns 200 --all
    print "check-$name.xml" check "$model" "${sizes[@]}" --target ane --batch 1 --format junit
    for chip in 'M1 Max' 'M4'; do
        print "predict-$name-${chip// /-}.json" predict "$model" "${sizes[@]}" --chip "$chip" --json
        print "predict-$name-${chip// /-}.txt" predict "$model" "${sizes[@]}" --chip "$chip" --columns 200
    done
done
print inspect-diff.json inspect mlp mlp:width=64 --json
print inspect-diff.txt inspect mlp lora --columns 200
print inspect-diff-models.txt inspect resnet50 mobilenetv2 --columns 200
for model in mlp encoder.onnx; do
    name=check-fake-${model%.onnx}
    ASSAY_FAKE_DEVICES='cpu;gpu:0;npu:0=refused' ASSAY_FAKE_ASSIGNMENT=Softmax print "$name.json" check $model --target gpu:0 --engine fake --json
    ASSAY_FAKE_DEVICES='cpu;gpu:0;npu:0=refused' ASSAY_FAKE_ASSIGNMENT=Softmax print "$name.txt" check $model --target gpu:0 --engine fake --columns 200
    ASSAY_FAKE_DEVICES='cpu;gpu:0;npu:0=refused' ASSAY_FAKE_ASSIGNMENT=Softmax print "$name.xml" check $model --target gpu:0 --engine fake --format junit
done
print predict-chips.json predict --chips --json
print predict-chips.txt predict --chips --columns 200
print predict-validate.json predict --validate --json
print predict-validate.txt predict --validate --columns 200
print advise-rules.json advise --list --json
print advise-rules.txt advise --list --columns 200
print report-list.json report --list --json
for machine in "$root"/tests/fixtures/fsroot-*/; do
    name=$(basename "$machine")
    ASSAY_FSROOT=$machine ASSAY_FAKE_DEVICES='cpu;gpu:0=software;npu:0=refused' print "devices-$name.json" devices --engine fake --json
    ASSAY_FSROOT=$machine ASSAY_FAKE_DEVICES='cpu;gpu:0=software;npu:0=refused' print "devices-$name.txt" devices --engine fake --columns 200
    ASSAY_FSROOT=$machine print "doctor-$name.json" doctor --json
    ASSAY_FSROOT=$machine print "doctor-$name.txt" doctor
done
print make.json make cfc:seq=4 -o made.onnx --json
print make.txt make lora -o lora.onnx --quiet
print make-rewrite.json make mlp --float16 -o half.onnx --json

# What measures, on the fake engine, whose clock is scripted.
fresh() { # fresh NAME ARGUMENT…
    local name=$1
    shift
    print "$name.json" "$@" --json -q -o "$name.assay"
    print "$name.txt" report "$name.assay" --columns 200 --full
    print "$name.md" report "$name.assay" --format markdown --full
    print "$name.csv" report "$name.assay" --format csv
}
export ASSAY_FSROOT=$root/tests/fixtures/fsroot-laptop
export ASSAY_FAKE_DEVICES='cpu;gpu:0;npu:0=software' ASSAY_FAKE_ASSIGNMENT=Softmax ASSAY_FAKE_SCRIPTS='gpu:0 steady=50us'
layers='load=2ms;compile=3ms;first=9ms;steady=100us;layers=node_MatMul_11:40us:MatMul,node_Softmax_74:20us:Softmax;engine=10us'
fresh fresh-run run encoder.onnx --engine fake --script "$layers" --launches 5 --iters 60 --warmup 5
fresh fresh-streams run mlp --engine fake --script 'steady=100us' --streams 2 --iters 60 --warmup 5
fresh fresh-generate run --engine fake --script 'steady=1ms;decode=100us' --generate 8 --iters 20
fresh fresh-failed run --engine fake --script 'steady=1ms;crash_at=30' --iters 50 --warmup 5
fresh fresh-compare compare encoder.onnx --engine fake --script 'steady=100us' --launches 5 --iters 20 --no-power --devices cpu,gpu:0,npu:0
fresh fresh-sweep sweep mlp --engine fake --script 'steady=100us;when_batch=4:steady=200us' --batch 1,2,4 --threads 1,2 --iters 20 --launches 2
fresh fresh-tune tune mlp --engine fake --script 'steady=100us;when_threads=1:steady=80us' --precision float32 --spinning on --threads 1,2 --opt none,all --budget 20s
fresh fresh-memory memory mlp --engine fake --script 'steady=1ms;hold=5000000' --iters 50
fresh fresh-counters counters --engine fake --iters 100 --script 'steady=100us;layers=conv:60us:Conv,relu:30us:Relu;counts=cycles:4000,instructions:10000'
fresh fresh-power power --engine fake --script 'clock=real;steady=2ms' --duration 100ms --idle 0s
fresh fresh-advise advise --engine fake --cpus 0 --threads 2 --opt none --verify --iters 20 --warmup 2 --launches 5 --layers=off --script 'steady=100us;when_threads=1:steady=50us;when_opt=all:steady=80us'
