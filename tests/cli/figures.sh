# figures.sh - assay report --svg and --chart: every figure that a profile has is well-formed and small, one that it does not have is one
# line and status 1.
. "$ROOT/tests/cli/lib.sh"

script='first=9ms;warmup=5x2ms;steady=1ms;noise=50us;layers=/a.0.conv/Conv:600us:Conv,/a.0.relu/Relu:100us:Relu,/b.0.conv/Conv:200us:Conv;engine=50us'
model=$ROOT/tests/fixtures/models/cfc/model.onnx
expect_exit 0 "$ASSAY" run "$model" --engine fake --script "$script" --iters 500 --layers -o run.assay
expect_exit 0 "$ASSAY" sweep "$model" --engine fake --script "$script" --threads 1,2 --iters 50 --launches 2 -o sweep.assay

check_svg() { # check_svg FILE: XML that python reads, a picture with a name and a description, nothing that runs or is fetched
    python3 - "$1" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
svg = "{http://www.w3.org/2000/svg}"
assert root.tag == svg + "svg", root.tag
assert root.find(svg + "title").text, "no title"
images = [e for e in root.iter() if e.get("role") == "img"]
assert images and all(e.find(svg + "desc").text for e in images), "no description"
for element in root.iter():
    assert element.tag not in (svg + "script", svg + "image", svg + "use", svg + "foreignObject"), element.tag
    for name, value in element.attrib.items():
        assert not name.startswith("on") and "url(" not in value and "nan" not in value, (name, value)
PYTHON
    [ "$(wc -c <"$1")" -lt 60000 ] || fail "$1 is larger than 60 kB"
}

for figure in strip card layers treemap latency samples; do
    expect_exit 0 "$ASSAY" report run.assay --svg $figure -o $figure.svg
    expect_lines out 0
    check_svg $figure.svg
    expect_exit 0 "$ASSAY" report run.assay --svg $figure # stdout without -o: the same bytes
    cmp out $figure.svg || fail "$figure differs on stdout"
    expect_exit 0 "$ASSAY" report run.assay --chart $figure --columns 40 --ascii
    ! grep -nE '.{41}' out || fail "$figure is wider than 40 columns"
    ! LC_ALL=C grep -n '[^ -~]' out || fail "$figure is not ASCII"
done
for figure in card sweep pareto; do
    expect_exit 0 "$ASSAY" report sweep.assay --svg $figure -o $figure.svg
    check_svg $figure.svg
    expect_exit 0 "$ASSAY" report sweep.assay --chart $figure
done
# a sweep of two axes by colour; runs side by side
expect_exit 0 "$ASSAY" sweep mlp --engine fake --script "$script" --threads 1,2 --batch 1,2,4 --iters 20 --launches 2 -q -o two.assay
expect_exit 0 "$ASSAY" report two.assay --svg heat -o heat.svg
check_svg heat.svg
expect_has heat.svg "batch"
expect_exit 0 "$ASSAY" report two.assay --chart heat --columns 40 --ascii
expect_error 1 "no figure 'heat': the sweep does not have two axes" "$ASSAY" report sweep.assay --svg heat
expect_exit 0 "$ASSAY" run "$model" --engine fake --script "${script/600us/400us}" --iters 500 --layers -q -o other.assay
for figure in waterfall strips spread; do
    expect_exit 0 "$ASSAY" report run.assay other.assay --svg $figure -o $figure.svg
    check_svg $figure.svg
    expect_exit 0 "$ASSAY" report run.assay other.assay --chart $figure --columns 40 --ascii
    ! grep -nE '.{41}' out || fail "$figure is wider than 40 columns"
    ! LC_ALL=C grep -n '[^ -~]' out || fail "$figure is not ASCII"
    expect_error 1 "no figure '$figure': this profile is not from a comparison" "$ASSAY" report run.assay --svg $figure
done
# the same of the trials of a comparison
expect_exit 0 "$ASSAY" compare "$model" "$model" --engine fake --script "$script" --iters 20 --launches 5 --layers -q -o compare.assay
expect_exit 0 "$ASSAY" report compare.assay --svg spread -o spread.svg
check_svg spread.svg
expect_exit 0 "$ASSAY" report compare.assay --svg strips -o strips.svg
check_svg strips.svg
expect_has layers.svg "engine per run"
expect_has layers.svg "/a.0.conv/Conv"
expect_has sweep.svg "against threads"

# what the profile does not have
expect_error 1 "no figure 'power': no sensor was read" "$ASSAY" report run.assay --svg power
expect_error 1 "no figure 'roofline':" "$ASSAY" report run.assay --svg roofline -o no.svg
[ ! -e no.svg ] || fail "a figure that is not there left a file"
expect_error 1 "no figure 'sweep': this profile is not from a sweep" "$ASSAY" report run.assay --chart sweep
expect_error 1 "no figure 'compare': " "$ASSAY" report run.assay --svg compare

# what cannot be asked
expect_error 2 "--svg" "$ASSAY" report run.assay --svg nonsense
expect_error 2 "cannot be used together" "$ASSAY" report run.assay --svg layers --chart layers
expect_error 2 "one figure" "$ASSAY" report run.assay --svg layers --json
expect_error 2 "one profile" "$ASSAY" report run.assay sweep.assay --svg layers
expect_error 3 "missing/x.svg" "$ASSAY" report run.assay --svg layers -o missing/x.svg
expect_error 2 "does not replace it" "$ASSAY" report run.assay --svg layers -o run.assay
