# live_ncp.sh - cfc and ltc against PyTorch's ncps, now: hundreds of wirings, every mode, wiring, form and backbone at
# two sizes and batches, and the fixtures as they are written today.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
export ASSAY_TEST_TIMEOUT_S=900

"$python" "$ROOT/tests/oracle/ncp_wirings.py" wirings.txt --many
ASSAY_TEST_WIRINGS=$PWD/wirings.txt "$BUILD/tests/unit/test_wiring" oracle

mkdir many fixtures
"$python" "$ROOT/tests/oracle/ncp_outputs.py" many --many
ASSAY_TEST_NCP=$PWD/many "$BUILD/tests/unit/test_ncp" cfc_unrolled cfc_scan cfc_steps ltc_unrolled ltc_scan ltc_steps

"$python" "$ROOT/tests/oracle/ncp_wirings.py" fixtures/wirings.txt
"$python" "$ROOT/tests/oracle/ncp_facts.py" fixtures/facts.txt
"$python" "$ROOT/tests/oracle/ncp_outputs.py" fixtures
for name in wirings.txt facts.txt cases.txt; do
    cmp "fixtures/$name" "$ROOT/tests/fixtures/ncp/$name" || fail "$name is not what the oracle says now"
done

# the recipe of doc/ncp.md, as printed: what PyTorch computes is what the model made of its weights computes
sed -n '/^    from ncps.torch import/,/^    # assay make/ s/^    //p' "$ROOT/doc/ncp.md" >recipe.py
cat >>recipe.py <<'PYTHON'
import numpy, subprocess, torch
import onnxruntime
command = [line[2:] for line in open("recipe.py") if line.startswith("# assay make")][0].split()
subprocess.run([__import__("os").environ["ASSAY"]] + command[1:], check=True, stdout=subprocess.DEVNULL)
x, h = torch.randn(1, 1, 32), torch.zeros(1, 64)
with torch.no_grad():
    y, _ = model(x, h)
made = onnxruntime.InferenceSession("policy.onnx").run(None, {"input": x[:, 0].numpy(), "h0": h.numpy()})[0]
assert numpy.abs(made - y[:, 0].numpy()).max() < 1e-5
PYTHON
ASSAY=$ASSAY "$python" recipe.py || fail "the recipe of doc/ncp.md"
