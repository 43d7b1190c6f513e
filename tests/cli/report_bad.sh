# What is no profile is one clear line and status 3; nothing comes out on stdout.
. "$ROOT/tests/cli/lib.sh"
mkdir folder
: >empty.assay
echo 'not a database, only text that is long enough to be looked at' >text.assay
for path in missing.assay folder empty.assay text.assay; do
    expect_exit 3 "$ASSAY" report "$path"
    expect_lines out 0
    expect_lines err 1
    expect_has err "$path"
done
expect_exit 2 "$ASSAY" report
expect_lines err 1
expect_error 3 "a.assay" "$ASSAY" report a.assay b.assay # two are compared, and neither is there

# A report never takes the place of a profile or of another database.
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us' --iters 20 -q -o good.assay
cp good.assay copy
cp good.assay other.assay
for arguments in "-o good.assay" "--format csv -o other.assay" "--json -o ./good.assay"; do
    # shellcheck disable=SC2086
    expect_exit 2 "$ASSAY" report good.assay $arguments
    expect_lines out 0
    expect_lines err 1
    expect_has err "does not replace it"
done
cmp good.assay copy || fail "the profile was changed"
cmp other.assay copy || fail "the other profile was changed"
echo what-stood-there >report.txt
expect_exit 0 "$ASSAY" report good.assay -o report.txt # a text is replaced
expect_not report.txt what-stood-there
