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
expect_exit 2 "$ASSAY" report a.assay b.assay
expect_has err "b.assay"
