# plain-only: the sanitizer build is not what is installed
# make install into an empty prefix gives a program that finds its worker, manual pages, completions, headers and a
# pkg-config file with which the C example compiles and profiles a model.
. "$ROOT/tests/cli/lib.sh"
prefix=$PWD/prefix
cmake --install "$BUILD" --prefix "$prefix" >log 2>&1 || { tail -n 30 log >&2; fail "install"; }
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
# The build was configured for another prefix; the file is about where it is.
expect_equal "$(cd "$(pkg-config --variable=prefix assay)" && pwd -P)" "$(cd "$prefix" && pwd -P)"
# A private prefix is found at run time through the rpath that README and doc/api.md name.
build() {
    # shellcheck disable=SC2046
    "${CC-cc}" -std=c17 -Wall -Wextra -Werror "$ROOT/examples/$1.c" $(pkg-config --cflags --libs assay) \
        -Wl,-rpath,"$(pkg-config --variable=libdir assay)" -o "$1" || fail "example $1 does not compile"
}
for example in "$ROOT"/examples/*.c; do build "$(basename "$example" .c)"; done
# The headers are also C++.
if command -v c++ >/dev/null; then
    printf '#include <assay/assay.h>\nint main() { return !assay_report_format(0) || assay_version()[0] != %s; }\n' "'${version%%.*}'" >a.cc
    # shellcheck disable=SC2046
    c++ -Wall -Wextra -Werror a.cc $(pkg-config --cflags --libs assay) -Wl,-rpath,"$(pkg-config --variable=libdir assay)" -o a ||
        fail "a program in C++ does not compile"
    expect_exit 0 ./a
fi
model=$ROOT/tests/fixtures/models/cfc/model.onnx
expect_exit 0 ./profile_model "$model"
expect_has out "one inference takes "
[ "$(grep -c ' us  .* %$' out)" -eq 3 ] || fail "not three layers: $(cat out)"
expect_exit 0 ./measure_callback
expect_has out "latency.p50"
expect_exit 0 ./compare_models "$model" "$ROOT/tests/fixtures/models/ltc/model.onnx"
[ "$(grep -c '^[12]: .* us$' out)" -eq 2 ] || fail "not two models: $(cat out)"
expect_exit 0 "$prefix/bin/assay" run "$model" --iters 20 --launches 2 --layers=off -o kept.assay -q
expect_exit 0 ./read_profile kept.assay
[ "$(grep -c '^cpu,[12],0,[0-9]*$' out)" -eq 40 ] || fail "not 2 launches of 20 samples: $(wc -l <out) lines"
expect_exit 1 ./read_profile nowhere.assay
