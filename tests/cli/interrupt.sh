# Ctrl-C: status 130, the partial profile is kept and marked, and no worker is left behind; kill -9: incomplete.
. "$ROOT/tests/cli/lib.sh"
script='steady=100us;pace=2ms'
cat >interrupt.py <<'PYTHON'
import os, signal, subprocess, sys, time
assay, profile, which = sys.argv[1:4]
signal.signal(signal.SIGINT, signal.SIG_DFL)
with open("out", "wb") as out, open("err", "wb") as err:
    child = subprocess.Popen([assay, "run", "--engine", "fake", "--script", sys.argv[4], "--iters", "1000000",
                              "--warmup", "5", "-o", profile], stdout=out, stderr=err)
    limit = time.time() + 60
    while not os.path.exists(profile) and time.time() < limit:
        time.sleep(0.05)
    time.sleep(1.0)
    child.send_signal(getattr(signal, which))
    print(child.wait(timeout=60))
PYTHON
for which in SIGINT SIGTERM; do
    expect_equal "$(python3 interrupt.py "$ASSAY" p.assay $which "$script")" 130
    expect_has err "interrupted; what was measured is kept in p.assay"
    expect_has out "INTERRUPTED"
    expect_exit 0 "$ASSAY" report p.assay --json
    expect_equal "$(json_get out .interrupted)" true
    python3 "$ROOT/tests/schema_check.py" run out || fail "the partial profile is not of the promised shape"
    rm p.assay
done
expect_equal "$(python3 interrupt.py "$ASSAY" k.assay SIGKILL "$script")" -9
expect_exit 0 "$ASSAY" report k.assay
expect_has out "INCOMPLETE"
expect_exit 0 "$ASSAY" report k.assay --json
expect_equal "$(json_get out .complete)" false
