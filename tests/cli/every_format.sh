# every subject says the same in every view: text, Markdown, HTML and CSV of each kept kind of profile, and of the other documents
. "$ROOT/tests/cli/lib.sh"
same() { python3 "$ROOT/tests/formats_same.py" "$ASSAY" "$@" >faults || { cat faults; fail "views of 'assay $*' differ"; }; }
for kept in "$ROOT"/tests/golden/0.1.0/profiles/*.assay.gz; do
    name=$(basename "$kept" .gz)
    gzip -dc "$kept" >"$name"
    same report "$name"
done
same report run-mlp.assay --detail basic
same report run-mlp.assay --detail detailed
same report run-fake.assay run-failed.assay
same report run-mlp.assay run-cfc.assay run-fake.assay
same inspect mlp
same inspect resnet50
same inspect mlp cfc
same check resnet50 --target ane
same check mlp --target ane --chip m1
same predict mlp --chip m1-max
same predict --chips
