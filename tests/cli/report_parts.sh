# What was read over time and around a run is kept: `report` of a profile prints the page that the command printed, in
# text and JSON, and every table of it comes out as CSV and answers SQL.
. "$ROOT/tests/cli/lib.sh"
script='steady=100us;layers=conv:60us:Conv,relu:30us:Relu;engine=7us'
power='power --idle 0s --interval 20ms'
for command in "$power" memory counters 'run --power --memory --counters --idle 0s'; do
    # shellcheck disable=SC2086 # words of a command line
    expect_exit 0 "$ASSAY" $command --engine fake --script "$script" --time 100ms -q -o p.assay
    cp out page.txt
    expect_exit 0 "$ASSAY" report p.assay
    cmp -s out page.txt || { diff -u page.txt out | head -n 20 >&2; fail "report differs from $command"; }
    # shellcheck disable=SC2086
    expect_exit 0 "$ASSAY" $command --engine fake --script "$script" --time 100ms -q -o p.assay --json
    cp out page.json
    python3 "$ROOT/tests/schema_check.py" run page.json || fail "$command: not the promised shape"
    expect_exit 0 "$ASSAY" report p.assay --json
    cmp -s out page.json || { diff -u page.json out | head -n 20 >&2; fail "report --json differs from $command"; }
    expect_exit 0 "$ASSAY" report p.assay --format markdown --full
done
expect_has out "| watch | power+memory+counters |"
# the profile of all three: each table has a head and rows of as many cells, and SQL counts the same readings
for table in series spans allocations counters ceilings; do
    expect_exit 0 "$ASSAY" report p.assay --format csv --table $table
    cp out $table.csv
    python3 - $table.csv <<'PYTHON' || fail "$table: rows and head differ"
import csv, sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    rows = list(csv.reader(file))
sys.exit(any(len(row) != len(rows[0]) for row in rows))
PYTHON
done
readings=$(python3 - page.json <<'PYTHON'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    trial = json.load(file)["trials"][0]
print(sum(series["count"] for series in trial["series"]), len(trial["spans"]))
PYTHON
)
expect_exit 0 "$ASSAY" query p.assay 'SELECT (SELECT count(*) FROM series) AS n, (SELECT count(*) FROM spans) AS s' --csv
expect_equal "$(tail -n 1 out)" "${readings/ /,}"
[ "${readings%% *}" -gt 0 ] || fail "no reading in the profile"
expect_exit 0 "$ASSAY" query p.assay
for table in series series_info spans allocation_sites class_counters ceilings; do expect_has out "$table"; done
expect_exit 2 "$ASSAY" report p.assay --format csv --table nothing
expect_has err "series"
# the golden document of the unit tests has the promised shape too
python3 "$ROOT/tests/schema_check.py" run "$ROOT/tests/golden/report-parts.json" || fail "golden"
