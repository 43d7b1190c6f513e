# devices: several builds of ONNX Runtime, the user's list of them, devices that crash or hang, --device, Ctrl-C.
. "$ROOT/tests/cli/lib.sh"
export XDG_CONFIG_HOME=$PWD/config
row() { # row NAME: its line and the next ones, up to the next device
    sed -n "s/  *\$//; \\|^  $1 |,\\|^  [^ ]|p" out | tr -s ' \n' ' '
}

# --- devices that misbehave cost their own row ----------------------------------------------------------
export ASSAY_FAKE_DEVICES='cpu;gpu:0=crash;npu=hang;gpu:1=refused;swift=software;lost=missing;gone=missing'
expect_exit 0 "$ASSAY" devices --engine fake --timeout 500ms --json
python3 "$ROOT/tests/schema_check.py" devices out || fail "devices --json"
expect_equal "$(json_get out '.devices[1].name')" gpu:0
expect_has out "probing it crashed: SIGSEGV"
expect_has out "probing it hung: no answer for 0.5 s; killed"
expect_equal "$(json_get out '.devices[3].reason')" "the script refuses it"
expect_equal "$(json_get out '.devices[4].software')" true
expect_equal "$(json_get out '.devices[4].hardware')" "Fake adapter"
expect_equal "$(json_get out '.devices[5].offered')" false
expect_equal "$(json_get out '.interrupted')" false
expect_exit 0 "$ASSAY" devices --engine fake --timeout 500ms
expect_lines err 0
expect_has out "Not in this build: lost, gone."
expect_not out "no such provider" # one line for all of them
case $(row swift) in *"yes"*"Fake adapter"*software*"the script says so"*) ;; *) fail "$(row swift)" ;; esac
case $(row gpu:0) in *"no"*"last output: fake driver of gpu:0: crash"*) ;; *) fail "$(row gpu:0)" ;; esac
if awk 'length($0) > 80 { wide = 1 } END { exit !wide }' <<<"$(LC_ALL=C.UTF-8 sed 's/[^ -~]/x/g' out)"; then
    fail "wider than 80 columns: $(cat out)"
fi
expect_exit 0 "$ASSAY" devices --engine fake --device swift --ascii
expect_has out "swift"
expect_not out "gpu:0"
if LC_ALL=C grep -q '[^ -~]' out; then fail "--ascii prints more than ASCII"; fi
# every format has the same devices; CSV also those that the build lacks
expect_exit 0 "$ASSAY" devices --engine fake --timeout 500ms --format csv
python3 - <<'P' || fail "devices as CSV: $(cat out)"
import csv
rows = {row["name"]: row for row in csv.DictReader(open("out"))}
assert list(rows) == ["cpu", "gpu:0", "npu", "gpu:1", "swift", "lost", "gone"], list(rows)
assert rows["swift"]["software"] == rows["swift"]["available"] == "yes" and rows["swift"]["hardware"] == "Fake adapter"
assert rows["gpu:1"]["available"] == "no" and rows["gpu:1"]["reason"] == "the script refuses it"
assert rows["lost"]["offered"] == "no" and rows["cpu"]["offered"] == "yes" and rows["cpu"]["class"] == "cpu"
P
ASSAY_FAKE_DEVICES='cpu;gpu:0=refused;swift=software;lost=missing' python3 "$ROOT/tests/formats_same.py" "$ASSAY" devices --engine fake ||
    fail "formats of the devices differ"
if [ "$(uname -s)" = Linux ]; then
    ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-amdgpu-host python3 "$ROOT/tests/formats_same.py" "$ASSAY" devices --engine fake --device swift ||
        fail "formats of the GPUs and NPUs differ"
fi
expect_error 2 "there is no device 'nothing'" "$ASSAY" devices --engine fake --device nothing

# Ctrl-C: what came until then, and the status that says so
ASSAY_FAKE_DEVICES='cpu;gpu=hang' "$ASSAY" devices --engine fake --json >out 2>err &
child=$!
for _ in $(seq 100); do
    if pgrep -P "$child" >/dev/null 2>&1; then break; fi
    sleep 0.05
done
sleep 0.3
kill -TERM "$child"
status=0
wait "$child" || status=$?
expect_equal "$status" 130
expect_equal "$(json_get out '.interrupted')" true
expect_lines err 1
expect_has err interrupted
expect_equal "$(json_get out '.devices[0].name')" cpu
python3 "$ROOT/tests/schema_check.py" devices out || fail "an interrupted list"
unset ASSAY_FAKE_DEVICES

# --- the list of builds ---------------------------------------------------------------------------------
expect_error 2 "not of the form NAME=PATH" "$ASSAY" devices --add-ort /nowhere
expect_error 2 "no such file or folder" "$ASSAY" devices --add-ort a=/nowhere
expect_error 2 "cannot be called 'a b'" "$ASSAY" devices --add-ort "a b=$PWD"
expect_error 2 "list: use them without other options" "$ASSAY" devices --add-ort a=/nowhere --json
expect_error 3 "'a' was not added: " "$ASSAY" devices --add-ort "a=$PWD"
[ ! -e config/assay/ort ] || fail "a build that cannot be loaded is on the list"
expect_exit 3 "$ASSAY" devices --remove-ort a
expect_has err "no build 'a'"
expect_error 3 "no ONNX Runtime build 'a' (known: none)" "$ASSAY" run --device a/cpu cfc:units=8,outputs=2

# a broken line is said, the others work
mkdir -p config/assay "a folder"
printf 'alone\nmissing %s/not there\nalso %s/a folder\n' "$PWD" "$PWD" >config/assay/ort
expect_exit 0 "$ASSAY" devices
expect_lines err 1
expect_has err "ort:1: not of the form NAME PATH"
expect_has out "missing/cpu"
case $(row missing/cpu) in *" no "*"no such file"*) ;; *) fail "$(row missing/cpu)" ;; esac
case $(row also/cpu) in *" no "*"no libonnxruntime in the folder"*) ;; *) fail "$(row also/cpu)" ;; esac
expect_has out "ONNX Runtime, build missing" # of no version that could be told
expect_not out "Runtime ,"

# the same library as a second and a third build
expect_exit 0 "$ASSAY" devices --json
library=$(json_get out '.devices[0].library')
[ "$(json_get out '.devices[0].available')" = true ] || skip "no ONNX Runtime here"
expect_exit 0 "$ASSAY" devices --remove-ort missing --remove-ort also --add-ort "two=$library"
expect_has out "removed missing"
expect_has out "added two: ONNX Runtime"
expect_equal "$(cat config/assay/ort)" "alone
two $library"
expect_exit 0 "$ASSAY" devices --ort "three=$library" --json
python3 "$ROOT/tests/schema_check.py" devices out || fail "three builds"
expect_equal "$(json_get out '.builds[1].name')" two
expect_equal "$(json_get out '.builds[2].name')" three
python3 - <<'P' || fail "devices of three builds"
import json
devices = {d["name"]: d for d in json.load(open("out"))["devices"]}
assert all(devices[name]["available"] for name in ("cpu", "two/cpu", "three/cpu")), devices.keys()
for provider in "cuda:0 tensorrt:0 webgpu:0 coreml openvino:cpu qnn rocm:0 migraphx:0 directml:0 xnnpack".split():
    assert provider in devices and "two/" + provider in devices, provider
assert devices["two/cpu"]["build"] == "two" and devices["cpu"]["build"] is None
P
expect_exit 0 "$ASSAY" devices --ort "$library" --device two/cpu --json
expect_equal "$(json_get out '.devices[0].name')" two/cpu
expect_equal "$(json_get out '.builds[0].name')" two
expect_exit 2 "$ASSAY" devices --ort "two=$library"
expect_has err "a build called 'two' already"

# the prefix in a run; the profile keeps the whole name
expect_exit 0 "$ASSAY" run --device two/cpu --iters 20 --layers=off --json -q cfc:units=8,outputs=2
expect_equal "$(json_get out '.trials[0].target.device')" two/cpu
expect_equal "$(json_get out '.trials[0].state')" ok
expect_error 2 "give only one" "$ASSAY" run --device two/cpu --library "$library" cfc:units=8,outputs=2
expect_error 3 "no ONNX Runtime build 'four' (known: two)" "$ASSAY" run --device four/cpu cfc:units=8,outputs=2

# what the operating system shows and nothing here reaches: which provider could
if [ "$(uname -s)" = Linux ]; then
    ASSAY_FSROOT=$ROOT/tests/fixtures/fsroot-intel-npu-laptop expect_exit 0 "$ASSAY" devices --device cpu
    tr -s ' \n' ' ' <out >flat
    expect_has flat "reached by"
    expect_has flat "Intel NPU (Meteor Lake)"
    expect_has flat "a build with the openvino provider could"
fi

# --- a card that NVML tells of: the page and the doctor's --------------------------------------------------
export ASSAY_NVML_LIBRARY=$BUILD/tests/lib/lib_fake_nvml.so
if [ -e "$ASSAY_NVML_LIBRARY" ]; then
    expect_exit 0 "$ASSAY" devices --engine fake --device cpu
    expect_has out "NVIDIA"
    "$ASSAY" doctor >out 2>err || [ $? -eq 1 ] || fail "doctor: $(cat err)"
    expect_has out "nvml"
fi
