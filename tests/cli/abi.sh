# plain-only: the sanitizer build has no shared library
# The ABI of libassay is the kept one, tests/golden/abi.txt: the symbols, and the size of each public struct with the offsets of its
# members. A new symbol, or a member at the end of a struct that begins with its size, is blessed (tests/run --bless abi); whatever
# changes or removes a line that is kept also needs a new version of the library (src/libassay.map, SOVERSION).
. "$ROOT/tests/cli/lib.sh"
[ "$(uname -s)" = Linux ] || skip "the list is of Linux: sizes are the same elsewhere, names of symbols are not"
command -v clang >/dev/null || skip "clang, which prints the layout of structs, is not installed"

nm -D --defined-only --with-symbol-versions "$BUILD/libassay.so" | awk '$2 != "A" { print "symbol " $3 }' | sort >abi
echo '#include <assay/assay.h>' >all.c
clang -I"$ROOT/include" -Xclang -fdump-record-layouts-complete -fsyntax-only all.c >layouts
awk '
/^ *0 \| (struct|union) / { name = $4; next }
name !~ /^assay_/ { next }
/^ *[0-9]+ \|   [^ ]/ { members = members "struct " name "." $NF " at " $1 "\n" }
/\[sizeof=/ { gsub(/[^0-9]/, "", $2); print "struct " name " of " $2 " bytes"; printf "%s", members; members = name = "" }
' layouts >>abi
grep -q '^struct assay_error of ' abi || fail "no layouts: $(head -n 20 layouts)"
grep ' at \|^symbol' "$ROOT/tests/golden/abi.txt" | sort >kept
grep ' at \|^symbol' abi | sort >now
comm -23 kept now >broken
[ ! -s broken ] || { echo "these lines of the kept ABI changed or went: more than an addition" >&2; cat broken >&2; }
expect_golden abi.txt abi
