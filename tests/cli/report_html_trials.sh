# plain-only: what the pages say; test_html and test_report_marks run under sanitizers
# The pages of several trials and of several profiles: wrong outputs are marked where they are seen, numbers carry the mark of their state, what is
# not told apart is said, the best is marked in the picture by itself, and a difference of many runs is one sentence. Fake engine only.
. "$ROOT/tests/cli/lib.sh"
model=$ROOT/tests/fixtures/models/encoder/model.onnx
check() { python3 "$ROOT/tests/page_check.py" "$@" || fail "the page is not as it must be: $*"; }
section() { sed -n "/<section id=\"$2\"/,/<\/section>/p" "$1"; }

# NaN, and numbers of another model: marked in the row and with the drift, fast or not
export ASSAY_FAKE_DEVICES='cpu;npu;gpu' ASSAY_FAKE_SCRIPTS='npu steady=50us;output=nan|gpu steady=25us;output=7'
expect_exit 0 "$ASSAY" compare "$model" --engine fake --script 'steady=100us' --launches 5 --iters 20 --no-power -q -o wrong.assay
unset ASSAY_FAKE_DEVICES ASSAY_FAKE_SCRIPTS
expect_exit 0 "$ASSAY" report wrong.assay -o wrong.html
check wrong.html --sections comparison
section wrong.html comparison >part
expect_equal "$(grep -c '<bdi>npu</bdi>.*<td>NaN or infinite</td>' part)" 2
expect_equal "$(grep -c '<bdi>gpu</bdi>.*<td>differ</td>' part)" 2
expect_has part 'class="alert">npu is not recommended: 4 '
expect_has part '>NaN or infinite</th>'
expect_has part 'data-v="4">4</td>'
expect_has part '"><i>=</i>relative L2</th>' # derived, as all of its column
expect_has part '"><i>=</i>memory</th>'      # of two readings

# points that are all alike: none hides that
expect_exit 0 "$ASSAY" sweep "$model" --engine fake --script 'steady=100us' --threads 1,2,4 --launches 5 --iters 20 -q -o alike.assay
expect_exit 0 "$ASSAY" report alike.assay -o alike.html
check alike.html --sections sweep
section alike.html sweep >part
expect_has part '<dt>tied</dt><dd>threads=2, threads=4: not distinguishable from the best'
expect_has part '<dt>tied pairs</dt><dd>threads=2 and threads=4</dd>'
section alike.html sweep-points >part
expect_has part '"><i>=</i>memory</th>'
# the best is marked by the figure itself, in every form of it
expect_exit 0 "$ASSAY" report alike.assay --svg pareto -o pareto.svg
expect_has pareto.svg 'best: threads=1'

# four samples are too few for pictures, which is said once; one is a singular
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us' --iters 4 -q -o four.assay
expect_exit 0 "$ASSAY" report four.assay -o four.html
section four.html latency >part
expect_has part '4 samples are too few for a distribution (at least 10)'
expect_not part '<figure'
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us' --iters 1 -q -o single.assay
expect_exit 0 "$ASSAY" report single.assay
expect_not out '1 samples'

# a run with --power is not told to use it; one without is
expect_exit 0 "$ASSAY" run --engine fake --script 'steady=100us;layers=conv:60us:Conv' --time 50ms --power --idle 0s -q -o p.assay
expect_exit 0 "$ASSAY" report p.assay -o p.html
section p.html placement >part
expect_not part '--power reads'

# many profiles: one sentence, a row each
for i in 1 2 3 4 5; do
    expect_exit 0 "$ASSAY" run --engine fake --script "steady=${i}00us" --launches 5 --iters 20 -q -o r$i.assay
done
expect_exit 0 "$ASSAY" report r2.assay r1.assay r3.assay r4.assay r5.assay -o many.html
check many.html --sections summary
expect_equal "$(grep -c 'class="lead' many.html)" 1
expect_has many.html '<p class="lead">Of 4 runs, 1 faster and 3 slower than r2.assay. Largest change: r5.assay, 2.5'
expect_equal "$(grep -c '<tr><th scope="row"><bdi>r[1-5].assay' many.html)" 5

# launches whose medians a neighbour hides, not their fast ends: the row and a sentence say what the ratio is of
ASSAY_FAKE_DEVICES='cpu;npu' expect_exit 0 "$ASSAY" compare "$model" --engine fake --script 'steady=100us' --launches 10 --iters 100 --no-power -q -o busy.assay
python3 - <<'PYTHON'
import sqlite3
db = sqlite3.connect("busy.assay")
for (trial,) in db.execute("SELECT id FROM trials ORDER BY id").fetchall():
    for launch in range(1, 11):
        busy = 100e3 * (1 + (launch * 7 + trial * 3) % 10 / 10)
        db.execute("UPDATE launches SET p50_ns=? WHERE trial=? AND id=?", (busy, trial, launch))
        fast = (90e-6 if trial == 1 else 80e-6) * (1 + launch / 1000)
        db.execute("UPDATE metrics SET value=?, state='measured' WHERE trial=? AND launch=? AND name='latency.p5'", (fast, trial, launch))
db.commit()
PYTHON
expect_exit 0 "$ASSAY" report busy.assay -o busy.html
check busy.html --sections comparison
section busy.html comparison >part
expect_has part ' when undisturbed</td>'
expect_has part 'When undisturbed: '
