# Sizes that nobody gave: the same in every command, said below the answer and, beside JSON, on stderr. A shape without a name and
# with ?, and a sweep that contradicts its shapes.
. "$ROOT/tests/cli/lib.sh"
tiny=gpt2:layers=1,width=32,heads=2,vocab=64
expect_exit 0 "$ASSAY" run $tiny --iters 3 --layers=off --json
expect_has err 'input_ids 1x128'
python3 - <<'PYTHON' || fail "the sizes of run"
import json
workload = json.load(open('out'))['trials'][0]['workload']
assert [i['shape'] for i in workload['inputs']] == [[1, 128], [1, 2, 0, 16], [1, 2, 0, 16]], workload
assert len(workload['assumed']) == 1 and 'input_ids 1x128' in workload['assumed'][0], workload
PYTHON
for command in "inspect $tiny" "check $tiny --target ane" "predict $tiny --chip M4" "run $tiny --iters 3 --layers=off"; do
    expect_exit 0 "$ASSAY" $command
    expect_has out 'Assumed: input_ids 1x128'
done
expect_exit 0 "$ASSAY" inspect $tiny --seq 4 --dim past=3
expect_not out 'Assumed'
expect_exit 0 "$ASSAY" inspect mlp --shape '?x64' --batch 3 --json
expect_has out '"batch": 3'
expect_exit 0 "$ASSAY" inspect mlp --shape 5x64 --json
expect_has out '"batch": 5'
expect_error 2 'batch' "$ASSAY" sweep mlp --shape 1x64 --batch 1,2
