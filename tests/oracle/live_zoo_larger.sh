# live_zoo_larger.sh - some gigabytes of the zoo through onnx.checker and ONNX Runtime: needs 16 GB of memory and 10 GB of
# disk in $TMPDIR. llama 1b and more are only inspected.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
"$python" -c 'import os, sys; sys.exit(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") < 16e9)' ||
    skip "less than 16 GB of memory"
"$python" "$ROOT/tests/oracle/zoo_check.py" "$ASSAY" gpt2:size=355m,phase=prefill,batch=1,seq=16 \
    llama:size=1.1b,phase=prefill,batch=1,seq=8 bert:size=large,batch=1,seq=8 vit:size=large,batch=1
