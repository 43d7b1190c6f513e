# The version is that of the header, alone on a line of stdout, and --json is one object.
. "$ROOT/tests/cli/lib.sh"
version=$(sed -n 's/.*ASSAY_VERSION_STRING "\(.*\)".*/\1/p' "$ROOT/include/assay/api.h")
expect_exit 0 "$ASSAY" version
expect_has out "$version"
expect_lines err 0
for flag in --version -V; do
    expect_exit 0 "$ASSAY" $flag
    expect_has out "$version"
done
expect_exit 0 "$ASSAY" version --json
expect_equal "$(json_get out .assay.version)" "$version"
