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
expect_exit 2 "$ASSAY"
expect_lines out 0
