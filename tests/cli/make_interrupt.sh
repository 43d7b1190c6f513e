# plain-only: it writes until it is interrupted; the same under sanitizers is unit/test_rewrite_limits
# Ctrl-C while a large model is written: status 130 soon, and nothing is left of it.
. "$ROOT/tests/cli/lib.sh"
cat >interrupt.py <<'PYTHON'
import glob, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
child = subprocess.Popen([sys.argv[1], "make", "gpt2:size=1.5b", "-o", "large.onnx"], stdout=open("out", "wb"),
                         stderr=open("err", "wb"))
limit = time.time() + 60
while not glob.glob("large.onnx*tmp") and time.time() < limit:
    time.sleep(0.001)
child.send_signal(signal.SIGINT)
print(child.wait(timeout=60))
PYTHON
expect_equal "$(python3 interrupt.py "$ASSAY")" 130
expect_lines out 0
expect_lines err 1
expect_has err "interrupted; nothing was written"
for file in large*; do
    [ ! -e "$file" ] || fail "$file was left behind"
done
