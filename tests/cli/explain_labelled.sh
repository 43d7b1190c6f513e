# The diagnosis of recorded traces whose cause is known, because the programs were written to have it: under another name, with times
# scaled, in parts, shuffled, without operators.
. "$ROOT/tests/cli/lib.sh"
labelled=$ROOT/../shared/data/traces/labelled
[ -d "$labelled" ] || skip "no ../shared/data/traces/labelled beside the checkout"
get() { python3 -c 'import json, sys; d = json.load(open("out")); print(eval(sys.argv[1]))' "$1"; }
number=0
while read -r name accepted; do
    for change in shuffle=3 scale=0.5 scale=3 "from=0.2 to=0.9" without=cpu_op; do
        # a part of a training may hold too few steps for a verdict; the other changes do not matter to sanitizers
        [ "${SANITIZED:-no}" = no ] || [ "$change" = scale=3 ] || continue
        number=$((number + 1))
        # shellcheck disable=SC2086
        python3 "$ROOT/tests/oracle/vary_timeline.py" "$labelled/$name.json.gz" $number.json $change
        expect_exit 0 "$ASSAY" explain $number.json --json
        read -r id adds_up <<<"$(get 'd["diagnosis"]["id"] + " " + str(all(
            sum(r["ns"] for r in v["idle"]) + v["busy_ns"] == v["span_ns"] for v in d["devices"]))')"
        case " $accepted " in *" $id "*) ;; *) fail "$name ($change): $id: $(get 'd["diagnosis"]["evidence"]')" ;; esac
        expect_equal "$adds_up" True
    done
done <<'END'
launch-overhead-a launch-overhead
transfers-a transfers
inefficient-kernels-a inefficient-kernels
starved-a starved
sync-a synchronisation
healthy-a none
training-a none undecided
END
real=$ROOT/../shared/data/traces
for trace in "$labelled"/*.gz "$real"/*.gz "$real"/*.xml; do
    expect_exit 0 "$ASSAY" explain "$trace" --json
    expect_equal "$(get 'len(d["diagnosis"]["verdict"].split()) <= 20 and d["diagnosis"]["verdict"].endswith(".")')" True
done
# the verdict is about what takes the time, and no advice is for another vendor's device
expect_exit 0 "$ASSAY" explain "$real/kineto-mi250.json.gz" --json
expect_equal "$(get '"hipLaunchKernel" in d["diagnosis"]["verdict"], "CUDA" in d["diagnosis"]["advice"], d["diagnosis"]["cost"] > 0.7')" "(True, False, True)"
expect_exit 0 "$ASSAY" explain "$real/kineto-alexnet.json.gz" --json
expect_equal "$(get '"cudaFree" in d["diagnosis"]["verdict"], d["diagnosis"]["cost"] > 0.8')" "(True, True)"
expect_equal "$(get '{k["class"] for k in d["top"] if "scudnn" in k["name"]}')" "{'convolution'}"
expect_exit 0 "$ASSAY" explain "$real/ort-h200-resnet50.json.gz" --json
expect_equal "$(get '"CUDAExecutionProvider" in d["diagnosis"]["verdict"]')" True
expect_exit 0 "$ASSAY" explain "$real/xctrace-metal-gpu-intervals.xml" --json
expect_equal "$(get '(d["devices"][0]["host_before_ms"], d["diagnosis"]["cost"])')" "(None, None)"
expect_exit 0 "$ASSAY" explain "$labelled/training-a.json.gz" --json
expect_equal "$(get 'd["steps"]["count"]')" 5
expect_equal "$(get '"optimiser-kernels" in [f["id"] for f in d["findings"]]')" True
expect_exit 0 "$ASSAY" explain "$labelled/transfers-a.json.gz" --json
expect_equal "$(get '[(t["direction"], t["memory"], t["count"], t["blocking"]) for t in d["transfers"]]')" "[('to-device', 'pageable', 96, 96), ('to-host', 'pageable', 96, 96)]"
expect_equal "$(get '[s["verdict"] for s in d["scenarios"]]')" "[None, True, False]"
expect_exit 0 "$ASSAY" explain "$labelled/sync-a.json.gz" --json
expect_equal "$(get 'd["synchronisations"][0]["count"], d["synchronisations"][0]["operator"]')" "(64, 'aten::_local_scalar_dense')"
expect_exit 0 "$ASSAY" explain "$labelled/launch-overhead-a.json.gz" --json
expect_equal "$(get '[s["verdict"] for s in d["scenarios"]]')" "[True, False, False]"
expect_exit 0 "$ASSAY" explain "$labelled/inefficient-kernels-a.json.gz" --json
expect_equal "$(get '[s["verdict"] for s in d["scenarios"]]')" "[False, False, True]"
