# plain-only: size, not memory, is what it is about
# 100,000 layers still make a whole page.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us;layers=conv:60us:Conv' --iters 20 -q -o p.assay
python3 "$ROOT/tests/formats_check.py" layers p.assay 100000
expect_exit 0 "$ASSAY" report p.assay -o p.html
"$ASSAY" report p.assay --json >p.json
python3 "$ROOT/tests/page_check.py" p.html --json p.json || fail "the page is not whole"
