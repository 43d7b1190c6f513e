# plain-only: valgrind and the sanitizers exclude each other
# The parent process of a run, and a report, leak nothing and touch nothing they should not. The worker is not looked at:
# what ONNX Runtime keeps is its own.
. "$ROOT/tests/cli/lib.sh"
command -v valgrind >/dev/null || skip "valgrind is not installed"
check() {
    expect_exit 0 valgrind --quiet --trace-children=no --child-silent-after-fork=yes --leak-check=full \
        --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=99 "$ASSAY" "$@"
}
check run "$ROOT/tests/fixtures/models/cfc/model.onnx" --iters 50 --warmup 5 -o run.assay
expect_has out "unattributed"
check report run.assay
expect_has out "unattributed"
check report run.assay --json
check query run.assay 'SELECT count(*) FROM metrics'
