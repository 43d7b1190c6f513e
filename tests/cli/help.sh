# Help goes to stdout with status 0 and names every command; each command has its own page; nothing is talk.
. "$ROOT/tests/cli/lib.sh"
for spelling in help --help -h; do
    expect_exit 0 "$ASSAY" $spelling
    expect_lines err 0
    for command in run inspect report query devices doctor help version completion; do
        expect_has out "$command"
    done
done
for command in run inspect report query devices doctor version completion; do
    expect_exit 0 "$ASSAY" help $command
    expect_has out "assay $command"
    cp out page
    expect_exit 0 "$ASSAY" $command --help
    cmp -s out page || fail "help $command and $command --help differ"
done
# a page has the command's own defaults, and says when each of two like options applies
page_has() { # page_has COMMAND TEXT…: in the options, whatever the line breaks are
    expect_exit 0 "$ASSAY" help "$1"
    tr -s ' \n' ' ' <out >flat
    for text in "${@:2}"; do
        expect_has flat "$text"
    done
    if grep -q "at most 10 s" flat; then fail "help $1 has the defaults of run"; fi
}
page_has power "--duration TIME Measure for TIME per launch, such as 30s or 2m (default 30s)" "--time TIME The same as --duration"
page_has memory "--time TIME Measure for TIME per launch, such as 5s (default 2s)"
page_has counters "--time TIME Measure for TIME per launch, such as 5s (default 2s)"
page_has advise "(default 1s; 300ms with --verify)." "(default 1; 10 per side with --verify)."
page_has sweep "--launches N Worker processes per point, alternating (default 3)" "(default 500ms)"
page_has tune "(default 150ms; 1s with --goal energy)."
if grep -q -- "--launches" flat; then fail "help tune has --launches, which it refuses"; fi
page_has compare "--devices LIST For one model:" "--device NAME For several models:"
expect_exit 2 "$ASSAY"
expect_lines out 0
