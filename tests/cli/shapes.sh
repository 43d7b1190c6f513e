# Sizes that nobody gave: the same in every command, said below the answer and, beside JSON, on stderr. A shape without a name and
# with ?, and shapes that contradict a batch.
. "$ROOT/tests/cli/lib.sh"
tiny=gpt2:layers=1,width=32,heads=2,vocab=64
expect_exit 0 "$ASSAY" run $tiny --iters 3 --layers=off --json -o kept.assay
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
# in JSON too: where each command has its workload, and on stderr
assumed_of() { # ARGUMENTS… : the sizes in the JSON of that command, and the same on stderr
    expect_exit 0 "$ASSAY" "$@" --json
    expect_has err 'assay: assumed input_ids 1x128'
    python3 -c "
import json
d = json.load(open('out'))
places = {'inspect': lambda: d['workload'], 'check': lambda: d['model'], 'make': lambda: d['drift'],
          'advise': lambda: d['trial'], 'predict': lambda: d['trials'][0]['workload']}
assumed = places['$1']()['assumed']
assert len(assumed) == 1 and assumed[0].startswith('input_ids 1x128 (tokens)'), assumed
" || fail "the sizes of $1"
}
assumed_of inspect $tiny
assumed_of check $tiny --target ane
assumed_of predict $tiny --chip M4
assumed_of make --from $tiny --float16 -o half.onnx
assumed_of advise kept.assay
expect_exit 0 "$ASSAY" inspect $tiny $tiny --json
python3 -c "import json; [m['assumed'] for m in json.load(open('out'))['models']]" || fail "the sizes of two models"
expect_exit 0 "$ASSAY" advise kept.assay
expect_has out 'Assumed: input_ids 1x128'
expect_exit 0 "$ASSAY" inspect $tiny --seq 4 --dim past=3
expect_not out 'Assumed'
expect_exit 0 "$ASSAY" inspect $tiny --seq 4 --dim past=3 --json
expect_not out 'assumed'
expect_lines err 0
# make compares at the sizes that are given
expect_exit 0 "$ASSAY" make --from $tiny --float16 --dim seq=4 --dim past=3 -o half.onnx --json
expect_lines err 0
python3 -c "
import json
drift = json.load(open('out'))['drift']
assert 'assumed' not in drift and drift['outputs'][1]['shape'] == [1, 2, 7, 16], drift
" || fail "the sizes that make was given"
expect_error 2 'comparison' "$ASSAY" make $tiny --dim seq=4 -o plain.onnx
expect_exit 0 "$ASSAY" inspect mlp --shape '?x64' --batch 3 --json
expect_has out '"batch": 3'
expect_exit 0 "$ASSAY" inspect mlp --shape 5x64 --json
expect_has out '"batch": 5'
# given shapes that contradict the batch, or a model, are found before anything runs
for command in 'sweep mlp --batch 1,2' 'tune mlp --batch 2' 'tune mlp --goal throughput --batch 1,2' \
    'compare mlp mlp:outputs=12 --batch 2' 'compare mlp --devices cpu --batch 2' 'run mlp --batch 2'; do
    expect_error 2 'shape' "$ASSAY" $command --shape 1x64
done
expect_error 2 'input=1x3' "$ASSAY" compare mlp $tiny --shape 1x64
expect_error 2 'such as input=?x64' "$ASSAY" sweep mlp --batch 1,2 --shape input=1x64 # what to type
# a value that is given, or chosen, is in the text and in JSON
expect_exit 0 "$ASSAY" run mlp:inputs=1 --engine fake --script steady=100us --iters 3 -q --input input=0.5
expect_has out '(constant 0.5'
expect_exit 0 "$ASSAY" run mlp:inputs=1 --engine fake --script steady=100us --iters 3 -q --input input=0.5 --json
expect_has out '"fill": "constant 0.5'
# outputs that are not finite are a line of the report's screen and a number; others are a number only
expect_exit 0 "$ASSAY" run mlp --engine fake --script 'steady=100us;output=nan' --iters 20 -q -o nan.assay
expect_has out '4 output values are infinite or NaN'
for how in --full "--format md" "--format html"; do
    # shellcheck disable=SC2086 # two words
    expect_exit 0 "$ASSAY" report nan.assay $how
    expect_has out '4 output values are infinite or NaN'
done
expect_exit 0 "$ASSAY" report nan.assay --json
expect_equal "$(json_get out '.trials[0].metrics["outputs.nonfinite"].value')" 4
expect_exit 0 "$ASSAY" run mlp --engine fake --script steady=100us --iters 20 -q -o finite.assay
expect_not out 'infinite or NaN'
expect_exit 0 "$ASSAY" report finite.assay --json
expect_equal "$(json_get out '.trials[0].metrics["outputs.nonfinite"].value')" 0
