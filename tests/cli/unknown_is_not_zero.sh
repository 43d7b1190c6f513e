# plain-only: what is printed; the unit test of this name runs under sanitizers
# On a machine that tells nothing at all, nothing is printed as 0: devices and doctor, as JSON and as text. What is counted (probes read, rows)
# may be 0; everything else that is a number must be known.
. "$ROOT/tests/cli/lib.sh"
[ "$(uname -s)" = Linux ] || skip "an empty tree stands for the machine on Linux only"
mkdir empty
export ASSAY_FSROOT=$PWD/empty
cat >zeros.py <<'PYTHON'
import json, re, sys
# how many there are, where none is an answer; what this very run measured of itself
counts = re.compile(r"(\.reads|\.(read|slowest)_us|\.schema)$")
def walk(value, path):
    if isinstance(value, dict):
        for key, item in value.items(): walk(item, f"{path}.{key}")
    elif isinstance(value, list):
        for i, item in enumerate(value): walk(item, f"{path}[{i}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        seen.append(path)
        if value in (0, -1) or abs(value) >= 2**31 and value in (2**31, 2**32 - 1, 2**63, 2**64 - 1):
            if not counts.search(path): bad.append(f"{path} is {value}")
seen, bad = [], []
if sys.argv[2] == "json":
    walk(json.load(open(sys.argv[1])), "")
else:
    text = open(sys.argv[1]).read()
    for line in text.splitlines():
        # a number that is 0, with or without a unit; not inside words, versions, paths
        for match in re.finditer(r"(?<![\w./:-])[-+]?0+(\.0+)?(?![\w.:-]*[\w:-])", line): bad.append(f"'{match.group()}' in: {line}")
        if re.search(r"\b(nan|inf)\b", line, re.I): bad.append(line)
if bad: print("\n".join(bad))
sys.exit(bool(bad))
PYTHON
for command in devices doctor; do
    expect_exit 0 "$ASSAY" $command --json
    python3 zeros.py out json || fail "$command --json: a zero for what is not known"
    python3 -c 'import json; assert len(json.load(open("out"))) > 2' || fail "$command --json says nothing"
    expect_exit 0 "$ASSAY" $command
    [ "$(wc -l <out)" -gt 5 ] || fail "$command says nothing"
    python3 zeros.py out text || fail "$command: a zero for what is not known"
done
# counters that stand still tell no share
mkdir empty/proc
printf 'cpu  1000 20 300 40000 50 6 7 80 0 0\n' >empty/proc/stat
expect_exit 0 "$ASSAY" doctor
expect_has out "steal time is unknown"
python3 zeros.py out text || fail "doctor: a zero for what is not known"
# the search finds what it is to find
printf '{"a": {"b": [1, 0]}}' >wrong
if python3 zeros.py wrong json >/dev/null; then fail "the search of JSON finds nothing"; fi
for line in 'memory 0 B' 'load 0.00' 'at 0 W, 1 of 2' 'nan W' '(0 %)'; do
    echo "$line" >wrong
    if python3 zeros.py wrong text >/dev/null; then fail "the search of text does not find: $line"; fi
done
for line in '10 B' 'gpu0 of 0000:01:00.0' 'ONNX 1.0.2' 'cuda:0 is not there' '/sys/cpu0/x'; do
    echo "$line" >right
    python3 zeros.py right text >/dev/null || fail "the search of text finds: $line"
done

# A run on that machine with everything asked for: each metric that is not available says why, and nothing that a sensor would tell is 0.
cat >metrics.py <<'PYTHON'
import json, sys
sensors = ("power.", "energy.", "memory.", "hardware.", "cache.", "efficiency.", "npu.", "gpu.", "compute.", "roofline.", "sensor.")
bad, missing = [], 0
for trial in json.load(open(sys.argv[1]))["trials"]:
    for name, metric in trial["metrics"].items():
        if metric["state"] == "unavailable":
            missing += 1
            if metric["value"] is not None or not metric["note"]: bad.append(f"{name}: {metric}")
        # counted, and none: the fake engine allocates nothing
        elif metric["value"] == 0 and name.startswith(sensors) and metric["source"] != "tracker": bad.append(f"{name}: {metric}")
    for series in trial.get("series") or []:
        if series["state"] == "unavailable" and not series["note"]: bad.append(f"series {series['name']} without a reason")
if missing < 5: bad.append(f"only {missing} metrics are unavailable: this is not the machine that was meant")
print("\n".join(bad))
sys.exit(bool(bad))
PYTHON
rm -r empty/proc
expect_exit 0 "$ASSAY" run mlp --engine fake --iters 50 --power --memory --counters -o all.assay -q
for format in json text csv markdown; do
    expect_exit 0 "$ASSAY" report all.assay --format $format
    if [ $format = json ]; then python3 metrics.py out >why || fail "run: $(cat why)"; fi
    if grep -Eiw -- '-?nan|-?inf|9,223,372,036,854,775,80[78]|18446744073709551615' out; then fail "run, $format: no number"; fi
    # what sensors would tell, with its unit
    if [ $format = text ] && grep -E '(^| )[=~]?-?0(\.0+)? (W|J|mJ|°C|Hz|MHz|GHz|GB/s|TOPS/W|FLOP/s)( |$)' out; then fail "run: a zero"; fi
done
# A captured tree holds the numbers of the process that took it: none of them is this run's.
expect_exit 0 env -u ASSAY_FSROOT "$ASSAY" doctor --capture captured
[ -e captured/proc/self/status ] || fail "no /proc/self/status was captured"
for command in "run --memory" run memory; do
    # shellcheck disable=SC2086
    expect_exit 0 env ASSAY_FSROOT="$PWD/captured" "$ASSAY" $command mlp --engine fake --iters 50 --json -q
    for name in peak.worker baseline.worker pss.worker total; do
        expect_equal "$(json_get out ".trials[0].metrics[\"memory.$name\"].value")" null
    done
    expect_has out "ASSAY_FSROOT describes"
done
expect_exit 0 env ASSAY_FSROOT="$PWD/captured" "$ASSAY" memory mlp --engine fake --iters 50 -q
grep -E 'takes 0 B|=0 B beyond|^  total +=' out && fail "memory: a zero for what is not known"
for command in power memory counters; do
    expect_exit 0 "$ASSAY" $command mlp --engine fake --iters 50 --json -q
    python3 metrics.py out >why || fail "$command: $(cat why)"
done
