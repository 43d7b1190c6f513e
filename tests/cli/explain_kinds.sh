# The diagnosis of timelines of every kind, made with different magnitudes, counts, names and streams (tests/oracle/
# make_timelines.py): all must be right. File names are numbers.
. "$ROOT/tests/cli/lib.sh"
each=12
[ "${SANITIZED:-no}" = no ] || each=3
python3 "$ROOT/tests/oracle/make_timelines.py" made 7 $each
python3 - "$ASSAY" <<'END'
import json, subprocess, sys
wrong = 0
truth = json.load(open("made/truth.json"))
for name, known in truth.items():
    made = json.loads(subprocess.run([sys.argv[1], "explain", "made/" + name, "--json"], check=True, capture_output=True).stdout)
    for device in made["devices"]:
        assert sum(row["ns"] for row in device["idle"]) + device["busy_ns"] == device["span_ns"], name
    assert len(made["diagnosis"]["verdict"].split()) <= 20, made["diagnosis"]["verdict"]
    if made["diagnosis"]["id"] not in known["accepted"]:
        wrong += 1
        print("%s (%s): %s" % (name, known["kind"], made["diagnosis"]), file=sys.stderr)
assert len(truth) >= 30 and not wrong, "%d of %d are wrong" % (wrong, len(truth))
END
