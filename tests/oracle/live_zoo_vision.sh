# live_zoo_vision.sh - the zoo's image models against torchvision's of the same weights.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
[ -x "$python" ] || skip "no .cache/oracle: scripts/setup oracle makes it"
"$python" "$ROOT/tests/oracle/zoo_vision.py" "$ASSAY"
