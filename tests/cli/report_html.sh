# The page of `report -o x.html`: well-formed, self-contained, its data the JSON of the report, its sections those the profile has; what
# cannot be read or written is one line and leaves no file. Without a browser.
. "$ROOT/tests/cli/lib.sh"
check() { python3 "$ROOT/tests/page_check.py" "$@" || fail "the page is not as it must be: $*"; }

script='steady=100us;layers=conv:60us:Conv,relu:30us:Relu;engine=7us;hardware=Made-up GPU 9'
expect_exit 0 "$ASSAY" run --engine fake --script "$script" --time 100ms --power --memory --idle 0s -q -o p.assay
expect_exit 0 "$ASSAY" report p.assay -o page.html
expect_lines out 0
"$ASSAY" report p.assay --json >p.json
check page.html --json p.json --without comparison,sweep,requirements,trials,roofline \
    --sections summary,latency,layers,placement,memory,power,findings,environment,metrics
expect_has page.html 'Conv takes '
expect_has page.html 'id="layer-0"'
# The card that the engine names is in the header, in the JSON and in the picture to share.
expect_equal "$(json_get p.json '.trials[0].target.options.hardware')" 'Made-up GPU 9'
expect_has page.html ', Made-up GPU 9, '
expect_exit 0 "$ASSAY" report p.assay --svg card -o card.svg
expect_has card.svg 'Made-up GPU 9'
# The same bytes on stdout, by the name of the format, and of a second rendering.
expect_exit 0 "$ASSAY" report p.assay --format html
cmp out page.html || fail "the file is another page than stdout's"
expect_exit 0 "$ASSAY" report p.assay -o page.HTM
cmp page.HTM page.html || fail "page.HTM is not the page"
# What is asked for by name is not overruled by the file's.
expect_exit 0 "$ASSAY" report p.assay --json -o json.html
cmp json.html p.json || fail "--json -o json.html is not JSON"

# A requirement table, a sweep and a comparison have their sections.
expect_exit 4 "$ASSAY" report p.assay --require m1 -o required.html
check required.html --sections requirements
expect_exit 0 "$ASSAY" sweep mlp --engine fake --script steady=100us --batch 1,2 --iters 20 --launches 1 -q -o sweep.assay
"$ASSAY" report sweep.assay --json >sweep.json
expect_exit 0 "$ASSAY" report sweep.assay -o sweep.html
check sweep.html --json sweep.json --sections sweep,trials --without comparison
# The best of the sweep is marked in its picture, and no other is.
best=$(python3 -c 'import json; print(json.load(open("sweep.json"))["sweep"]["optimal"])')
expect_equal "$(grep -o '<title>best: batch=[0-9]*' sweep.html | sort | uniq -c | tr -s ' ')" " 1 <title>best: $best"

# A capture that was killed: shown as far as it got, with a banner.
python3 - <<'PYTHON'
import sqlite3
db = sqlite3.connect("p.assay")
db.execute("UPDATE profiles SET complete=0")
db.commit()
PYTHON
expect_exit 0 "$ASSAY" report p.assay -o killed.html
check killed.html
expect_has killed.html 'class="alert">INCOMPLETE'

# What is no profile, or cannot be written: one line, and no page or the one that stood there.
: >empty.assay
head -c 5000 p.assay >damaged.assay
echo before >kept.html
for bad in missing.assay empty.assay damaged.assay; do
    expect_error 3 "$bad" "$ASSAY" report "$bad" -o kept.html
done
python3 - <<'PYTHON'
import sqlite3
db = sqlite3.connect("p.assay")
db.execute("PRAGMA user_version=999")
db.commit()
PYTHON
expect_error 3 newer "$ASSAY" report p.assay -o kept.html
expect_equal "$(cat kept.html)" before
expect_error 3 nowhere "$ASSAY" report sweep.assay -o nowhere/page.html
mkdir folder.html
expect_exit 3 "$ASSAY" report sweep.assay -o folder.html
expect_has err "it is a folder"
if [ -c /dev/full ]; then
    expect_error 3 /dev/full "$ASSAY" report sweep.assay --format html -o /dev/full
fi
rest=$(find . -name '*.html.*' -o -name '.*.html*')
expect_equal "$rest" ""
