# Data that cannot be written is an error with a line, never a silent success.
. "$ROOT/tests/cli/lib.sh"
status=0
"$ASSAY" help >&- 2>err || status=$?
expect_equal $status 3
expect_has err "standard output"
status=0
{ sleep 0.3; "$ASSAY" help run 2>err || status=$?; echo $status >status; } | true
expect_equal "$(cat status)" 3
expect_lines err 0 # a reader that left, as head does, is told by the status alone
if [ -e /dev/full ]; then
    status=0
    "$ASSAY" devices --json >/dev/full 2>err || status=$?
    expect_equal $status 3
    expect_has err "standard output"
fi
