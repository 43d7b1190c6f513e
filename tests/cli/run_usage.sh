# Wrong values are status 2 and one line that says what is right; nothing is run or written.
. "$ROOT/tests/cli/lib.sh"
wrong() { # wrong TEXT-IN-ERROR ARGUMENT…
    expect_error 2 "$1" "$ASSAY" run --engine fake --script steady=1us "${@:2}"
}
wrong "'x' is not a whole number" --batch x
wrong "99999999999999999999 is out of range" --batch 99999999999999999999
wrong "'99999999999999999999x' is not a whole number" --batch 99999999999999999999x
wrong "0 is not between 1 and" --batch 0
wrong "0 is not between 1 and" --iters=0
wrong "'3 apples' is not a duration" --time '3 apples'
wrong "needs a value" --launches
wrong "takes no value" --json=yes
wrong "did you mean 'markers'" --layers=marker
wrong "none|basic|extended|all" --opt most
wrong "NAME=N" --dim batch
wrong "INPUT=FILE.npy" --input =x.npy
wrong "cannot be used together" --iters 5 --time 1s
wrong "cannot be used together" --json --format csv
wrong "list of CPUs" --cpus all
wrong "--idle needs --power" --idle 1s
wrong "--idle needs --power" --idle 1s --memory
wrong "--interval needs --power or --memory" --interval 10ms
wrong "--interval needs --power or --memory" --interval 10ms --counters
wrong "did you mean '--threads'?" --thread 2
wrong "*.assay" -o report.json
wrong "unexpected argument" -- a.onnx --batch
expect_exit 2 "$ASSAY" run --engine faek x.onnx
expect_has err "'fake'"
expect_exit 2 "$ASSAY" run
expect_has err "MODEL is missing"
# a bare --layers takes no value: the next word is the model
expect_exit 3 "$ASSAY" run --layers missing.onnx
expect_has err "missing.onnx"
expect_exit 3 "$ASSAY" run missing.onnx
expect_lines out 0
expect_lines err 1
[ "$(ls)" = "$(printf 'err\nout')" ] || fail "files were left: $(ls)"
