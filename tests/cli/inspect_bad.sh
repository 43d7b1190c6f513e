# What inspect cannot do is one line on stderr with the right status, and nothing on stdout.
. "$ROOT/tests/cli/lib.sh"
cp "$ROOT"/tests/fixtures/models/inspect/mlp.onnx .
one_line() { # one_line STATUS TEXT ARGUMENTS…
    expect_exit "$1" "$ASSAY" inspect "${@:3}"
    expect_lines out 0
    expect_lines err 1
    expect_has err "$2"
}
one_line 2 "MODEL"
one_line 3 "missing.onnx" missing.onnx
one_line 3 "nearest is 'resnet50'" resnet5
mkdir folder
one_line 3 "folder" folder
one_line 3 "/dev/null" /dev/null
one_line 3 "no model 'nosuch'" nosuch
one_line 2 "is missing after ':'" mlp:
: >empty.onnx
one_line 3 "empty" empty.onnx
printf 'not a model at all' >text.onnx
one_line 3 "text.onnx" text.onnx
head -c 2000 mlp.onnx >cut.onnx
one_line 3 "cut.onnx" cut.onnx
one_line 2 "no symbolic dimension" mlp.onnx --dim nothing=3
one_line 2 "NAME=N" mlp.onnx --dim batch
one_line 2 "INPUT=1x3x224x224" mlp.onnx --shape x
one_line 2 "no input 'q'" mlp.onnx --shape q=1x2
one_line 2 "cannot be used together" mlp.onnx --json --dot
one_line 2 "cannot be used together" mlp.onnx --json --format csv
one_line 2 "--table" mlp.onnx --table layers
one_line 2 "--layers and --top" mlp.onnx --layers --top 3
one_line 2 "flops|bytes|memory" mlp.onnx --sort size
one_line 2 "the model itself" mlp.onnx -o mlp.onnx
one_line 2 "the model itself" mlp.onnx -o ./mlp.onnx
one_line 3 "nowhere" mlp.onnx -o nowhere/out.txt
cmp -s mlp.onnx "$ROOT/tests/fixtures/models/inspect/mlp.onnx" || fail "the model was changed"
if [ -e /dev/full ]; then
    status=0
    "$ASSAY" inspect mlp.onnx >/dev/full 2>err || status=$?
    expect_equal "$status" 3
fi
