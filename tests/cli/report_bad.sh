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

# What would be ignored, or would be something else than its name says, is refused; nothing is written.
refused() { # refused TEXT ARGUMENT…
    expect_error 2 "$1" "$ASSAY" report "${@:2}"
}
refused "requires --format csv" good.assay --table layers
refused "requires --format csv" good.assay --table layers --json
refused "--list can only be combined with" --list good.assay
refused "--list can only be combined with" --list -o list.txt
refused "--list can only be combined with" --list --format csv --table layers
refused "junit" --list --format junit
refused "unknown format '.pdf'; known: .txt, .json, .csv, .md, .markdown, .xml, .html, .htm, .svg" good.assay -o x.pdf
refused "unknown format '.assay'" good.assay -o x.assay
refused "junit is always the full report" good.assay --detail basic -o x.xml
refused "model-explorer is always the full report" good.assay --detail basic --format model-explorer
refused "no --table and no --detail" good.assay --detail basic -o x.svg
refused "profile's own log" good.assay --format text -o good.assay-wal
# shellcheck disable=SC2046
refused "17 arguments given, at most 16 allowed:" $(for _ in $(seq 17); do echo good.assay; done)
expect_error 2 "profile's own log" "$ASSAY" run --engine fake --script 'steady=100us' -q -o z.assay --report z.assay-wal
expect_error 2 "unknown format '.pdf'" "$ASSAY" run --engine fake --script 'steady=100us' -q --report z.pdf
expect_error 2 "requires --format csv" "$ASSAY" run --engine fake --script 'steady=100us' -q --table layers
for file in list.txt x.* z.*; do if [ -e "$file" ]; then fail "$file was written"; fi; done
cmp good.assay copy || fail "the profile was changed"
# a path that cannot be written is 3, whatever is in the way
for path in folder nowhere/x.txt; do expect_error 3 "$path" "$ASSAY" report good.assay -o $path; done
expect_exit 0 "$ASSAY" report good.assay -o plain # without an ending: text
expect_has plain "samples"
expect_exit 0 "$ASSAY" report good.assay --table launches -o launches.csv
expect_has launches.csv "trial,launch,state"
