# live_zoo_large.sh - the published sizes of the zoo's models through onnx.checker and ONNX Runtime.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
"$python" "$ROOT/tests/oracle/zoo_check.py" "$ASSAY" --large
