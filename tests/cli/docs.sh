# plain-only: reads the documentation, not the program's memory
# Each command's page of doc/ names every option of its help, and no option that does not exist.
. "$ROOT/tests/cli/lib.sh"
for command in run compare sweep tune power memory counters advise inspect check predict make report query devices doctor; do
    page=$ROOT/doc/$command.md
    [ -s "$page" ] || fail "doc/$command.md is missing"
    "$ASSAY" help $command | grep -o -- '^ *\(-., \)\?--[a-z-]*' | grep -o -- '--[a-z-]*' | sort -u >help
    grep -o -- '`\(-., \)\?--[a-z-]*' "$page" | grep -o -- '--[a-z-]*' | sort -u >documented
    grep -v -- --help help >expected
    comm -23 expected documented >missing
    expect_lines missing 0
    comm -13 help documented >unknown
    expect_lines unknown 0
done
