# One profile in which every text is hostile (markup, escape sequences, formulas, control characters, invalid UTF-8, 10 kB): each format is read
# by a strict parser and holds no raw control character and no active markup.
. "$ROOT/tests/cli/lib.sh"
check() { python3 "$ROOT/tests/formats_check.py" "$@" || fail "not as it must be: $*"; }
script='steady=100us;noise=5us;layers=conv:60us:Conv,relu:30us:Relu;engine=7us'
expect_exit 0 "$ASSAY" run --engine fake --script "$script" --time 50ms --power --memory --idle 0s -q -o p.assay
expect_exit 0 "$ASSAY" compare mlp cfc --engine fake --script 'steady=100us' --iters 20 --launches 2 --no-power -q -o c.assay
for profile in p c; do
    check make $profile.assay
    for form in txt json csv md xml svg html; do
        expect_exit 0 "$ASSAY" report $profile.assay -o $profile.$form --top 0
        expect_lines err 0
    done
    expect_exit 0 env LC_ALL=C.UTF-8 "$ASSAY" report $profile.assay --columns 80
    cp out $profile-terminal.txt
    expect_exit 0 "$ASSAY" report $profile.assay --ascii
    if LC_ALL=C grep -q '[^ -~]' out; then fail "--ascii is not ASCII"; fi
    python3 "$ROOT/tests/page_check.py" $profile.html --json $profile.json || fail "the page of a hostile profile"
done
for table in metrics layers launches samples series allocations; do
    expect_exit 0 "$ASSAY" report p.assay --table $table -o $table.csv
done
for figure in layers treemap latency samples; do
    expect_exit 0 "$ASSAY" report p.assay --svg $figure -o $figure.svg
    expect_exit 0 env LC_ALL=C.UTF-8 "$ASSAY" report p.assay --chart $figure --columns 80
    cp out chart-$figure.txt
done
expect_exit 0 "$ASSAY" report p.assay --format model-explorer -o nodes.json
for file in p.txt p.json p.csv p.md p.html layers.svg chart-layers.txt nodes.json; do # the names are there, or nothing was tried
    expect_has $file "alert(1)"
done
check read ./*.txt ./*.json ./*.csv ./*.md ./*.xml ./*.svg
# what goes wrong with it is still one line, and drives no terminal
expect_exit 1 "$ASSAY" report p.assay --svg sweep
expect_lines err 1
if LC_ALL=C grep -q "$(printf '\033')" err; then fail "an escape sequence on stderr"; fi
