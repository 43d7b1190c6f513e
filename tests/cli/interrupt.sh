# Ctrl-C: status 130, the partial profile is kept and marked, with the samples so far. kill -9: the profile so far is readable and called
# incomplete.
. "$ROOT/tests/cli/lib.sh"
start() { # start PROFILE SCRIPT: in the background; samples are stored after each window, a second of the script's clock
    in_background "$ASSAY" run --engine fake --script "$2" --iters 1000000 --warmup 5 --layers=off -o "$1"
}
kept() { # kept PROFILE: what an interrupted run left
    expect_has err "interrupted; what was measured is saved in $1"
    expect_has out "INTERRUPTED"
    expect_exit 0 "$ASSAY" report "$1" --json
    expect_equal "$(json_get out .interrupted)" true
    expect_equal "$(json_get out '.trials[0].state')" interrupted
    [ "$(json_get out '.trials[0].launches[0].samples')" -gt 0 ] || fail "no sample kept"
    # what this system does report is not called unreported because the run was stopped
    [ ! -r /proc/stat ] || ! grep -q 'steal time: not reported' out || fail "a false reason"
    python3 "$ROOT/tests/schema_check.py" run out || fail "the partial profile is not of the promised shape"
}
start int.assay "steady=1ms;pace=1ms"
wait_for 1 int.assay "SELECT count(*) FROM samples"
expect_stop INT 130
kept int.assay

# within the first window, of which nothing is stored yet: 10,000 steps of 2 ms
start term.assay "steady=100us;pace=2ms"
wait_for 1 term.assay "SELECT count(*) FROM launches"
sleep 1
expect_stop TERM 130
kept term.assay

start kill.assay "steady=1ms;pace=1ms"
wait_for 1 kill.assay "SELECT count(*) FROM samples"
expect_stop KILL 137
expect_exit 0 "$ASSAY" report kill.assay
expect_has out "INCOMPLETE"
expect_exit 0 "$ASSAY" report kill.assay --json
expect_equal "$(json_get out .complete)" false
