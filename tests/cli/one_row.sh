# plain-only: compiles what a contributor would add against the plain library
# Adding a probe, an engine, a command, a model of the zoo, … is one new file and one row of one list (tests/one_row.py).
. "$ROOT/tests/cli/lib.sh"
python3 "$ROOT/tests/one_row.py" "$ROOT" "$BUILD" || fail "adding something takes more than one file and one row"
