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
# throttled by a CPU limit: a warning only from a time that shows
if [ "$(uname -s)" = Linux ]; then
    mkdir -p machine/sys/fs/cgroup machine/proc/self
    : >machine/sys/fs/cgroup/cgroup.controllers
    echo 0::/ >machine/proc/self/cgroup
    throttled() { # throttled MICROSECONDS: the verdict
        printf 'usage_usec 5000000\nnr_periods 10\nnr_throttled 1\nthrottled_usec %s\n' "$1" >machine/sys/fs/cgroup/cpu.stat
        ASSAY_FSROOT=$PWD/machine expect_exit 0 "$ASSAY" doctor --format csv
        grep '^cpu-limit,' out || fail "nothing is said of the CPU limit"
    }
    case $(throttled 2000) in cpu-limit,good,*"less than 0.1 s"*) ;; *) fail "2 ms: $(cat out)" ;; esac
    case $(throttled 2000000) in cpu-limit,warning,*"2.0 s"*) ;; *) fail "2 s: $(cat out)" ;; esac
fi

# switches of the kernel: each with the command that changes it
if [ "$(uname -s)" = Linux ]; then
    cpu=switches/sys/devices/system/cpu
    mkdir -p $cpu/smt $cpu/intel_pstate switches/proc/sys/kernel switches/sys/bus/event_source/devices/software
    echo 0-3 >$cpu/online
    for i in 0 1 2 3; do
        mkdir -p $cpu/cpu$i/topology
        echo 0 >$cpu/cpu$i/topology/physical_package_id
        echo $((i / 2)) >$cpu/cpu$i/topology/core_id
        echo $((i / 2 * 2)),$((i / 2 * 2 + 1)) >$cpu/cpu$i/topology/thread_siblings_list
    done
    echo 1 >$cpu/smt/active
    echo 0 >$cpu/intel_pstate/no_turbo
    echo 4 >switches/proc/sys/kernel/perf_event_paranoid
    printf 'MemTotal: 1000 kB\nSwapTotal: 2000000 kB\nSwapFree: 1000000 kB\n' >switches/proc/meminfo
    verdict() { # verdict ID: verdict, finding and advice
        python3 -c 'import json, sys
for check in json.load(open("out"))["checks"]:
    if check["id"] == sys.argv[1]: print(check["verdict"], check["finding"], check["advice"])' "$1" >said
        [ -s said ] || fail "no check $1"
    }
    ASSAY_FSROOT=$PWD/switches expect_exit 0 "$ASSAY" doctor --json
    python3 "$ROOT/tests/schema_check.py" doctor out || fail "doctor --json of switches"
    verdict smt
    expect_has said "warning SMT is on"
    expect_has said "--cpus 0,2; or echo off | sudo tee /sys/devices/system/cpu/smt/control"
    verdict turbo
    expect_has said "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    verdict swap
    expect_has said "warning 2.05 GB of swap, 1.02 GB in use"
    expect_has said "sudo swapoff -a"
    verdict perf-events
    expect_has said "missing perf_event_paranoid is 4"
    expect_has said "sudo sysctl kernel.perf_event_paranoid=2"
    verdict pmu
    expect_has said "missing "
    verdict limits
    expect_has said "unknown "
    # … and switched the other way
    echo 0 >$cpu/smt/active
    echo 1 >$cpu/intel_pstate/no_turbo
    echo -1 >switches/proc/sys/kernel/perf_event_paranoid
    printf 'SwapTotal: 0 kB\nSwapFree: 0 kB\n' >switches/proc/meminfo
    mkdir -p switches/sys/bus/event_source/devices/cpu switches/sys/fs/cgroup/cpu switches/sys/fs/cgroup/memory
    echo 150000 >switches/sys/fs/cgroup/cpu/cpu.cfs_quota_us
    echo 100000 >switches/sys/fs/cgroup/cpu/cpu.cfs_period_us
    echo 9223372036854771712 >switches/sys/fs/cgroup/memory/memory.limit_in_bytes
    ASSAY_FSROOT=$PWD/switches expect_exit 0 "$ASSAY" doctor --json
    for id in smt turbo swap perf-events pmu; do
        verdict $id
        expect_has said "good "
    done
    verdict limits
    expect_has said "warning limited to 1.5 CPUs by the control group echo -1 | sudo tee /sys/fs/cgroup/cpu/cpu.cfs_quota_us"
    ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-container expect_exit 0 "$ASSAY" doctor --json
    verdict limits
    expect_has said "warning limited to"
    expect_has said "of memory"
    verdict cpu-limit # the limit sits above the process's own group, and so does what it cost
    expect_has said "warning so far the control group was throttled for 1.8 s"
    # probes: those of the fixture with what they cost, the others with the reason
    ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-intel-laptop expect_exit 0 "$ASSAY" doctor
    expect_has out "Probes"
    grep -Eq '^  rapl +4 +4 +[0-9.]+ .s ' out || fail "rapl: $(grep rapl out)"
    grep -Eq '^  accel +—' out || fail "accel: $(grep accel out)"
    grep -Eq '^  — readable \(accel\): no accelerator' out || fail "accel: $(grep accel out)"
    # the same in every format but for what is timed anew by each
    ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-intel-laptop python3 "$ROOT/tests/formats_same.py" --without ' data-v="[^"]*"|[0-9.]+\s[nµm]?s\b' \
        "$ASSAY" doctor || fail "formats of the doctor differ"
    ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-intel-laptop expect_exit 0 "$ASSAY" doctor --format csv --table channels
    grep -q '^rapl,energy.package-0,[0-9.]*,J,yes,' out || fail "channels: $(grep rapl out)"
fi
