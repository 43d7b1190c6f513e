# Several profiles side by side: exact ratios on the fake engine, fused layers, every format, and one clear line for what cannot be
# compared.
. "$ROOT/tests/cli/lib.sh"
export LC_ALL=C.UTF-8
run() { # run FILE SCRIPT OPTIONS…
    expect_exit 0 "$ASSAY" run --engine fake --script "$2" --iters 40 -q -o "$1" "${@:3}"
}
run a.assay 'steady=100us;layers=conv:60us:Conv,relu:30us:Relu;engine=7us' --launches 6
run b.assay 'steady=50us;layers=conv:20us:Conv,relu:30us:Relu,soft:5us:Softmax;engine=7us' --launches 6 --threads 2
run few.assay 'steady=50us' --launches 2 --layers=off
expect_width() { # expect_width COLUMNS: of every line of out; nothing in it is wider than a character
    python3 -c 'import sys; sys.exit(any(len(l.rstrip("\n")) > int(sys.argv[1]) for l in open("out", encoding="utf-8")))' "$1" ||
        fail "a line is longer than $1 columns"
}

# an exact ratio with its interval; what also differs
expect_exit 0 "$ASSAY" report a.assay b.assay
expect_lines err 0
for text in 'b.assay is 2 × as fast as a.assay (2 to 2). Likely cause: threads default → 2.' \
    '0.5 × (0.5 to 0.5)' 'conv' '−40.0 µs  0.333 ×' 'only in b.assay' 'engine per run' 'unattributed' \
    'What else differs' 'likely'; do
    expect_has out "$text"
done
expect_not out 'relu' # unchanged: folded
expect_width 80

expect_exit 0 "$ASSAY" report a.assay b.assay --json
cp out d.json
python3 - d.json <<'PYTHON' || fail "the JSON is not right"
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
m = {row["name"]: row for row in d["metrics"]}
p50 = m["latency.p50"]
assert [v["value"] for v in p50["values"]] == [0.0001, 0.00005], p50
delta = p50["deltas"][0]
assert abs(delta["ratio"] - 0.5) < 1e-12 and abs(delta["low"] - 0.5) < 1e-12 and delta["verdict"] == "faster", delta
assert all(x["verdict"] and (x["low"] is not None or x["reason"] or x["verdict"] in ("the same", "differs"))
           for row in d["metrics"] for x in row["deltas"]), "a delta without interval and without reason"
rows = {row["name"]: row for row in d["layers"]}
assert rows["conv"]["times_us"] == [60, 20] and abs(rows["conv"]["deltas"][0]["ratio"] - 1 / 3) < 1e-12
assert not rows["conv"]["folded"] and rows["relu"]["folded"]
assert rows["soft"]["times_us"] == [None, 5] and rows["soft"]["match"] == "only"
assert rows["engine per run"]["deltas"][0]["verdict"] == "no difference shown"
assert d["differences"][0]["name"] == "threads" and d["differences"][0]["explains"] == "likely"
assert d["same_model"] is None and len(d["profiles"]) == 2 and d["profiles"][0]["base"]
PYTHON

# the other formats; a page is one file without the network, with every section
expect_exit 0 "$ASSAY" report a.assay b.assay --format markdown
expect_has out '| latency.p50 | 100 µs | 50.0 µs | 0.5 × (0.5 to 0.5) | faster |'
expect_exit 0 "$ASSAY" report a.assay b.assay few.assay -o diff.html
expect_lines out 0
for text in '<!doctype html>' 'id="summary"' 'id="metrics"' 'id="layers"' 'id="differences"' 'id="assay-data"' 'Content-Security-Policy' '<svg'; do
    grep -qiF -- "$text" diff.html || fail "diff.html lacks $text"
done
grep -q 'src=["'"'"']*http' diff.html && fail "the page fetches something"
for columns in 40 60 120; do
    expect_exit 0 "$ASSAY" report a.assay b.assay few.assay --columns $columns --ascii
    expect_width $columns
    LC_ALL=C grep -q '[^ -~]' out && fail "not ASCII"
done

# a copy of the same capture is said; the same file twice is refused, but its trials may be compared
cp a.assay copy.assay
expect_exit 0 "$ASSAY" report a.assay copy.assay
expect_has out 'are the same capture'
expect_has out 'No difference shown: a.assay 100 µs, copy.assay 100 µs.'
expect_error 2 'is given twice' "$ASSAY" report a.assay ./a.assay
expect_error 3 "no trial 'nine'" "$ASSAY" report a.assay b.assay --trial nine
expect_error 2 'given 2 times for 3 profiles' "$ASSAY" report a.assay b.assay few.assay --trial 1 --trial 1
expect_error 2 '--table requires --format csv' "$ASSAY" report a.assay b.assay --table runs -o diff.html
expect_error 2 '--json and --format csv' "$ASSAY" report a.assay b.assay --json --format csv
expect_error 2 '--trial only applies' "$ASSAY" report a.assay --trial 1

# too few launches, and no layers: the ratio, and why there is no verdict
expect_exit 0 "$ASSAY" report a.assay few.assay
expect_has out '0.5 ×  no verdict'
expect_has out 'few.assay has no layers'

# bad input: one line, whichever place it stands in
head -c 6000 a.assay >damaged.assay
: >empty.assay
python3 - <<'PYTHON'
import shutil, sqlite3
shutil.copy("a.assay", "newer.assay")
db = sqlite3.connect("newer.assay")
db.execute("PRAGMA user_version = 99")
db.commit()
PYTHON
for bad in damaged empty newer missing; do
    expect_error 3 "$bad.assay" "$ASSAY" report a.assay $bad.assay
    expect_error 3 "$bad.assay" "$ASSAY" report $bad.assay a.assay -o never.html
    [ ! -e never.html ] || fail "a page was written"
done
expect_error 2 'take one profile' "$ASSAY" report a.assay b.assay --format junit
expect_error 2 'does not replace it' "$ASSAY" report a.assay b.assay -o a.assay
# shellcheck disable=SC2046
expect_exit 2 "$ASSAY" report $(for i in $(seq 17); do echo a.assay; done)

# a killed capture is compared as far as it got
python3 - <<'PYTHON'
import shutil, sqlite3
shutil.copy("b.assay", "killed.assay")
db = sqlite3.connect("killed.assay")
db.execute("UPDATE profiles SET complete = 0")
db.commit()
PYTHON
expect_exit 0 "$ASSAY" report a.assay killed.assay
expect_has out 'killed.assay is INCOMPLETE'
