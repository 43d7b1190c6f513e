# live_page.sh - the report's page in Chromium: opened from disk, used with mouse and keys, printed, without JavaScript, looked over by axe-core, on
# three widths; nothing is fetched, what is saved is what --format csv prints. Pages of a run, a comparison, a sweep, a tuning, a difference, a capture that was killed, names that
# mean harm; 1,000 layers with 100,000 samples within a second, and 100,000 layers.
. "$ROOT/tests/cli/lib.sh"
playwright=$ROOT/.cache/playwright-core/current axe=$ROOT/.cache/axe-core/current
for folder in "$playwright" "$axe"; do
    [ -d "$folder" ] || skip "no ${folder#"$ROOT"/}: scripts/setup oracle fetches it"
done
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$chromium" ] || skip "no Chromium on this machine: scripts/setup oracle says how to get it"
command -v node >/dev/null || skip "no node on this machine"
[ -e "$ROOT/.cache/onnxruntime/current" ] || skip "no .cache/onnxruntime: scripts/setup fetches it"
[ -x "$BUILD/bench/report_page" ] || skip "no $BUILD/bench/report_page: build with ASSAY_BENCH=ON"
export XDG_CONFIG_HOME=$PWD/config XDG_CACHE_HOME=$PWD/cache
browser() { node "$ROOT/tests/oracle/page.mjs" "$playwright" "$axe" "$chromium" "$@" || fail "page.mjs $*"; }

expect_exit 0 "$ASSAY" make -o squeeze.onnx squeezenet:image=64,batch=1
expect_exit 0 "$ASSAY" run squeeze.onnx --layers --memory --iters 40 -q -o run.assay
expect_exit 0 "$ASSAY" run squeeze.onnx --layers --threads 1 --iters 20 -q -o one.assay
expect_exit 0 "$ASSAY" sweep mlp --batch 1,2,4 --iters 20 --launches 2 -q -o sweep.assay
expect_exit 0 "$ASSAY" compare squeeze.onnx squeeze.onnx --iters 5 --launches 5 --no-power -q -o compare.assay
expect_exit 0 "$ASSAY" tune mlp --budget 5s -q -o tune.assay
expect_exit 0 "$ASSAY" run cfc --layers --iters 40 -q -o pieces.assay # a part of it runs in several pieces
cp one.assay killed.assay
cp one.assay hostile.assay
python3 - <<'P'
import sqlite3
db = sqlite3.connect("killed.assay")
db.execute("UPDATE profiles SET complete=0")
db.commit()
db = sqlite3.connect("hostile.assay")
names = ["<script>fetch('http://a.example/')</script>", "\"><img src=http://a.example/x onerror=alert(1)>", "=cmd|' /C calc'!A0", "x" * 10000,
         "\u202egnp.exe", "</script><style>*{display:none}</style>", "\u05e9\u05dc\u05d5\u05dd \U0001f600", "a\x1b[2J\x07b", "'; DROP TABLE layers;--",
         "\u2066left\u2069 \x85\x9b\u200f\u061c, \"quoted\"", "\uff1dfull-width", "\tcell"]
for i, name in enumerate(names):
    db.execute("UPDATE layers SET name=?, op=? WHERE position=?", (name, name[:200], i))
    db.execute("UPDATE layer_origins SET node=? WHERE layer=? AND position=0", (name, i))
db.execute("UPDATE models SET name=?", (names[0],))
db.commit()
P
pages=
for name in run sweep compare tune pieces killed hostile; do
    expect_exit 0 "$ASSAY" report $name.assay -o $name.html
    pages="$pages $name.html"
done
for name in run hostile tune; do
    for table in metrics layers samples; do
        expect_exit 0 "$ASSAY" report $name.assay --format csv --table $table -o $name.$table.csv
    done
done
expect_exit 0 "$ASSAY" report one.assay run.assay -o diff.html

browser check $pages diff.html
browser use run.html
browser use pieces.html
browser graph run.html
browser saves run.html hostile.html tune.html
browser shows hostile.html
browser difference diff.html
"$BUILD/bench/report_page" 1000 100000 1 large.html >/dev/null
browser time large.html 1000
"$BUILD/bench/report_page" 100000 1000 1 huge.html >/dev/null
browser time huge.html 60000
