# doctor --capture: this machine as a folder; devices and doctor then say the same of the folder, the host's name aside.
. "$ROOT/tests/cli/lib.sh"
if [ "$(uname -s)" != Linux ]; then
    expect_error 3 "nothing to capture" "$ASSAY" doctor --capture machine
    exit 0
fi
expect_exit 0 "$ASSAY" doctor --capture machine
expect_lines err 0
expect_has out "files, "
expect_has out "/proc"
expect_equal "$(cat machine/proc/sys/kernel/hostname)" captured
expect_equal "$(find machine ! -type f ! -type d | wc -l)" 0
expect_equal "$(find machine -name environ -o -name cmdline -o -name '*serial*' -o -name '*uuid*' | wc -l)" 0
expect_equal "$(find machine -size +1024k | wc -l)" 0
# the same machine
expect_exit 0 "$ASSAY" devices --json
cp out here.json
ASSAY_FSROOT=$PWD/machine expect_exit 0 "$ASSAY" devices --json
for name in model cores threads l1d_bytes l2_bytes l3_bytes simd governor max_hz packages; do
    expect_equal "$(json_get out .cpu.$name)" "$(json_get here.json .cpu.$name)"
done
expect_equal "$(json_get out .memory_bytes)" "$(json_get here.json .memory_bytes)"
# probes that read files: as many channels of each, available or not
channels() { # channels FILE
    python3 - "$1" <<'PYTHON'
import json, sys
for probe in json.load(open(sys.argv[1]))["probes"]:
    for channel in probe["channels"]:
        # of a process: this one is not in the capture
        if (channel["source"] or "").startswith("/") and "/PID/" not in channel["source"]:
            print(probe["name"], channel["name"], channel["available"])
PYTHON
}
finding() { # finding ID: what doctor says of it
    python3 -c 'import json, sys
for check in json.load(open("out"))["checks"]:
    if check["id"] == sys.argv[1]: print(check["finding"])' "$1"
}
expect_exit 0 "$ASSAY" doctor --json
channels out >here
for id in virtual-machine cpus; do finding $id; done >said
expect_lines said 2
ASSAY_FSROOT=$PWD/machine expect_exit 0 "$ASSAY" doctor --json
for id in virtual-machine cpus; do finding $id; done | diff said - || fail "the capture is another machine"
python3 "$ROOT/tests/schema_check.py" doctor out || fail "doctor --json of the capture"
channels out >captured
[ -s here ] || fail "no channel of a file"
# root reads what others may not: what could not be read is not in the capture
if [ "$(id -u)" = 0 ]; then diff here captured || fail "the capture differs"; fi
expect_exit 0 "$ASSAY" doctor --capture again --json
expect_equal "$(json_get out .capture.files)" "$(find again -type f | wc -l | tr -d ' ')"
expect_equal "$(json_get out .capture.folder)" again
expect_exit 0 "$ASSAY" doctor --capture third --format csv --table written
python3 -c 'import csv; assert sum(int(row["files"]) for row in csv.DictReader(open("out"))) > 20' || fail "written: $(cat out)"
# folders that will not do
expect_error 2 "not empty" "$ASSAY" doctor --capture again
expect_error 2 "cannot create the folder" "$ASSAY" doctor --capture no/such/folder
: >file
expect_error 2 "something else already has that name" "$ASSAY" doctor --capture file
expect_error 2 "" "$ASSAY" doctor --capture
