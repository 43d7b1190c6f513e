# plain-only: every subject in every format; its parts run under sanitizers as unit tests
# What assay 0.1.0 printed of a profile of each kind, and of every command on the fake engine, is still said: JSON and CSV but for
# additions, and every number of the text, Markdown and pages (tests/golden/0.1.0).
. "$ROOT/tests/cli/lib.sh"
golden=$ROOT/tests/golden/0.1.0
bash "$golden/record.sh" "$ASSAY" "$ROOT" "$PWD/out.d" || fail "record.sh failed"
python3 "$golden/compare.py" "$golden/expected.tar.xz" out.d >differences || { head -n 60 differences; fail "$(tail -n 1 differences)"; }
