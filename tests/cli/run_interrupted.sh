# Ctrl-C: status 130, the partial profile is kept and marked. kill -9: the profile so far is readable and called incomplete.
. "$ROOT/tests/cli/lib.sh"

start() { # start FILE: in the background, a window a second; sets pid. A shell's background jobs ignore SIGINT: python undoes that.
    python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
        "$ASSAY" run --engine fake --script "steady=1ms;pace=1ms" --warmup 0 --iters 1000000 --layers=off -q -o "$1" >out 2>err &
    pid=$!
    for _ in $(seq 200); do
        rows=$("$ASSAY" query "$1" "SELECT count(*) FROM samples" --csv 2>/dev/null | tail -n 1) || rows=0
        [ "${rows:-0}" -gt 0 ] 2>/dev/null && return
        sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
    fail "no sample was stored in 20 s: $(cat err)"
}

start int.assay
kill -INT "$pid"
status=0
wait "$pid" || status=$?
expect_equal "$status" 130
expect_exit 0 "$ASSAY" report int.assay --json
expect_equal "$(json_get out '.trials[0].state')" interrupted
[ "$(json_get out '.trials[0].launches[0].samples')" -gt 0 ] || fail "no sample kept"

start kill.assay
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
expect_exit 0 "$ASSAY" report kill.assay
grep -qi incomplete out err || fail "an incomplete profile is not called so"
