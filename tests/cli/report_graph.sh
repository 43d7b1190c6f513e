# report_graph.sh - the network as a graph: the edges that a run keeps, in the profile, in JSON, for `assay query`; the figure as SVG and text;
# the tab of a page with its data; and a profile without edges, which has no tab and says why.
. "$ROOT/tests/cli/lib.sh"

script='steady=1ms;layers=/layers.0/Gemm:300us:Gemm,/layers.0/Relu:10us:Relu,/layers.1/Gemm:200us:Gemm,/layers.1/Relu:10us:Relu,/layers.2/Gemm:200us:Gemm,/layers.2/Relu:10us:Relu,/head/Gemm:100us:Gemm;engine=50us'
expect_exit 0 "$ASSAY" make -o mlp.onnx mlp
expect_exit 0 "$ASSAY" run mlp.onnx --engine fake --script "$script" --iters 50 --layers -q -o run.assay

expect_exit 0 "$ASSAY" query run.assay "SELECT producer, consumer, tensor, bytes FROM edges ORDER BY position" --format json
python3 - out <<'PYTHON' || fail "edges"
import json, sys
rows = json.load(open(sys.argv[1]))
rows = rows.get("rows", rows) if isinstance(rows, dict) else rows
edges = [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows]
assert [edge[:2] for edge in edges] == [(None, 0), (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, None)], edges
assert all(edge[2] and edge[3] > 0 for edge in edges), edges
PYTHON
expect_exit 0 "$ASSAY" report run.assay --format json
python3 - out <<'PYTHON' || fail "JSON"
import json, sys
trial = json.load(open(sys.argv[1]))["trials"][0]
assert len(trial["edges"]) == 8, trial["edges"]
assert trial["edges"][0]["producer"] is None and trial["edges"][0]["consumer"] == 0
assert set(trial["edges"][1]) == {"producer", "consumer", "tensor", "bytes"}
PYTHON

expect_exit 0 "$ASSAY" report run.assay --svg graph -o graph.svg
python3 - graph.svg <<'PYTHON' || fail "SVG"
import sys, xml.etree.ElementTree as tree
text = [element.text for element in tree.parse(sys.argv[1]).getroot().iter() if element.tag.endswith("}text")]
for word in ("layers.0", "layers.1", "layers.2", "head"):
    assert any(word in (line or "") for line in text), (word, text)
PYTHON
expect_exit 0 "$ASSAY" report run.assay --chart graph --columns 40 --ascii
expect_has out "layers.1"
! grep -nE '.{41}' out || fail "wider than 40 columns"

expect_exit 0 "$ASSAY" report run.assay -o page.html
expect_has page.html 'id="assay-graph"'
expect_has page.html 'class="picture graph"'
expect_has page.html 'data-b='
python3 - page.html <<'PYTHON' || fail "page"
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
tabs = re.search(r'<nav class="tabs".*?</nav>', page, re.S).group(0)
assert "Graph" in tabs, tabs
PYTHON

cp run.assay old.assay
python3 - <<'PYTHON'
import sqlite3
db = sqlite3.connect("old.assay")
db.execute("DROP TABLE edges")
db.commit()
PYTHON
expect_exit 0 "$ASSAY" report old.assay -o old.html
! grep -q 'id="assay-graph"' old.html || fail "a graph of a profile without edges"
expect_has old.html 'graph of the network'
! grep -q 'damaged' old.html || fail "a profile without edges is not damaged"
expect_exit 1 "$ASSAY" report old.assay --svg graph
expect_has err 'which layer reads'
