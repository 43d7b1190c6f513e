# live_rewrite.sh - float16 and int8 rewrites against the onnxruntime package's own, and operator sets 7 to 24.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
"$python" "$ROOT/tests/oracle/rewrite.py" "$ASSAY"
