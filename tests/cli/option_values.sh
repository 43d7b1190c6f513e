# Values that an option refuses, the same in every command that has it: a size without its unit, too many threads, an option given
# twice with different values, options that exclude each other. Status 2, one line, nothing measured.
. "$ROOT/tests/cli/lib.sh"
expect_error 2 "'10' has no unit: write 10MB" "$ASSAY" sweep mlp --batch 1,2 --memory-budget 10
expect_error 2 "'10' has no unit: write 10MB" "$ASSAY" tune mlp --memory-budget 10
expect_error 2 "from 1 to 4096" "$ASSAY" sweep mlp --threads 1,100000
expect_error 2 "from 1 to 4096" "$ASSAY" tune mlp --engine fake --threads 1,100000
for verb in run compare power; do
    expect_error 2 "--threads: 4096 is more than " "$ASSAY" $verb mlp --engine fake --threads 4096
done
expect_error 2 "--batch is given twice, as '1,2' and as '4'" "$ASSAY" sweep mlp --batch 1,2 --batch 4
expect_error 2 "--opt is given twice, as 'all' and as 'none'" "$ASSAY" tune mlp --opt all --opt none
expect_error 2 "--goal is given twice, as 'latency' and as 'energy'" "$ASSAY" sweep mlp --batch 1,2 --goal latency --goal energy
expect_error 2 "cannot be used together" "$ASSAY" compare mlp --engine fake --device cpu --devices cpu
expect_error 2 "--threads: 4096 is more than " "$ASSAY" sweep mlp --threads 1,4096

# a batch of nothing, a week's budget, a script of another engine, a word cut short, a folder as a model
expect_error 2 "is 0" "$ASSAY" inspect cfc --dim batch=0
expect_error 2 "--budget" "$ASSAY" tune mlp --budget 1e300
expect_error 2 "--script" "$ASSAY" run cfc --script steady=1us
expect_error 2 "'--time'" "$ASSAY" run cfc --tim 1s
for command in run inspect tune advise query report "make --float16 -o new.onnx --from"; do
    expect_error 3 "is a folder" "$ASSAY" $command .
done
