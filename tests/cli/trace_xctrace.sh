# trace_xctrace.sh - on a Mac xctrace starts and records the program: the command lines, the program's own streams and status,
# the tables that are exported and read, what happens when a step fails. Against a stand-in.
. "$ROOT/tests/cli/lib.sh"
export ASSAY_XCTRACE=$ROOT/tests/fixtures/fake_xctrace FAKE_XCTRACE_LOG=$PWD/log
echo input | expect_exit 5 "$ASSAY" trace --cpu none -o a.assay -- sh -c 'cat; exit 5' "two words"
expect_equal "$(cat out)" input
expect_has err "profile saved to a.assay"
expect_equal "$("$ASSAY" query a.assay "select count(*), sum(duration_ns) from events where kind = 'kernel'" --csv | tail -n 1)" "2,4000000"
expect_equal "$(sed -n 1p log)" "list instruments"
sed -n 2p log >record
grep -q '^record --instrument Metal Application --instrument GPU --instrument Core ML --output /.*/program.trace --no-prompt' record ||
    fail "$(cat record)"
grep -q -- '--target-stdin - --target-stdout - --launch -- sh -c cat; exit 5 two words$' record || fail "$(cat record)"
grep -q '^export --input /.*/program.trace --toc --output /' log || fail "no table of contents"
expect_equal "$(grep -c -- '--xpath' log)" 1 # of the tables one can be read, and it once
grep -qF -- "--xpath /trace-toc/run[@number=\"1\"]/data/table[@schema=\"metal-gpu-intervals\"] --output" log || fail "$(cat log)"
expect_equal "$(find . -name '*.records*')" ""

# samples of the CPU, and a time limit
: >log
expect_exit 0 "$ASSAY" trace -q --duration 2s -o b.assay -- true
grep -q '^record --instrument Time Profiler --instrument Metal' log || fail "$(cat log)"
grep -q -- '--time-limit 2000ms' log || fail "$(cat log)"

# what fails is said; the program runs as if there were no xctrace
expect_exit 5 env FAKE_XCTRACE_FAIL=list "$ASSAY" trace --cpu none -- sh -c 'exit 5'
expect_has err "xctrace list failed: xctrace: something is wrong"
expect_exit 5 env ASSAY_XCTRACE=/nowhere "$ASSAY" trace --cpu none -- sh -c 'exit 5'
expect_has err "ASSAY_XCTRACE=/nowhere"
expect_exit 0 env FAKE_XCTRACE_FAIL=export "$ASSAY" trace --cpu none -- true
expect_has err "xctrace export failed"
