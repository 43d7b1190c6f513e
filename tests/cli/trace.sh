# trace.sh - a program is run as it is: its input, output, status, signals and files are its own; what it did on the GPU (a
# stand-in) is recorded, also where it crashes, forks, executes, stays in the background or leaves without flushing, and
# where the recorder cannot record.
. "$ROOT/tests/cli/lib.sh"
[ "$SANITIZED" = no ] || export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
lib=$BUILD/tests/lib/lib_fake_cupti.so recorder=$BUILD/libassay-cuda-trace.so
[ -e "$recorder" ] && [ -e "$lib" ] || skip "this build has no CUDA recorder"
[ "$SANITIZED" = no ] || skip "a recorder that was built with a sanitizer cannot be loaded into another program"
export ASSAY_CUPTI=$lib
trace() { # trace [OPTION…] -- WORD…: of the CPU nothing is recorded here
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    "$ASSAY" trace --cpu none "${options[@]}" -- python3 "$ROOT/tests/fixtures/cuda_program.py" "$lib" "${@:2}"
}
kernels() { "$ASSAY" query "$1" "select count(*) from events where kind = 'kernel'" --csv | tail -n 1; }

# its own: standard input and output, status; the profile holds its kernels
echo hello | expect_exit 5 trace -o a.assay -- init launch 12 sync read exit 5
expect_equal "$(cat out)" hello
expect_has err "profile saved to a.assay"
expect_equal "$(kernels a.assay)" 12
expect_equal "$(find . -name '*.records*')" ""

# nothing on the GPU: said, no profile, its status
expect_exit 3 trace -o none.assay -- say words exit 3
expect_equal "$(cat out)" words
[ ! -e none.assay ] || fail "a profile of nothing"

# a crash ends us by the same signal; what was written is kept
status=0
trace -q -o crash.assay -- init launch 9 sync sleep 0.8 crash >out 2>err || status=$?
expect_equal $status 139
expect_equal "$(kernels crash.assay)" 9

# what is traced is what the explanation is of
expect_equal "$("$ASSAY" query a.assay 'select title from trace_sources' --csv | tail -n 1)" cuda_program.py

# without flushing; of a fork both processes; of an execution both programs
expect_exit 4 trace -q -o leave.assay -- init launch 6 sync sleep 0.8 leave 4
expect_equal "$(kernels leave.assay)" 6
expect_exit 0 trace -q -o fork.assay -- fork init launch 4 sync end init launch 5 sync
expect_equal "$(kernels fork.assay)" 9
expect_exit 0 trace -q -o exec.assay -- init launch 3 sync sleep 0.8 exec init launch 2 sync
expect_equal "$(kernels exec.assay)" 5

# a signal begins the recording; a storm of them (of which some coincide) disturbs neither the program nor us
expect_exit 0 trace -q --signal USR2 -o begun.assay -- init launch 2 sync signal sleep 0.3 launch 3 sync
expect_equal "$(kernels begun.assay)" 3
expect_exit 9 trace -q --signal USR2 -o storm.assay -- init storm 2000 launch 3 sync exit 9

# a storm from outside, which goes on when the program has ended: what it did is saved all the same
"$ASSAY" trace --cpu none --allocations -q -o outside.assay -- python3 -c "import signal, time
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
open('ready', 'w').close()
time.sleep(0.5)" 2>err &
traced=$!
until [ -e ready ] || ! kill -0 $traced 2>/dev/null; do sleep 0.05; done
(while kill -USR1 $traced 2>/dev/null; do :; done) &
storm=$! status=0
wait $traced || status=$?
kill $storm 2>/dev/null || true
expect_equal $status 0
[ -e outside.assay ] || fail "a storm of signals cost the profile"

# CUPTI drops records: as many as it says are in the profile, in JSON and in the explanation
one() { "$ASSAY" query "$1" "$2" --csv | tail -n 1 | tr -d '\r'; }
expect_exit 0 env FAKE_CUPTI_DROP=7 "$ASSAY" trace --cpu none -o drop.assay -- python3 \
    "$ROOT/tests/fixtures/cuda_program.py" "$lib" init launch 100 sync
expect_has err "7 records were dropped"
expect_equal "$(kernels drop.assay)" 93
expect_equal "$(one drop.assay 'select sum(skipped) from trace_sources')" 7
expect_exit 0 "$ASSAY" explain drop.assay --json
expect_equal "$(python3 -c 'import json; print(sum(s["skipped"] for s in json.load(open("out"))["trace"]["sources"]))')" 7

# one buffer, of 16 records: most are dropped, and all are counted (one more is that of the wait)
expect_exit 0 trace -o few.assay --calls none --buffers 1 --buffer-size 4 -- init launch 40000 sync
lost=$(one few.assay 'select sum(skipped) from trace_sources') kept=$(one few.assay 'select count(*) from events')
[ "$lost" -gt 0 ] || fail "nothing was dropped"
expect_equal $((lost + kept)) 40001
# what is missing looks like idle time: nothing is concluded from what is left
expect_exit 0 "$ASSAY" explain few.assay --json
expect_equal "$(python3 -c 'import json; r=json.load(open("out")); print(r["diagnosis"]["id"], [s["verdict"] for s in r["scenarios"]])')" \
    "undecided [None, None, None]"
expect_exit 2 trace -o few.assay --buffer-size 3 -- true

# a device that CUPTI does not describe is named by the driver
expect_exit 0 env FAKE_CUPTI_SILENT=1 "$ASSAY" trace --cpu none -q -o named.assay -- python3 \
    "$ROOT/tests/fixtures/cuda_program.py" "$lib" init launch 20 sync
expect_exit 0 "$ASSAY" explain named.assay --json
expect_equal "$(python3 -c 'import json; print(json.load(open("out"))["devices"][0]["name"])')" "Fake GPU 100"

# a recorder that cannot record says why and what to do; the program is not affected
expect_exit 6 env ASSAY_CUPTI=/nowhere/libcupti.so "$ASSAY" trace --cpu none -- python3 \
    "$ROOT/tests/fixtures/cuda_program.py" "$lib" init launch 2 exit 6
expect_has err "CUPTI"
for failure in Subscribe:39 ActivityEnable:35; do
    expect_exit 7 env FAKE_CUPTI_FAIL=$failure "$ASSAY" trace --cpu none -o "no-$failure.assay" -- python3 \
        "$ROOT/tests/fixtures/cuda_program.py" "$lib" init launch 2 sync exit 7
    expect_has err "nothing was recorded: CUPTI refused"
done
expect_exit 6 env ASSAY_CUDA_RECORDER=/nowhere.so "$ASSAY" trace --cpu none -- python3 \
    "$ROOT/tests/fixtures/cuda_program.py" "$lib" exit 6
expect_has err "/nowhere.so"

# the disk is full (files may not grow beyond a limit): what was written until then is kept
expect_exit 0 trace -o full.assay -- init launch 1000 sync sleep 0.8 limit 400000 launch 60000 sync
expect_has err "profile saved to full.assay"
kept=$(kernels full.assay)
[ "$kept" -gt 0 ] && [ "$kept" -lt 60000 ] || fail "$kept kernels of a file that was full"

# a process that stays behind: waited for only if asked, else it is said
python="import os, time
if os.fork() == 0:
    time.sleep(1)
    open('late', 'w').close()
    os._exit(0)"
expect_exit 0 "$ASSAY" trace --cpu none --wait -- python3 -c "$python"
[ -e late ] || fail "the process that was left behind was not waited for"
! grep -q "running" err || fail "a process that was waited for is said to be running"
rm late
expect_exit 0 "$ASSAY" trace --cpu none -- python3 -c "$python"
expect_has err "left 1 process running"

# allocations alone are a profile; nothing is said about devices that nothing is known of
expect_exit 0 "$ASSAY" trace --cpu none --allocations -q -o counted.assay -- python3 -c 'x = bytearray(3000000)'
[ "$("$ASSAY" query counted.assay 'select max(bytes) from allocation_sites' --csv | tail -n 1 | tr -d '\r')" -ge 3000000 ] ||
    fail "three million bytes were not seen"
expect_exit 0 "$ASSAY" explain counted.assay --json
expect_equal "$(python3 -c 'import json; print([s["verdict"] for s in json.load(open("out"))["scenarios"]])')" "[None, None, None]"

# an export that cannot be written whole leaves nothing behind, and names its file
for format in perfetto chrome speedscope folded; do
    rm -f part
    (ulimit -f 1 && trap '' XFSZ && "$ASSAY" explain few.assay --export $format -o part 2>err) && [ $format != folded ] &&
        fail "$format: a file beyond its limit was written"
    [ $format = folded ] || [ ! -e part ] || fail "$format: a part of a file was left"
done
expect_exit 3 "$ASSAY" explain few.assay --export chrome -o /dev/full
expect_has err "/dev/full"
[ -c /dev/full ] || fail "/dev/full was removed"
# a name that is empty is a frame of a folded stack all the same
expect_exit 0 trace -q -o empty.assay -- init kernel "" sync
expect_exit 0 "$ASSAY" explain empty.assay --export folded
if grep -qE '(^|;)(;| [0-9]+$)' out; then fail "a frame without a name"; fi

# what cannot be started
expect_exit 127 "$ASSAY" trace -- no-such-program
expect_exit 126 "$ASSAY" trace -- /etc/passwd
expect_exit 2 "$ASSAY" trace
expect_exit 3 "$ASSAY" trace program # a model, and there is none
expect_exit 2 "$ASSAY" trace --range x --delay 1s -- true
expect_exit 2 "$ASSAY" trace -o report.html -- true
expect_exit 2 "$ASSAY" trace --signal 9 -- true
expect_exit 3 "$ASSAY" trace -o nowhere/x.assay -- true
