# devices and doctor answer without a library or a worker, as text and JSON, and say what is missing.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices --json
python3 "$ROOT/tests/schema_check.py" devices out || fail "devices --json"
expect_not out '"fake"'
expect_exit 0 "$ASSAY" devices --engine fake --json
expect_equal "$(json_get out '.devices[0].engine')" fake
expect_equal "$(json_get out '.devices[0].available')" true
expect_exit 0 "$ASSAY" devices
expect_has out "usable"
expect_exit 2 "$ASSAY" devices --engine nothing
expect_exit 2 "$ASSAY" devices extra
expect_lines err 1
if grep -q ' $' err; then fail "a blank at the end of the usage line"; fi
ASSAY_ORT_LIBRARY=/nonexistent/libonnxruntime.so expect_exit 0 "$ASSAY" devices
expect_has out " no "
expect_has out "/nonexistent/libonnxruntime.so"
expect_exit 0 "$ASSAY" doctor --json
python3 "$ROOT/tests/schema_check.py" doctor out || fail "doctor --json"
expect_lines err 0
ASSAY_ORT_LIBRARY=/nonexistent/libonnxruntime.so ASSAY_WORKER=/nonexistent/worker expect_exit 0 "$ASSAY" doctor --json
expect_equal "$(json_get out '.checks[0].verdict')" missing
expect_equal "$(json_get out '.checks[1].verdict')" missing
expect_exit 0 "$ASSAY" doctor
expect_lines err 0
# held back by a CPU limit: a warning only from a time that shows
if [ "$(uname -s)" = Linux ]; then
    mkdir -p machine/sys/fs/cgroup machine/proc/self
    : >machine/sys/fs/cgroup/cgroup.controllers
    echo 0::/ >machine/proc/self/cgroup
    throttled() { # throttled MICROSECONDS: the verdict
        printf 'usage_usec 5000000\nnr_periods 10\nnr_throttled 1\nthrottled_usec %s\n' "$1" >machine/sys/fs/cgroup/cpu.stat
        ASSAY_FSROOT=$PWD/machine expect_exit 0 "$ASSAY" doctor
        grep 'held back' out || fail "nothing is said of the CPU limit"
    }
    case $(throttled 2000) in *WARNING* | *warning*) fail "a warning at 0.0 s" ;; *"less than 0.1 s"*) ;; *) fail "2 ms" ;; esac
    case $(throttled 2000000) in WARNING*"2.0 s"*) ;; *) fail "2 s: $(cat out)" ;; esac
fi
