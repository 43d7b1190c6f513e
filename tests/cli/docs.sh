# plain-only: reads the documentation, not the program's memory
# Each command's page of doc/ names every option of its help, and no option that does not exist.
. "$ROOT/tests/cli/lib.sh"
for command in run compare sweep tune bench power memory counters advise inspect check predict explain trace watch make report query devices doctor; do
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
# doc/design.md says what each folder of src/ holds
for folder in "$ROOT"/src/*/; do
    name=${folder%/}
    grep -q "^    src/${name##*/}/ " "$ROOT/doc/design.md" || fail "doc/design.md does not describe src/${name##*/}/"
done

# doc/report.md names every table of the registry, in its option and in its list of columns, and no other
"$ASSAY" report none.assay --format csv --table none 2>err && fail "a table 'none'"
sed 's/.* is not one of //; s/;.*//' err | tr '|' '\n' | sort >registry
[ "$(wc -l <registry)" -gt 20 ] || fail "no list of tables: $(cat err)"
grep '^| `--table TABLE`' "$ROOT/doc/report.md" | sed 's/.* with another format)://' | grep -o '`[a-z-]*`' | tr -d '`' | sort >option
diff registry option || fail "doc/report.md: --table does not name the tables of the registry"
sed -n '/^## CSV/,$p' "$ROOT/doc/report.md" | sed -n 's/^| `\([a-z-]*\)` |.*/\1/p' | sort >described
diff registry described || fail "doc/report.md: the list of CSV tables is not the registry's"
# … and every column of each table that a profile in tests/golden has; 'groups' and 'layer-changes' say "the same" as the row before
for packed in "$ROOT"/tests/golden/0.1.0/profiles/*.assay.gz; do gzip -dc "$packed" >"$(basename "$packed" .gz)"; done
while read -r table; do
    for profile in *.assay "run-mlp.assay run-cfc.assay"; do
        # shellcheck disable=SC2086
        "$ASSAY" report $profile --format csv --table "$table" >table.csv 2>/dev/null || continue
        head -n 1 table.csv | tr ',' '\n' | grep -v '^value_[0-9]*$' >columns
        sed -n '/^## CSV/,$p' "$ROOT/doc/report.md" | grep "^| \`$table\` |" | sed 's/([^)]*)//g' >row
        while read -r column; do
            grep -qw -- "$column" row || echo "$table: $column"
        done <columns
        break
    done
done <registry | grep -v '^groups\|^layer-changes' >missing || true
expect_lines missing 0
