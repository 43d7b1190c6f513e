# bench: the standard benchmarks on the fake engine (golden CSV), a baseline, formats, bad input, and one short real run.
. "$ROOT/tests/cli/lib.sh"
fake=(--engine fake --script "steady=100us;layers=a:60us:MatMul,b:30us:Add;engine=10us" --warmup 0 --iters 20)
expect_exit 0 "$ASSAY" bench --list --format csv
expect_golden bench-list.csv out
expect_exit 0 "$ASSAY" bench --list --json
expect_equal "$(json_get out '.benchmarks[3].name')" softmax
expect_exit 0 "$ASSAY" bench "${fake[@]}" --only softmax,cfc,ltc -o before.assay --format csv
expect_golden bench.csv out
expect_has err "profile saved to before.assay"
# a member that the baseline lacks has no ratio, and the reason; the others have one with its interval
expect_exit 0 "$ASSAY" bench --engine fake --script "steady=80us;layers=a:60us:MatMul" --warmup 0 --iters 20 --only softmax,rms-norm --against before.assay --json \
    --report page.html -o after.assay
expect_equal "$(json_get out '.command')" bench
expect_equal "$(json_get out '.bench.benchmarks[0].benchmark')" softmax
expect_equal "$(json_get out '.bench.benchmarks[0].verdict')" faster
expect_equal "$(json_get out '.bench.benchmarks[0].ratio')" 1.25
expect_equal "$(json_get out '.bench.benchmarks[1].ratio')" null
expect_equal "$(json_get out '.bench.benchmarks[1].ratio_reason')" "the baseline does not have this benchmark"
expect_equal "$(json_get out '.bench.faster')" 1
expect_equal "$(json_get out '.trials[0].metrics["bench.ratio"].state')" derived
expect_has page.html "Key performance indicators"
expect_has page.html "Against the baseline"
# a saved profile says the same again; every view has the table
expect_exit 0 "$ASSAY" report after.assay
expect_has out "=1.25 ×"
expect_exit 0 "$ASSAY" report after.assay --format markdown
expect_has out "rms-norm"
# one launch gives numbers, and no verdict
expect_exit 0 "$ASSAY" bench "${fake[@]}" --launches 1 --only softmax --against before.assay --json
expect_equal "$(json_get out '.bench.benchmarks[0].verdict')" null
expect_equal "$(json_get out '.bench.unjudged')" 1
# a benchmark that fails is a row with the reason, the others go on
expect_exit 3 "$ASSAY" bench --engine fake --script "steady=100us;crash_at=5" --iters 20 --launches 2 --only softmax --json
expect_equal "$(json_get out '.bench.benchmarks[0].usable')" false
expect_has err "1 of 1 benchmarks could not be measured"
# bad input: one line, nothing written
expect_error 2 "there is no benchmark 'sofmax'; did you mean 'softmax'?" "$ASSAY" bench --only sofmax
expect_error 2 "there is no benchmark 'zzzzzzzzzzzz'" "$ASSAY" bench --only zzzzzzzzzzzz
expect_error 2 "there is no benchmark ''" "$ASSAY" bench --only softmax,
expect_error 2 "--only is given twice" "$ASSAY" bench --only softmax --only cfc
expect_error 2 "--iters" "$ASSAY" bench --iters 0
expect_error 2 "--launches" "$ASSAY" bench --launches 0
expect_error 2 "--iters and --time cannot be used together" "$ASSAY" bench --iters 5 --time 1s
expect_error 2 "the benchmarks have fixed models and inputs" "$ASSAY" bench --batch 4
expect_error 2 "the benchmarks have fixed models and inputs" "$ASSAY" bench --state none
expect_error 2 "one device and a list of them" "$ASSAY" bench --device cpu --devices cpu
expect_error 2 "unexpected argument 'softmax'" "$ASSAY" bench softmax
expect_exit 0 "$ASSAY" run --engine fake --script steady=100us --iters 20 --launches 1 -o run.assay
expect_error 2 "is a profile of 'run', not of benchmarks" "$ASSAY" bench --only softmax --against run.assay
expect_exit 3 "$ASSAY" bench --only softmax --against gone.assay
expect_has err "gone.assay"
echo nonsense >bad.assay
expect_exit 3 "$ASSAY" bench --only softmax --against bad.assay
expect_has err "bad.assay"
# real
expect_exit 0 "$ASSAY" devices
grep -q '^ *cpu .* yes ' out || skip "the rest passed; ONNX Runtime is not here"
expect_exit 0 "$ASSAY" bench --iters 5 --launches 1 --only lora-small,softmax,layer-norm,rms-norm,cfc,ltc --json
for i in 0 1 2 3 4 5; do
    expect_equal "$(json_get out ".bench.benchmarks[$i].usable")" true
    expect_equal "$(json_get out ".trials[$i].launches[0].samples")" 5
done
