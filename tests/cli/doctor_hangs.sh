# plain-only: a library is preloaded, which sanitizers refuse
# A driver that does not answer costs its probe, not the doctor: a read that hangs, an open that hangs, a pipe in a file's place.
. "$ROOT/tests/cli/lib.sh"
[ "$(uname -s)" = Linux ] || skip "preloading a library as on Linux"
export ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-intel-laptop
library=$BUILD/tests/lib/lib_hanging_reads.so
[ -e "$library" ] || fail "no $library"
LD_PRELOAD=$library HANG_READ=/intel-rapl:0/energy_uj expect_exit 0 timeout 20 "$ASSAY" doctor
grep -Eq '^  — readable \(rapl\): no answer within 1.2 s: gave up' out || fail "rapl: $(grep rapl out)"
grep -Eq '^  thermal +[0-9]+ +[0-9]+ ' out || fail "thermal: $(grep thermal out)"
LD_PRELOAD=$library HANG_OPEN=/thermal_zone0/temp expect_exit 0 timeout 20 "$ASSAY" doctor --json
python3 - <<'PYTHON' || fail "doctor --json"
import json
probes = {p["name"]: p for p in json.load(open("out"))["probes"]}
assert not probes["thermal"]["available"] and "no answer within 1.2 s:" in probes["thermal"]["reason"], probes["thermal"]
assert probes["thermal"]["read_us"] is None and probes["thermal"]["channels"] == [], probes["thermal"]
assert probes["rapl"]["available"], probes["rapl"]
PYTHON
# a pipe that nobody writes to is no file: at once, and with a reason
cp -r "$ASSAY_FSROOT" tree
rm tree/sys/class/thermal/thermal_zone0/temp tree/proc/stat
mkfifo tree/sys/class/thermal/thermal_zone0/temp tree/proc/stat tree/proc/cpuinfo tree/proc/meminfo
ASSAY_FSROOT=$PWD/tree expect_exit 0 timeout 20 "$ASSAY" doctor
grep -Eq '^  thermal +[0-9]+ +[0-9]+ ' out || fail "thermal: $(grep thermal out)"
ASSAY_FSROOT=$PWD/tree expect_exit 0 timeout 20 "$ASSAY" doctor --capture copy

# what is in the machine and cannot be used is named, with the command
ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-amdgpu-host expect_exit 0 "$ASSAY" doctor --json
python3 - <<'PYTHON' || fail "drivers"
import json
check = {c["id"]: c for c in json.load(open("out"))["checks"]}["drivers"]
assert check["verdict"] == "missing", check
assert "AMD NPU (XDNA 2) (0000:08:00.0): no driver is loaded" in check["finding"], check
assert "sudo modprobe amdxdna" in check["advice"] and check["advice"].count("nvidia-driver") == 1, check
PYTHON
