# live_zoo_check.sh - every model of the zoo through onnx.checker and ONNX Runtime, small variants.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
"$python" "$ROOT/tests/oracle/zoo_check.py" "$ASSAY"
