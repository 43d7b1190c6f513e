# plain-only: the sanitizer build is not what is installed
# make install into an empty prefix gives a program that finds its worker, manual pages, completions, headers and a
# pkg-config file with which the C example compiles and profiles a model.
. "$ROOT/tests/cli/lib.sh"
prefix=$PWD/prefix
cmake --install "$BUILD" --prefix "$prefix" >log 2>&1 || { tail -n 30 log >&2; fail "install"; }
# The build was configured for another prefix: the pkg-config file, which names it, is taken from one configured for this.
cmake -S "$ROOT" -B configured -G Ninja -DCMAKE_INSTALL_PREFIX="$prefix" -DASSAY_TESTS=OFF -DASSAY_BENCH=OFF >log 2>&1 ||
    { tail -n 30 log >&2; fail "configuring for the prefix"; }
cp configured/assay.pc "$(find "$prefix" -name assay.pc)"
version=$(sed -n 's/.*ASSAY_VERSION_STRING "\(.*\)".*/\1/p' "$ROOT/include/assay/api.h")
expect_exit 0 "$prefix/bin/assay" version
expect_has out "$version"
for file in libexec/assay/assay-worker include/assay/assay.h share/man/man1/assay.1 share/man/man1/assay-run.1 \
    share/bash-completion/completions/assay share/zsh/site-functions/_assay \
    share/fish/vendor_completions.d/assay.fish share/doc/assay/LICENSE; do
    [ -s "$prefix/$file" ] || fail "not installed: $file"
done
[ "$(uname -s)" != Linux ] || [ -s "$prefix/libexec/assay/libassay-track.so" ] || fail "not installed: the allocation tracker"
bash -n "$prefix/share/bash-completion/completions/assay" || fail "the bash completion does not parse"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name assay.pc)")
export PKG_CONFIG_PATH
expect_equal "$(pkg-config --modversion assay)" "$version"
# shellcheck disable=SC2046
"${CC-cc}" -std=c17 -Wall -Wextra -Werror "$ROOT/examples/profile_model.c" $(pkg-config --cflags --libs assay) \
    -Wl,-rpath,"$(pkg-config --variable=libdir assay)" -o example || fail "the example does not compile"
expect_exit 0 ./example "$ROOT/tests/fixtures/models/cfc/model.onnx"
expect_has out "model.onnx"
expect_has out "unattributed"
