# live_zoo_text.sh - the zoo's transformers, single operators and recurrent nets against transformers and torch.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
"$python" "$ROOT/tests/oracle/zoo_text.py" "$ASSAY"
