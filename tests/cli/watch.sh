# plain-only: real seconds of sampling; the monitor's parts run under sanitizers as unit tests
# assay watch: lines of text and of JSON, a process with its children whose shares and "other" add up, the machine of a captured tree
# whose energy counter moves, stops and disappears, Ctrl-C, wrong usage.
. "$ROOT/tests/cli/lib.sh"

# --- usage ----------------------------------------------------------------------------------------------
expect_error 2 '--interval' "$ASSAY" watch --interval 50ms
expect_error 2 '--interval' "$ASSAY" watch --interval 11s
expect_error 2 '--count' "$ASSAY" watch --count 0
expect_error 2 '--plain and --json' "$ASSAY" watch --plain --json
expect_error 3 'no process' "$ASSAY" watch --pid 4194000 --count 1

# --- JSON -----------------------------------------------------------------------------------------------
expect_exit 0 "$ASSAY" watch --json --interval 100ms --count 5
expect_lines out 6
python3 - <<'PYTHON' || fail "the lines are not what they should be"
import json, math
lines = [json.loads(line) for line in open("out", encoding="utf-8")]
states = {"measured", "derived", "estimated", "published", "unavailable"}
for line in lines[:-1]:
    assert set(line) >= {"time", "interval_s", "metrics", "devices", "processes", "alerts", "overhead"}, set(line)
    assert line["interval_s"] > 0
    for name, metric in line["metrics"].items():
        assert metric["state"] in states, (name, metric)
        assert (metric["value"] is None) == (metric["state"] == "unavailable"), (name, metric)
        assert metric["value"] is not None or metric["note"], (name, metric)
        if metric["unit"] == "ratio" and metric["value"] is not None:
            assert 0 <= metric["value"] <= 1, (name, metric)
        if metric["unit"] == "ratio":
            assert metric.get("kind"), (name, "a share that does not say of what")
    for device in line["devices"]:
        assert all(name in line["metrics"] for name in device["metrics"])
    assert line["metrics"]["memory.system.used"]["value"] > 0
cpu = [line["metrics"]["utilization.active.cpu"]["value"] for line in lines[:-1]]
assert all(value is not None for value in cpu), cpu
summary = lines[-1]["summary"]
assert summary["readings"] >= 5
row = summary["metrics"]["utilization.active.cpu"]
assert row["min"] <= row["mean"] <= row["max"] and row["min"] <= min(cpu) + 1e-9 and row["max"] >= max(cpu) - 1e-9, (row, cpu)
PYTHON
expect_exit 0 "$ASSAY" watch --json --interval 100ms --duration 500ms -q
[ "$(wc -l <out)" -ge 1 ] && [ "$(wc -l <out)" -le 6 ] || fail "$(wc -l <out) lines in 0.5 s"
expect_not out summary

# --- text -----------------------------------------------------------------------------------------------
expect_exit 0 "$ASSAY" watch --interval 100ms --count 2
[ "$(grep -c '^20..-.*utilization\.active\.cpu .*%.*of a core$' out)" -eq 2 ] || fail "not two lines: $(cat out)"
expect_has out 'memory.system.used '
expect_has out "assay's own cost"

# --- a process and its children: what they use and "other" add up to the total ---------------------------------
cat >busy.sh <<'SCRIPT'
bash -c 'while :; do :; done' busy-child &
echo $! >child
wait
SCRIPT
bash busy.sh &
parent=$!
while [ ! -s child ]; do sleep 0.02; done
expect_exit 0 "$ASSAY" watch --json --pid $parent --interval 500ms --count 4 -q
python3 - "$parent" "$(cat child)" <<'PYTHON' || fail "the processes do not add up"
import json, sys
parent, child = map(int, sys.argv[1:])
lines = [json.loads(line) for line in open("out", encoding="utf-8")]
used = 0
for line in lines:
    rows = line["processes"]
    assert [row["pid"] for row in rows[:2]] == [parent, child], rows
    assert rows[1]["parent"] == parent and rows[1]["depth"] == 1 and rows[0]["depth"] == 0
    assert [row["name"] for row in rows[-2:]] == ["other", "total"]
    shares = [row["cpu"]["value"] for row in rows]
    assert all(share is not None and share >= 0 for share in shares), shares
    assert abs(sum(shares[:-1]) - shares[-1]) < 1e-9, shares
    assert rows[1]["memory"]["value"] > 100000
    used += shares[1]
assert used > 0, "a busy loop used no CPU"
PYTHON
# it exits while it is watched: the command ends
(sleep 1; kill $parent "$(cat child)") &
expect_exit 0 timeout 30 "$ASSAY" watch --pid $parent --interval 200ms
expect_has out 'have ended'

# --- the machine of a captured tree: 40 W, then it stands still, then it is gone ---------------------------------
cp -r "$ROOT/tests/fixtures/fsroot-intel-laptop" root
chmod -R u+w root
energy=root/sys/class/powercap/intel-rapl:0/energy_uj
cat >feed.py <<'PYTHON'
import os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY)
begin = time.monotonic()
while time.monotonic() - begin < 20 and not os.path.exists("stop"):
    now = time.monotonic() - begin
    if now < 2.5:
        os.pwrite(file, b"%d\n" % (100_000_000_000 + int(now * 40e6)), 0)
    elif now > 6:
        os.ftruncate(file, 0)
    time.sleep(0.002)
PYTHON
python3 feed.py $energy &
feeder=$!
expect_exit 0 env ASSAY_FSROOT="$PWD/root" "$ASSAY" watch --json --interval 250ms --duration 7500ms
touch stop
wait $feeder
python3 - <<'PYTHON' || fail "the energy counter was misread: $(cut -c1-4000 out | head -n 3)"
import json
lines = [json.loads(line) for line in open("out", encoding="utf-8")]
power = [line["metrics"]["power.package"] for line in lines[:-1]]
values = [p["value"] for p in power]
assert all(value is None or value < 120 for value in values), values
# the interval in which it stopped has less power; that value holds for two more readings at most
assert sum(value is not None and value <= 8 for value in values) <= 4, values
assert sum(p["value"] is not None for p in power[:12]) >= 3, [p["value"] for p in power]
assert any("stands still" in p["note"] for p in power), [p["note"] for p in power]
assert power[-1]["value"] is None and "empty" in power[-1]["note"], power[-1]
assert all(p["state"] == "derived" for p in power if p["value"] is not None)
assert lines[-1]["summary"]["metrics"]["power.package"]["energy_j"] > 10
PYTHON

expect_error 2 '--require' "$ASSAY" watch --require m1
# --- requirements: a floor that no machine reaches, a limit that every one keeps, what cannot be judged
printf 'throughput 1e9\np50 30s\ntflops 1\n' >table.txt
expect_exit 0 "$ASSAY" watch --engine fake --script 'clock=real;steady=2ms' --interval 500ms --count 4 --json -q --require table.txt
python3 - <<'PYTHON' || fail "requirements: $(cut -c1-600 out | tail -n 1)"
import json
last = [json.loads(line) for line in open("out", encoding="utf-8")][-1]
rows = {row["key"]: row for row in last["requirements"]}
assert set(rows) == {"throughput", "p50", "tflops"}, rows
assert rows["throughput"]["state"] == "fail" and rows["throughput"]["value"] == last["metrics"]["throughput.inferences"]["value"], rows
assert rows["p50"]["state"] == "pass" and rows["p50"]["minimum"] == 30, rows
assert rows["tflops"]["state"] == "unavailable" and rows["tflops"]["reason"] and rows["tflops"]["value"] is None, rows
PYTHON
expect_exit 0 "$ASSAY" watch --engine fake --script 'clock=real;steady=2ms' --interval 500ms --count 3 -q --require table.txt
expect_has out 'not met: throughput '
expect_not out 'latency p50'

# --- a model: its numbers in every line; one that crashes is started again; one that cannot run ends the command -------
expect_exit 0 "$ASSAY" watch --engine fake --script 'clock=real;steady=2ms' --interval 400ms --count 5 --json -q -o model.assay
python3 - <<'PYTHON' || fail "the model's numbers are wrong: $(cut -c1-2000 out | tail -n 1)"
import json
lines = [json.loads(line) for line in open("out", encoding="utf-8")]
model, last = lines[-1]["model"], lines[-1]["metrics"]
assert model["state"] == "running" and model["restarts"] == 0, model
assert 0.0018 < last["latency.p50"]["value"] < 0.2, last
assert last["latency.p99"]["value"] is None and last["latency.p99"]["note"], last # 662 inferences are needed
assert 0 < last["throughput.inferences"]["value"] < 520, last
assert model["inferences"] > 20, model
energy = last["energy.inference.gross"]
assert (energy["value"] is None) == (energy["state"] == "unavailable"), energy
PYTHON
expect_exit 0 "$ASSAY" report model.assay
expect_has out 'utilization.active.cpu'
expect_has out 'latency.p50'
count=$("$ASSAY" query model.assay "SELECT count(*) FROM series WHERE trial = 1 AND name = 'latency.p50' AND value > 0.0018" --csv | tail -n 1)
[ "$count" -ge 2 ] || fail "the record has $count latencies"
in_background "$ASSAY" watch --engine fake --script 'clock=real;steady=2ms;crash_at=400' --interval 200ms --json -q
for _ in $(seq 600); do grep -q '"state":"running","reason":null,"inferences":[0-9]*,"restarts":1' out && break; sleep 0.1; done
expect_stop INT 0
grep -q '"state":"stopped","reason":"[^"]*SIGSEGV' out || fail "no line says that the model crashed: $(tail -n 1 out | cut -c1-300)"
grep -q '"state":"running","reason":null,"inferences":[0-9]*,"restarts":1' out || fail "a model that crashes is not started again"
expect_exit 3 timeout 30 "$ASSAY" watch --engine fake --script 'open_error=no such thing' --interval 200ms
expect_has err 'no such thing'
expect_exit 3 timeout 30 "$ASSAY" watch no-such-model.onnx --interval 200ms

# --- Ctrl-C ends with the summary; without a limit that is the usual end -------------------------------------------
in_background "$ASSAY" watch --interval 100ms
for _ in $(seq 200); do [ "$(wc -l <out)" -ge 2 ] && break; sleep 0.05; done
expect_stop INT 0
expect_has out "assay's own cost"
in_background "$ASSAY" watch --interval 100ms --count 100000 --json
for _ in $(seq 200); do [ "$(wc -l <out)" -ge 2 ] && break; sleep 0.05; done
expect_stop TERM 130
tail -n 1 out | grep -q '"summary"' || fail "no summary after SIGTERM"

# --- a reader that has seen enough ------------------------------------------------------------------------------
timeout 20 "$ASSAY" watch --interval 100ms 2>err | head -n 1 >first
expect_lines first 1
expect_lines err 0
