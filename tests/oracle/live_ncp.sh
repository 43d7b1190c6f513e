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
