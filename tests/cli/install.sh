# plain-only: builds and installs by itself
# make install into an empty prefix gives a program that finds its worker, manual pages, completions, headers and a
# pkg-config file with which the C example compiles and profiles a model.
. "$ROOT/tests/cli/lib.sh"
prefix=$PWD/prefix
# not optimised: it is compiled here only to be installed
cmake -S "$ROOT" -B build -G Ninja -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
    -DASSAY_TESTS=OFF -DASSAY_BENCH=OFF >log 2>&1 &&
    cmake --build build >>log 2>&1 && cmake --install build >>log 2>&1 || { tail -n 30 log >&2; fail "install"; }
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
