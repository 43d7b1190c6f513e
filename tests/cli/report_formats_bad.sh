# Profiles of which little is known: incomplete, a single metric, nothing at all; newer and damaged ones. Every format says so or is one clear line; a tuning
# as CSV and Markdown says what its JSON says.
. "$ROOT/tests/cli/lib.sh"
edit() { python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); [db.execute(s) for s in sys.argv[2:]]; db.commit()' "$@"; }
read_all() { python3 "$ROOT/tests/formats_check.py" read "$@" || fail "not as it must be: $*"; }
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us;layers=conv:60us:Conv' --iters 20 -q -o full.assay
cp full.assay killed.assay
edit killed.assay 'UPDATE profiles SET complete=0' 'DELETE FROM metrics'
cp full.assay single.assay
edit single.assay "DELETE FROM metrics WHERE name != 'latency.p50'" 'DELETE FROM layers' 'DELETE FROM launches' 'DELETE FROM sample_chunks' \
    'DELETE FROM models' 'DELETE FROM environments' 'DELETE FROM tensors' 'DELETE FROM notes'
cp single.assay nothing.assay
edit nothing.assay 'DELETE FROM trials' 'DELETE FROM metrics'
for profile in killed single nothing; do
    for form in txt json csv md xml html; do
        expect_exit 0 "$ASSAY" report $profile.assay -o $profile.$form
        expect_lines err 0
    done
    python3 "$ROOT/tests/page_check.py" $profile.html --json $profile.json || fail "the page of $profile"
done
read_all killed.csv single.csv ./*.txt ./*.json ./*.md ./*.xml
for form in txt md html; do
    expect_has killed.$form INCOMPLETE
done
expect_equal "$(json_get killed.json .complete)" false
expect_equal "$(wc -l <single.csv)" 2
expect_has single.csv ",latency.p50,"
expect_exit 1 "$ASSAY" report single.assay --format model-explorer -o nodes.json
expect_lines err 1
expect_has err "assay run --layers"
if [ -e nodes.json ]; then fail "a file although there is nothing to show"; fi
expect_exit 1 "$ASSAY" report single.assay -o single.svg
expect_has err "no figure"

cp full.assay newer.assay
edit newer.assay 'PRAGMA user_version=999'
head -c 5000 full.assay >damaged.assay
: >empty.assay
for profile in newer damaged empty; do
    for form in txt json csv md xml html svg; do
        expect_error 3 "$profile.assay" "$ASSAY" report $profile.assay -o never.$form
        if [ -e never.$form ]; then fail "a file of a profile that cannot be read"; fi
    done
done

# a tuning: its tables say what its JSON says
expect_exit 0 "$ASSAY" tune mlp --engine fake --script steady=100us --precision float32 --spinning on --opt all --threads 1,2 --iters 20 \
    --budget 10s -q -o t.assay --report t.html
head -n 1 t.html | grep -q '<!doctype html>' || fail "tune --report is no page"
expect_exit 0 "$ASSAY" report t.assay -o t.json
expect_exit 0 "$ASSAY" report t.assay --table tune -o t.csv
expect_exit 0 "$ASSAY" report t.assay -o t.md
read_all t.csv t.md
python3 - <<'PYTHON' || fail "the tables of a tuning"
import csv, json
tune = json.load(open("t.json"))["tune"]
rows = list(csv.DictReader(open("t.csv")))
assert [r["configuration"] for r in rows] == [r["label"] for r in tune["rows"]] and len(rows) == 2
for row, said in zip(rows, tune["rows"]):
    assert float(row["p50_s"]) == said["latency_s"] and row["fate"] == said["fate"], row
    assert row["energy_j"] == "" and said["energy_j"] is None  # unknown is empty, not 0
assert [r["configuration"] for r in rows if r["mark"] == "best"] == [tune["best"]]
text = open("t.md").read()
assert "## Tune" in text and "intra_op_num_threads" in text and all(r["label"] in text for r in tune["rows"])
PYTHON
# nothing of another command
expect_exit 0 "$ASSAY" report full.assay --table tune --format csv
expect_lines out 1
