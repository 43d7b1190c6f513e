# devices and doctor answer without a library or a worker, as text and JSON, and say what is missing.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ASSAY" devices --json
python3 "$ROOT/tests/schema_check.py" devices out || fail "devices --json"
expect_not out '"fake"'
expect_exit 0 "$ASSAY" devices --engine fake --json
expect_equal "$(json_get out '.devices[0].engine')" fake
expect_equal "$(json_get out '.devices[0].available')" true
expect_exit 0 "$ASSAY" devices
expect_has out "usable"
expect_exit 2 "$ASSAY" devices --engine nothing
ASSAY_ORT_LIBRARY=/nonexistent/libonnxruntime.so expect_exit 0 "$ASSAY" devices
expect_has out " no "
expect_has out "/nonexistent/libonnxruntime.so"
expect_exit 0 "$ASSAY" doctor --json
python3 "$ROOT/tests/schema_check.py" doctor out || fail "doctor --json"
expect_lines err 0
ASSAY_ORT_LIBRARY=/nonexistent/libonnxruntime.so ASSAY_WORKER=/nonexistent/worker expect_exit 0 "$ASSAY" doctor --json
expect_equal "$(json_get out '.checks[0].verdict')" missing
expect_equal "$(json_get out '.checks[1].verdict')" missing
expect_exit 0 "$ASSAY" doctor
expect_lines err 0
