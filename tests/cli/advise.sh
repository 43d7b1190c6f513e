# assay advise on scripts: exact findings of a run, the same from the kept profile, the rules' list, the model behind a profile, Ctrl-C, and wrong usage.
. "$ROOT/tests/cli/lib.sh"
script='steady=1ms;first=9ms;layers=turn:600us:Transpose,mul:300us:MatMul;engine=10us'
expect_exit 0 "$ASSAY" advise --engine fake --script "$script" --iters 700 --warmup 5 -o p.assay --json
expect_equal "$(json_get out '.command')" advise
expect_equal "$(json_get out '.findings[0].id')" transposes
expect_equal "$(json_get out '.findings[0].expected_gain')" 2.5
expect_equal "$(json_get out '.findings[0].severity')" high
expect_equal "$(json_get out '.findings[0].effort')" large
expect_equal "$(json_get out '.findings[0].state')" open
expect_equal "$(json_get out '.findings[0].energy_saving')" null
expect_equal "$(json_get out '.findings[0].evidence[0]')" "1 Transpose layers take 60 % of the latency (600 µs)"
python3 "$ROOT/tests/schema_check.py" advise out || fail "not the promised shape"
rules=$(json_get out '.summary.rules')
expect_equal "$(json_get out '.rules.length')" "$rules"
expect_equal "$(($(json_get out '.summary.found') + $(json_get out '.summary.nothing') + $(json_get out '.summary.not_evaluated')))" "$rules"
expect_has err "profile with findings saved to p.assay"
# What was kept is what is said of the kept profile: the findings stand in it, and are made again from it.
cp out first
expect_exit 0 "$ASSAY" advise p.assay --json
expect_equal "$(json_get out '.findings[0].expected_gain')" 2.5
expect_equal "$(json_get out '.findings.length')" "$(json_get first '.findings.length')"
expect_exit 0 "$ASSAY" report p.assay --json
expect_equal "$(json_get out '.findings[0].id')" transposes
expect_equal "$(json_get out '.findings[0].effort')" large
expect_exit 0 "$ASSAY" query p.assay --csv "SELECT id, state FROM findings WHERE position = 0"
expect_has out "transposes,open"
# One rule alone, and the page: what is missing is named.
expect_exit 0 "$ASSAY" advise p.assay --rule transposes --rule memory-bound --ascii --columns 60
expect_has out "rules 2 | findings 1"
expect_has out "found nothing 0 | could not be evaluated 1"
expect_has out "potential   =2.5 x"
expect_has out "costs: no layer's FLOPs and bytes are known"
LC_ALL=C grep -n '[^ -~]' out && fail "--ascii printed more than ASCII"
awk 'length($0) > 60' out >long
expect_lines long 0
# The list of rules is the table, and at least thirty.
expect_exit 0 "$ASSAY" advise --list --json
expect_equal "$(json_get out '.rules.length')" "$rules"
[ "$rules" -ge 30 ] || fail "$rules rules"
expect_exit 0 "$ASSAY" advise --list
expect_has out "size-steps"
# Every format of a document says the same.
python3 "$ROOT/tests/formats_same.py" "$ASSAY" advise p.assay || fail "formats differ"
python3 "$ROOT/tests/formats_same.py" "$ASSAY" advise --list || fail "formats of the rules differ"
expect_exit 0 "$ASSAY" advise p.assay --format csv
expect_has out "transposes,"
expect_exit 0 "$ASSAY" advise p.assay --format csv --table rules
expect_lines out $((rules + 1))
# The graph's rules read the model again: taken when it is the same, named when it is gone or another one.
cp "$ROOT/tests/fixtures/models/cfc/model.onnx" model.onnx
expect_exit 0 "$ASSAY" advise model.onnx --engine fake --script "$script" --iters 50 --warmup 5 -q -o m.assay --rule cast-chain --json
expect_equal "$(json_get out '.rules[0].outcome')" nothing
expect_lines err 0
mv model.onnx moved.onnx
expect_exit 0 "$ASSAY" advise m.assay --rule cast-chain --json
expect_equal "$(json_get out '.rules[0].outcome')" not-evaluated
expect_has out "the model file does not exist: model.onnx"
expect_exit 0 "$ASSAY" advise m.assay --rule cast-chain --model moved.onnx --json
expect_equal "$(json_get out '.rules[0].outcome')" nothing
"$ASSAY" make cfc:units=16,outputs=4 --quiet -o model.onnx >/dev/null
expect_exit 0 "$ASSAY" advise m.assay --rule cast-chain
expect_has out "has changed since it was profiled"
# What could not be measured is an error; a killed or failed profile is advised on as far as it goes.
expect_exit 3 "$ASSAY" advise --engine fake --script 'open_error=no such thing' --iters 50
expect_lines err 1
expect_exit 3 "$ASSAY" advise --engine fake --script 'steady=1ms;crash_at=30' --iters 50 --warmup 5 -q -o c.assay
expect_exit 0 "$ASSAY" advise c.assay
expect_has out "The trial is failed"
# Ctrl-C.
in_background "$ASSAY" advise --engine fake --script "steady=1ms;pace=1ms" --warmup 0 --iters 1000000 --layers=off -q -o int.assay
wait_for 1 int.assay "SELECT count(*) FROM samples"
expect_stop INT 130
expect_lines err 1
expect_exit 0 "$ASSAY" advise int.assay
expect_has out "The trial is interrupted"
# Wrong usage: one line each.
expect_error 2 "PROFILE or MODEL is missing" "$ASSAY" advise
expect_error 2 "did you mean 'batch-small'" "$ASSAY" advise p.assay --rule bach-small
expect_error 2 "there is no rule 'zzzzzzzzzzz'" "$ASSAY" advise p.assay --rule zzzzzzzzzzz
expect_error 2 "--batch applies to a MODEL" "$ASSAY" advise p.assay --batch 2
expect_error 2 "--output applies to a MODEL" "$ASSAY" advise p.assay -o q.assay
expect_error 2 "--model applies to a PROFILE;" "$ASSAY" advise moved.onnx --model moved.onnx
expect_error 2 "--trial applies to a PROFILE;" "$ASSAY" advise moved.onnx --trial 1
expect_error 2 "are for reports" "$ASSAY" advise p.assay --format junit
expect_error 2 "--table requires" "$ASSAY" advise p.assay --table rules
expect_error 2 "--json and --format text cannot be used together" "$ASSAY" advise p.assay --json --format text
expect_error 3 "no such trial" "$ASSAY" advise p.assay --trial 7
printf 'SQLite format 3' >broken.assay
printf '\0' >>broken.assay
expect_exit 3 "$ASSAY" advise broken.assay
expect_lines err 1
expect_exit 3 "$ASSAY" advise no-such-model.onnx
expect_lines err 1
# what the report asks for is said in the words of the command line
expect_exit 0 "$ASSAY" advise p.assay --columns 200
expect_has out "verification measures those that can be tried (assay advise --verify)"
