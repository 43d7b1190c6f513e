# live_functions.sh - the models with local functions, and what the onnx package's inliner leaves of them, as written now.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
mkdir functions
"$python" "$ROOT/tests/oracle/make_functions.py" functions
diff -r functions "$ROOT/tests/fixtures/models/functions" || fail "the fixtures are not what the oracle says now"
