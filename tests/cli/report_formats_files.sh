# Files by their names, the list of formats, --report of every measuring command, and what cannot be written: one line, nothing measured, no torso.
. "$ROOT/tests/cli/lib.sh"
script='steady=100us;layers=conv:60us:Conv,relu:30us:Relu;engine=7us'
fake="--engine fake --script steady=100us --iters 20 -q"
is() { # is FILE FORMAT: the file is of that format
    case $2 in
    html) head -n 1 "$1" | grep -q '^<!doctype html>' && tail -n 1 "$1" | grep -q '</html>' ;;
    json) head -n 1 "$1" | grep -q '^{$' ;;
    csv) head -n 1 "$1" | grep -q '^trial,' ;;
    md) head -n 1 "$1" | grep -q '^# ' ;;
    xml) sed -n 2p "$1" | grep -q '^<testsuites' ;;
    svg) grep -q '^<svg ' "$1" ;;
    esac || fail "$1 is not $2"
}

expect_exit 0 "$ASSAY" run --engine fake --script "$script" --iters 100 -o p.assay --report p.html
expect_has err "report written to p.html"
expect_has err "profile saved to p.assay"
expect_has out "engine per run"
is p.html html
expect_exit 0 "$ASSAY" report p.assay -o again.html
cmp p.html again.html || fail "--report is another page than report -o"
for form in json csv md xml svg; do
    expect_exit 0 "$ASSAY" report p.assay -o x.$form
    expect_lines out 0
    is x.$form $form
    expect_exit 0 "$ASSAY" run --engine fake --script "$script" --iters 20 -q --report y.$form
    expect_lines err 0
    is y.$form $form
done
expect_exit 0 "$ASSAY" run $fake --report noext --json # a page where the name says nothing; what is printed is another thing
is noext html
is out json
# what is asked for by name goes before the file's
expect_exit 0 "$ASSAY" report p.assay --format csv -o x.html
is x.html csv
expect_exit 0 "$ASSAY" report p.assay -o treemap.svg # the figure it is called after
expect_exit 0 "$ASSAY" report p.assay --svg treemap -o named.svg
cmp treemap.svg named.svg || fail "treemap.svg is not the treemap"
expect_error 2 "takes one profile" "$ASSAY" report p.assay p.assay -o x.svg

# the list follows the table, and so do the choices of both options
expect_exit 0 "$ASSAY" report --list
for text in text json csv markdown junit html model-explorer xml treemap pareto; do
    expect_has out "$text"
done
for width in 40 60; do
    expect_exit 0 "$ASSAY" report --list --columns $width
    if grep -q ".\{$((width + 1))\}" out; then fail "--list is wider than $width columns"; fi
done
expect_exit 0 "$ASSAY" report --list --json
expect_equal "$(json_get out '.formats[5].name')" html
expect_equal "$(json_get out '.formats[5].extensions[1]')" htm
expect_equal "$(json_get out '.figures[0].name')" strip
expect_exit 0 "$ASSAY" report --list --format csv
expect_equal "$(grep -c ^format, out)" 7
expect_has out "figure,treemap,,"
expect_exit 0 "$ASSAY" report --list --format markdown
expect_has out "| html | html htm |"
for command in report run; do
    expect_exit 2 "$ASSAY" $command p.assay --format nothing
    expect_has err "text|json|csv|markdown|junit|html|model-explorer"
done
expect_error 2 "PROFILE is missing" "$ASSAY" report

# every command that measures
expect_exit 0 "$ASSAY" power --engine fake --script steady=100us --idle 0s --iters 20 -q --report power.html
expect_exit 0 "$ASSAY" memory $fake --report memory.html
expect_exit 0 "$ASSAY" counters $fake --report counters.html
expect_exit 0 "$ASSAY" compare mlp cfc $fake --launches 2 --no-power --report compare.html -o c.assay
expect_exit 0 "$ASSAY" sweep mlp $fake --batch 1,2 --launches 1 --report sweep.html -o s.assay
expect_exit 0 "$ASSAY" advise $fake --report advise.html
expect_exit 0 "$ASSAY" advise p.assay --report advised.md
for command in power memory counters compare sweep advise; do
    is $command.html html
done
is advised.md md
# trials told by label: one metric a row, with its state
expect_exit 0 "$ASSAY" report s.assay -o s.csv
expect_has s.csv ",batch=1"
expect_has s.csv ",batch=2"
expect_exit 0 "$ASSAY" report c.assay --table metrics -o c.csv
expect_has c.csv ",2: cfc"

# what cannot be written: nothing is measured, and what stood there stands
mkdir folder.html
cp p.assay copy
expect_error 3 "nowhere/x.html" "$ASSAY" run $fake -o new.assay --report nowhere/x.html
expect_error 3 "is a folder" "$ASSAY" run $fake -o new.assay --report folder.html
expect_error 3 "is a folder" "$ASSAY" run $fake -o folder.html
expect_error 2 "does not replace it" "$ASSAY" run $fake -o new.assay --report p.assay
expect_error 2 "the same file" "$ASSAY" run $fake -o new.assay --report new.assay
expect_error 3 "nowhere/x.html" "$ASSAY" advise p.assay --report nowhere/x.html
expect_error 2 "use --report page.html" "$ASSAY" run $fake -o page.html
expect_error 2 "the same file" "$ASSAY" run $fake -o new.assay --report ./new.assay
if [ -e new.assay ]; then fail "it measured although the report cannot be written"; fi
cmp p.assay copy || fail "the profile was changed"
# a full disk: one line, and the old file stands
echo before >old.html
status=0
(ulimit -f 4; trap '' XFSZ; exec "$ASSAY" report p.assay -o old.html) >out 2>err || status=$?
expect_equal "$status" 3
expect_lines err 1
expect_has err "cannot write 'old.html'"
expect_equal "$(cat old.html)" before
expect_equal "$(ls old.html*)" old.html
if [ -e /dev/full ]; then expect_error 3 "No space left" "$ASSAY" report p.assay --format html -o /dev/full; fi
