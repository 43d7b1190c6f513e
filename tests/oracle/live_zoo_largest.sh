# live_zoo_largest.sh - the gigabytes of the zoo through onnx.checker and ONNX Runtime: needs 16 GB of memory and 15 GB of
# disk in $TMPDIR.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
"$python" -c 'import os, sys; sys.exit(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") < 16e9)' ||
    skip "less than 16 GB of memory"
"$python" "$ROOT/tests/oracle/zoo_check.py" "$ASSAY" gpt2:size=1.5b,phase=decode,past=8,batch=1 \
    gpt2:size=774m,phase=prefill,batch=1,seq=8
