# live_timeline.sh - the page of a trace in Chromium: opened from disk, its timeline used by mouse, fingers and keys, searched, ranges summed and compared with
# the trace; printed, without JavaScript, looked over by axe-core, on four widths; names that mean harm; a million events.
. "$ROOT/tests/cli/lib.sh"
playwright=$ROOT/.cache/playwright-core/current axe=$ROOT/.cache/axe-core/current
for folder in "$playwright" "$axe"; do
    [ -d "$folder" ] || skip "no ${folder#"$ROOT"/}: scripts/setup oracle fetches it"
done
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$chromium" ] || skip "no Chromium on this machine: scripts/setup oracle says how to get it"
command -v node >/dev/null || skip "no node on this machine"
[ -x "$BUILD/bench/timeline" ] || skip "no $BUILD/bench/timeline: build with ASSAY_BENCH=ON"
browser() { node "$ROOT/tests/oracle/page.mjs" "$playwright" "$axe" "$chromium" "$@" || fail "page.mjs $*"; }

python3 "$ROOT/tests/oracle/make_trace_page.py" trace.json
python3 "$ROOT/tests/oracle/make_trace_page.py" hostile.json hostile
for name in trace hostile; do
    expect_exit 0 "$ASSAY" explain $name.json -q -o $name.html
done
browser check trace.html hostile.html
browser timeline trace.html trace.json
browser timeline-shows hostile.html
"$BUILD/bench/timeline" page 1000000 million.html >/dev/null
browser timeline-time million.html 1500 30
