# plain-only: many workers; its parts run under sanitizers as unit tests
# tune: the best of a small grid on the fake engine and, where it is here, on ONNX Runtime; JSON, the kept profile, drift, limits, Ctrl-C, wrong usage.
. "$ROOT/tests/cli/lib.sh"
fake="--engine fake --script steady=100us --precision float32 --spinning on"
# every configuration takes the same: all are tried, none is told from the best, the usual settings stay
expect_exit 0 "$ASSAY" tune mlp $fake --threads 1,2 --opt none,all --budget 20s --json -o t.assay
best=$(json_get out '.tune.best')
for text in '"command": "tune"' '"goal": "latency"' '"start": "precision=float32 opt=all threads=2 spinning=on"' '"configurations": 4' \
    '"grid": 4' '"tested": true' '"confirmed": false' '"budget_s": 20' '"drift_limit": 0.01' '"latency_s": 0.0001' '"fate": "finalist"' '"not_apart": true' \
    session.intra_op.allow_spinning; do
    expect_has out "$text"
done
# the kept profile says the same
expect_exit 0 "$ASSAY" report t.assay --json
expect_has out "\"best\": \"$best\""
expect_exit 0 "$ASSAY" report t.assay
expect_has out "tied with it"
expect_has out "4 of 4 configurations"
expect_has out "intra_op_num_threads"
# derived numbers are marked
grep -qE '^> [a-z]+ +[12] +5 +100 µs +=10\.0 k/s ' out || fail "no row that says how its numbers are known"
expect_exit 0 "$ASSAY" report t.assay --ascii --columns 40 --full
awk '/^Use it/ { on = 1 } /^Disturbances|^Not observed/ { on = 0 } on && length($0) > 40 { exit 1 }' out || fail "wider than 40 columns"
for row in 'none +1' 'all +1' 'none +2' 'all +2'; do
    grep -qE "^[>| ] $row " out || fail "no row $row"
done
grep -qE 'in every row +precision float32' out || fail "settings that all rows share are not said"
# the code says the same on a narrow page: Python and JSON still read it
python3 - <<'PYTHON' || fail "the narrow code cannot be read"
import ast, json, re
text = open("out").read()
code = re.search(r"\nUse it +in Python\n(.*?)\n\nIn C, and as JSON\n", text, re.S).group(1)
ast.parse("\n".join(line[2:] for line in code.split("\n")))
options = json.loads(re.search(r"\nJSON session options\n(.*?\n  \})\n", text, re.S).group(1))
assert options["session.intra_op.allow_spinning"] == "1"
PYTHON
# the picture has each configuration once, not each trial
expect_exit 0 "$ASSAY" report t.assay --chart pareto
expect_has out "4 configurations, "
expect_exit 0 "$ASSAY" report t.assay -o t.html # the page has the same: best, configurations, code
python3 "$ROOT/tests/page_check.py" t.html --sections summary,tune,latency --without sweep,comparison || fail "the page of a tuning"
for text in '<tr class="best">' 'ort.InferenceSession' '<tr class="tied">' 'on the front'; do expect_has t.html "$text"; done
# limits that nobody keeps, nothing that runs, one wrong device: the report says it
expect_exit 0 "$ASSAY" tune mlp $fake --threads 1,2 --slo p50=1us --budget 10s --quiet
expect_has out "no configuration that ran is within the limits"
# a limit of which too little is known names what would make it known
expect_exit 0 "$ASSAY" tune mlp $fake --threads 1,2 --slo p99.9=1s --iters 20 --budget 10s --quiet --columns 200
expect_has out "run longer (--time, --iters)"
expect_exit 0 "$ASSAY" sweep mlp $fake --threads 1,2 --slo p99.9=1s --iters 20 --quiet --columns 200
expect_has out "run longer (--time, --iters)"
expect_exit 3 "$ASSAY" tune mlp --engine fake --script open_error=broken --precision float32 --threads 1,2 --budget 10s --quiet
expect_has out "no configuration could be measured"
expect_has err "no configuration could be measured"
# a worker killed from outside is an accident: its launch is repeated, the start's twice
cat >worker <<'WORKER'
#!/bin/bash
n=$(cat calls 2>/dev/null || echo 0)
echo $((n + 1)) >calls
case " $KILLED " in *" $n "*) kill -9 $$ ;; esac
exec "$REAL_WORKER" "$@"
WORKER
chmod +x worker
lost="env ASSAY_WORKER=$PWD/worker REAL_WORKER=$(dirname "$ASSAY")/assay-worker"
usual="precision=float32 opt=all threads=2 spinning=on"
small="--engine fake --script steady=100us;when_threads=1:steady=200us --precision float32 --spinning on --threads 1,2 --opt all --time 0.02 --budget 10s --json"
for killed in "0" "0 1" "2" "0 1 6 8"; do # "2": of another configuration, or of the start's second; 6, 8: of finalists
    rm -f calls
    expect_exit 0 $lost KILLED="$killed" "$ASSAY" tune mlp $small
    expect_equal "$(json_get out '.tune.best')" "$usual"
    expect_equal "$(json_get out '.tune.failed')" 0
    expect_equal "$(json_get out '.tune.tested')" true
    expect_not err "could not be measured"
done
rm -f calls # three times: then nothing is said to be better than the usual settings
expect_exit 0 $lost KILLED="0 1 2" "$ASSAY" tune mlp $small
expect_has err "1 of 2 configurations could not be measured: $usual (the defaults): worker was killed from outside: SIGKILL"
expect_equal "$(json_get out '.tune.confirmed')" false
expect_has out "the defaults did not run"
# a refusal by the engine is not repeated
expect_exit 0 "$ASSAY" tune mlp --engine fake --script 'steady=1ms;when_threads=1:open_error=no' --precision float32 --spinning on --threads 1,2 \
    --opt all --time 0.02 --budget 10s --json
expect_equal "$("$ASSAY" tune mlp --engine fake --script 'steady=1ms;when_threads=1:open_error=no' --precision float32 --spinning on \
    --threads 1,2 --opt all --time 0.02 --budget 10s -q -o r.assay >/dev/null 2>&1 &&
    "$ASSAY" query r.assay "SELECT count(*) FROM launches WHERE state='failed'" --csv | tail -n 1)" 1
expect_has err "1 of 2 configurations could not be measured: precision=float32 opt=all threads=1 spinning=on: no"
# only the threads matter: neither the precision nor the level is advised to be changed
expect_exit 0 "$ASSAY" tune mlp --engine fake --script 'steady=100us;when_threads=1:steady=50us' --precision float32,int8-weights --spinning on,off \
    --threads 1,2 --opt none,all --time 0.02 --budget 10s --json
expect_equal "$(json_get out '.tune.best')" "precision=float32 opt=all threads=1 spinning=on"
expect_equal "$(json_get out '.tune.confirmed')" true
# a device that is software is measured and never advised; one that is refused has its reason
expect_exit 0 env ASSAY_FAKE_DEVICES='cpu=works;gpu:0=software;npu:0=refused' "$ASSAY" tune mlp $fake --devices gpu,cpu,npu --opt all \
    --threads 1,2 --budget 10s --quiet
expect_has out "emulated in software"
grep -qE "^  best +device=cpu " out || fail "the best is another"
expect_has out "no device of class npu"
# a device that returns no numbers is not advised, though it is the only one, and the search gives it up
nan='npu output=nan;steady=20us'
expect_exit 0 env ASSAY_FAKE_DEVICES='cpu;npu' ASSAY_FAKE_SCRIPTS="$nan" "$ASSAY" tune cfc --engine fake --devices npu --budget 10s --time 0.02 --json
expect_equal "$(json_get out '.tune.best')" null
expect_has out "NaN or infinite"
expect_equal "$(json_get out '.tune.search_launches')" 4
# where another gives numbers it is the best, and nothing is spent on going back to the one that does not
expect_exit 0 env ASSAY_FAKE_DEVICES='npu;gpu' ASSAY_FAKE_SCRIPTS="$nan" "$ASSAY" tune cfc --engine fake --precision float32 --devices npu,gpu \
    --threads 1,2 --opt all --spinning on --budget 10s --time 0.02 --json
expect_has out '"best": "device=gpu '
expect_has out "the outputs of the defaults are NaN or infinite"
expect_equal "$(json_get out '.tune.contributions[0].objection')" "some of its outputs are NaN or infinite"
# nor one whose numbers are wrong; nothing is spent on what it would owe to its settings
expect_exit 0 env ASSAY_FAKE_DEVICES='cpu;npu' ASSAY_FAKE_SCRIPTS='npu output=7;steady=20us' "$ASSAY" tune cfc $fake --devices cpu,npu \
    --threads 1,2 --opt none,all --budget 10s --time 0.02 --json
expect_has out '"best": "device=cpu '
expect_equal "$(json_get out '.tune.ablation_launches')" 0
# a launch that takes all of the budget leaves nothing to choose from
expect_exit 3 "$ASSAY" tune mlp --engine fake --script 'steady=1ms;pace=600ms' --precision float32 --threads 1,2 --opt all --spinning on \
    --iters 1 --warmup 0 --budget 1s --quiet
expect_has err "there is nothing to choose from"
expect_error 2 "nothing varies" "$ASSAY" tune mlp $fake --threads 1 --opt all
expect_error 2 "too short for one launch" "$ASSAY" tune mlp --budget 10ms
expect_error 2 "is not a time such as 60s" "$ASSAY" tune mlp --budget soon
expect_error 2 "would only find the smallest" "$ASSAY" tune mlp --goal latency --batch 1,2
expect_error 2 "is not one of" "$ASSAY" tune mlp --goal latency,throughput
expect_error 2 "is not of the form p99=20ms" "$ASSAY" tune mlp --slo fast
expect_error 2 "has no unit: write p99=20ms" "$ASSAY" tune mlp --slo p99=20
expect_error 2 "--slo is given twice, as 'p99=20ms' and as 'p50=1ms'" "$ASSAY" tune mlp --slo p99=20ms --slo p50=1ms
expect_error 2 "--budget is given twice, as '10s' and as '20s'" "$ASSAY" tune mlp --budget 10s --budget 20s
expect_error 2 "is not a size" "$ASSAY" tune mlp --memory-budget much
expect_error 2 "is not allowed" "$ASSAY" tune mlp --threads 0,1
expect_error 2 "cannot be used together" "$ASSAY" tune mlp --spinning on --no-spinning
expect_error 2 "the number of launches is chosen automatically; use --budget instead" "$ASSAY" tune mlp --launches 3
# Ctrl-C: the best so far
cat >interrupt.py <<'PYTHON'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
with open("out", "wb") as out, open("err", "wb") as err:
    child = subprocess.Popen([sys.argv[1], "tune", "mlp", "--engine", "fake", "--script", "steady=100us;pace=20ms", "--precision", "float32",
                              "--threads", "1,2,3,4", "--iters", "10", "--warmup", "0", "--quiet", "-o", "i.assay"], stdout=out, stderr=err)
    limit = time.time() + 60
    while not os.path.exists("i.assay") and time.time() < limit:
        time.sleep(0.05)
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    print(child.wait(timeout=60))
PYTHON
expect_equal "$(python3 interrupt.py "$ASSAY")" 130
expect_has err "interrupted; what was measured is saved in i.assay"
expect_has out "best latency"
# … which was not tested, and what would help is named
expect_exit 0 "$ASSAY" report i.assay --columns 200
expect_has out "a larger budget allows more) · --budget"
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || exit 0
# a precision beyond the limit is measured and not advised
expect_exit 0 "$ASSAY" tune mlp --precision float32,int8-dynamic --threads 1,2 --opt all --spinning on --iters 5 --warmup 1 --budget 20s --json
expect_has out '"grid": 4'
grep -q '"drift_relative_l2": [0-9.]*[1-9]' out || fail "the drift of int8 was not measured"

# levels of optimisation that give the same graph are one setting: two Gemm with a Relu between them are fused from extended on
expect_exit 0 "$ASSAY" tune mlp --precision float32 --threads 1 --time 10ms --budget 300s --json
expect_has err '2 of 4 configurations are not tried'
python3 - out <<'PYTHON' || fail "levels of the same graph were tried"
import json, re, sys
tried = {re.search(r"opt=(\w+)", r["label"])[1] for r in json.load(open(sys.argv[1]))["tune"]["rows"]}
assert tried == {"all", "basic"}, tried
PYTHON
