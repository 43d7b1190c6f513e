# plain-only: real seconds of sampling; its parts run under sanitizers as unit tests
# assay power: the page and its numbers on the files of another machine, whose energy counter is moved meanwhile; sensors that fail in
# mid-run; Ctrl-C while the idle machine is watched; a machine that tells nothing.
. "$ROOT/tests/cli/lib.sh"
script='clock=real;steady=2ms'
energy=sys/class/powercap/intel-rapl:0/energy_uj

fresh() { # a copy of the laptop's files
    rm -rf root
    cp -r "$ROOT/tests/fixtures/fsroot-intel-laptop" root
    chmod -R u+w root
}

# feed.py: moves the package's counter at 40 W, until `stop` is there; after so many s it writes the word instead ("keep": nothing) and
# ends.
cat >feed.py <<'PYTHON'
import os, sys, time
path, after, word = sys.argv[1], float(sys.argv[2]), sys.argv[3]
begin = time.monotonic()
file = os.open(path, os.O_WRONLY)
while not os.path.exists("stop"):
    now = time.monotonic() - begin
    if now > min(after, 60):
        if word == "keep":
            break
        os.ftruncate(file, 0)
        os.pwrite(file, (word + "\n").encode(), 0)
        break
    os.pwrite(file, b"%d\n" % (100_000_000_000 + int(now * 40e6)), 0)
    time.sleep(0.002)
PYTHON

# 40 W, with much room for a machine on which the feeder has to wait; what belongs together fits exactly.
fresh
rm -f stop
python3 feed.py root/$energy 60 - &
feeder=$!
expect_exit 0 env ASSAY_FSROOT="$PWD/root" "$ASSAY" power --engine fake --script "$script" --duration 800ms \
    --idle 300ms --interval 20ms -q --json -o p.assay
touch stop
wait $feeder
python3 - <<'PYTHON' || fail "the numbers do not fit"
import json
with open("out", encoding="utf-8") as file:
    trial = json.load(file)["trials"][0]
value = {name: m["value"] for name, m in trial["metrics"].items()}
state = {name: m["state"] for name, m in trial["metrics"].items()}
assert 8 < value["power.average.package"] < 120, value["power.average.package"]
assert value["power.average"] == value["power.average.package"]
assert trial["metrics"]["power.average"]["note"].startswith("package;")
assert state["energy.total.package"] == "measured" and state["power.average.package"] == "derived"
joules, gross = value["energy.total.package"], value["energy.inference.gross"]
done = joules / gross
assert abs(done - round(done)) < 1e-6 and round(done) > 10, done
assert abs(value["efficiency.inferences_per_joule"] * gross - 1) < 1e-9
seconds = joules / value["power.average.package"]
net = (joules - value["power.idle.package"] * seconds) / done
assert abs(net - value["energy.inference.net"]) < 1e-9 + 1e-9 * abs(net)
assert value["power.average.psys"] is None and "did not move" in trial["metrics"]["power.average.psys"]["note"]
assert state["hardware.temperature"] == "measured" and value["hardware.temperature"] > 0
assert 0 < value["overhead.sensors"] < 1
assert value["score.efficiency"] is None
PYTHON
expect_exit 0 "$ASSAY" report p.assay --columns 80
expect_has out "Power over time"
expect_has out "power.package from "
expect_has out "Inferences per joule over time"
expect_has out "iii"
expect_has out "mmm"
awk 'length($0) > 400 { exit 1 }' out || fail "a line is too long"
expect_exit 0 "$ASSAY" report p.assay --columns 80 --ascii
LC_ALL=C awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' out || fail "a line is wider than the page"
if LC_ALL=C grep -q '[^ -~]' out; then fail "not only ASCII"; fi

# Text in the counter's place, in mid-run: that rail has a reason, the run ends well.
fresh
rm -f stop
python3 feed.py root/$energy 0.3 gone &
feeder=$!
expect_exit 0 env ASSAY_FSROOT="$PWD/root" "$ASSAY" power --engine fake --script "$script" --duration 600ms --idle 0s -q --json
wait $feeder
expect_equal "$(json_get out '.trials[0].state')" ok
expect_equal "$(json_get out '.trials[0].metrics["power.average.package"].value')" null
json_get out '.trials[0].metrics["power.average.package"].note' >note
expect_has note "text instead of a number"
expect_equal "$(json_get out '.trials[0].metrics["energy.inference.net"].value')" null

# A counter that stops in mid-run: what it grew before is no answer for the whole. The machine's battery is the last resort, and said.
fresh
rm -f stop
python3 feed.py root/$energy 1.4 keep &
feeder=$!
expect_exit 0 env ASSAY_FSROOT="$PWD/root" "$ASSAY" power --engine fake --script "$script" --duration 1500ms --idle 0s \
    --interval 20ms -q --json -o still.assay
wait $feeder
expect_equal "$(json_get out '.trials[0].metrics["power.average.package"].value')" null
json_get out '.trials[0].metrics["power.average.package"].note' >note
grep -qE 'the counter (did not change for|did not move in)' note || fail "a counter that stopped: $(cat note)"
json_get out '.trials[0].metrics["power.average"].note' >note
expect_has note "of the whole machine, because nothing measures the processor alone (package: the counter"
expect_exit 0 "$ASSAY" report still.assay --columns 200
expect_has out "(package: the counter"
expect_has out "— /proc/stat "
if grep -E '=0\.00 CPUs busy|=0\.0 % of the time' out; then fail "0 for unknown"; fi

# A file of powermetrics of another day is no reading of now.
mkdir -p nothing/proc nothing/sys
cp "$ROOT/tests/fixtures/powermetrics/two.plist" old.plist
touch -t 202001010000 old.plist
expect_exit 0 env ASSAY_FSROOT="$PWD/nothing" ASSAY_POWERMETRICS="$PWD/old.plist" "$ASSAY" power --engine fake \
    --script "$script" --iters 50 --idle 60s -q --json
expect_equal "$(json_get out '.trials[0].metrics["power.average"].value')" null
json_get out '.trials[0].metrics["power.average"].note' >note
expect_has note "its samples are not current"

# A file that may not be read (root reads everything).
if [ "$(id -u)" -ne 0 ]; then
    fresh
    chmod 000 root/$energy
    expect_exit 0 env ASSAY_FSROOT="$PWD/root" "$ASSAY" power --engine fake --script "$script" --iters 50 --idle 0s -q
    expect_has out "sudo chmod a+r /sys/class/powercap"
fi

# Ctrl-C while the idle machine is watched.
fresh
cat >interrupt.py <<'PYTHON'
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
with open("out", "wb") as out, open("err", "wb") as err:
    child = subprocess.Popen(sys.argv[1:], stdout=out, stderr=err)
    time.sleep(0.8)
    child.send_signal(signal.SIGINT)
    print(child.wait(timeout=20))
PYTHON
expect_equal "$(ASSAY_FSROOT="$PWD/root" python3 interrupt.py "$ASSAY" power --engine fake --script "$script" --idle 60s)" 130
expect_has err "interrupted before anything was measured"

# A machine that tells nothing: no idle time is spent, every metric has its reason, and the page says what there is.
mkdir -p nothing/proc nothing/sys
begin=$(date +%s)
expect_exit 0 env ASSAY_FSROOT="$PWD/nothing" "$ASSAY" power --engine fake --script "$script" --iters 50 --idle 60s
[ $(($(date +%s) - begin)) -lt 50 ] || fail "the idle machine was watched for nothing"
expect_has out "The energy per inference is unknown: "
expect_has out "nothing here reports power or energy"
expect_has out "modprobe"
if grep -E '(^|[^0-9.])0(\.0+)? (m?W|m?J|°C|.?Hz)( |$)' out; then fail "0 for unknown"; fi

# A counter whose reading takes 3 ms: it is read every 2 s or more and at the edges, however short the interval; that is said.
expect_exit 0 env ASSAY_NVML_LIBRARY="$BUILD/tests/lib/lib_fake_nvml.so" FAKE_NVML=dear "$ASSAY" power --engine fake \
    --script "$script" --duration 1s --idle 200ms --interval 20ms -q --json
python3 - <<'PYTHON' || fail "an expensive counter"
import json
with open("out", encoding="utf-8") as file:
    trial = json.load(file)["trials"][0]
metrics, series = trial["metrics"], {s["name"]: s for s in trial["series"]}
assert 150 < metrics["power.average.gpu0"]["value"] < 250, metrics["power.average.gpu0"]
assert "energy of gpu0 every " in metrics["overhead.sensors"]["note"], metrics["overhead.sensors"]
assert 3 <= series["energy.gpu0"]["count"] <= 12, series["energy.gpu0"]["count"]
assert series["energy.gpu0"]["probe"] == "nvml-energy" and "read every " in series["energy.gpu0"]["note"], series["energy.gpu0"]["note"]
assert series["power.gpu0"]["state"] == "measured" and series["power.gpu0"]["count"] > 12, series["power.gpu0"]["count"]
assert "memory.gpu0.used" not in series and "state.gpu0.pcie-width" not in series and "state.gpu0.slow.idle" in series
PYTHON

# Options.
expect_error 2 "--duration and --time cannot be used together" "$ASSAY" power --engine fake --script "$script" --duration 1s --time 1s
expect_error 2 "--duration and --iters cannot be used together" "$ASSAY" power --engine fake --script "$script" --duration 1s --iters 5
expect_error 2 "interval" "$ASSAY" power --engine fake --script "$script" --interval 10us
expect_error 2 "MODEL is missing" "$ASSAY" power
# run --power shows it too
expect_exit 0 env ASSAY_FSROOT="$PWD/root" "$ASSAY" run --power --engine fake --script "$script" --iters 50 --idle 0s -q
expect_has out "Power  in the measured windows"
expect_has out "  latency "
