# plain-only: the sanitizer build has no shared library
# libassay.so exports what the public headers mark with ASSAY_API, all of it and nothing else, under the version ASSAY_0.1.
. "$ROOT/tests/cli/lib.sh"
library=$(ls "$BUILD"/libassay.so.*.*.* "$BUILD"/libassay.*.*.*.dylib 2>/dev/null | head -n 1)
[ -n "$library" ] || fail "no shared library in the build folder"
# A declaration starts with ASSAY_API and may run over several lines; its name stands before the first parenthesis.
cat "$ROOT"/include/assay/*.h | tr '\n' ' ' | grep -o 'ASSAY_API [^;{(]*[(;]' | grep -o 'assay_[a-z0-9_]*[ ]*[(;]' |
    tr -d ' (;' | sort -u >declared
[ -s declared ] || fail "no declarations found"
if [ "$(uname -s)" = Darwin ]; then
    nm -gU "$library" | awk '{ sub(/^_/, "", $3); print $3 }' | sort -u >exported
else
    nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' | sort -u >versioned
    grep -v '@@ASSAY_0\.1$' versioned >unversioned || true
    expect_lines unversioned 0
    sed 's/@.*//' versioned >exported
fi
diff -u declared exported || fail "declared (-) and exported (+) differ"
