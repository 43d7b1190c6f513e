#!/usr/bin/env bash
# Core ML models written now by coremltools, and its lists of them, against our reader; and the samples' lists again.
. "$ROOT/tests/cli/lib.sh"
python=$ROOT/.cache/oracle/bin/python
"$python" -c 'import coremltools, sklearn' 2>/dev/null || skip "coremltools is not in .cache/oracle (scripts/setup oracle)"
mkdir models
"$python" "$ROOT/tests/oracle/coreml.py" make models >log 2>&1 || fail "coreml.py make: $(tail -n 1 log)"
ASSAY_COREML_FOLDER=$PWD/models "$BUILD/tests/unit/test_coreml" programs networks || fail "our reading differs"
for sample in attention cnn unsupported; do
    package=$ROOT/../shared/data/coreml/$sample.mlpackage
    [ -d "$package" ] || continue
    "$python" "$ROOT/tests/oracle/coreml.py" list "$package" 2>/dev/null |
        diff - "$ROOT/tests/fixtures/coreml/sample_$sample.txt" || fail "the list of $sample is not what coremltools says"
done
