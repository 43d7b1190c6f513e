# plain-only: tests scripts, not the program
# scripts/setup says nothing and does nothing when nothing is missing; prints the exact command where it may not install;
# installs as root or through sudo; refuses a package whose hash is not the pinned one.
. "$ROOT/tests/cli/lib.sh"
expect_exit 0 "$ROOT/scripts/setup" build test
expect_lines out 0
expect_lines err 0

# A machine of our making: only these commands exist on it.
mkdir -p tree bin
cp -R "$ROOT/scripts" tree/
for tool in sh dirname sed cmp env cat mkdir rm cp mv ln; do ln -s "$(command -v $tool)" bin/; done
command_file() { printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"; chmod +x "bin/$1"; }
command_file uname 'case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac'
command_file id 'echo 1000'
setup() { env -i PATH="$PWD/bin" LOG="$PWD/log" ASSAY_ORT_LIBRARY=given "$@" "$PWD/tree/scripts/setup" build; }
packages="gcc libc6-dev make cmake ninja-build pkg-config libsqlite3-dev libhwloc-dev zlib1g-dev libzstd-dev"
install="apt-get install -y --no-install-recommends $packages"

expect_exit 1 setup
expect_has err "cmake"
command_file apt-get 'echo "apt-get $*" >>"$LOG"'
expect_exit 1 setup
expect_has err "Run as root: apt-get update && $install"
[ ! -e log ] || fail "something was installed"
command_file sudo '[ "$1" = -n ] && shift; echo sudo >>"$LOG"; "$@"'
command_file true :
expect_exit 0 setup
expect_has err "sudo $install"
expect_has log "$install"
expect_has log sudo
rm log
command_file id 'echo 0'
expect_exit 0 setup
expect_has log "$install"
expect_not log sudo

# Without a library given, what fetching takes is asked for in the same breath.
command_file id 'echo 1000'
rm bin/sudo
expect_exit 1 setup ASSAY_ORT_LIBRARY=
/usr/bin/python3 -m pip --version >/dev/null 2>&1 || expect_has err "$install python3 python3-pip"

# Packages for another processor: dpkg is told of it first, and not left so when apt knows none.
sed -i.plain 's|/usr/lib/aarch64-linux-gnu|/nowhere|' tree/scripts/setup
arm() { env -i PATH="$PWD/bin" LOG="$PWD/log" "$PWD/tree/scripts/setup" arm; }
packages="gcc-aarch64-linux-gnu qemu-user libc6-dev:arm64 libsqlite3-dev:arm64 libhwloc-dev:arm64 zlib1g-dev:arm64 libzstd-dev:arm64 libstdc++6:arm64"
install="apt-get install -y --no-install-recommends $packages"
ln -s "$(command -v grep)" bin/
command_file dpkg '[ "$1" = --print-foreign-architectures ] || echo "dpkg $*" >>"$LOG"'
expect_exit 1 arm
expect_has err "Run as root: dpkg --add-architecture arm64 && apt-get update && $install"
command_file dpkg 'echo arm64'
expect_exit 1 arm
expect_has err "Run as root: apt-get update && $install"
rm log
command_file dpkg '[ "$1" = --print-foreign-architectures ] || echo "dpkg $*" >>"$LOG"'
command_file apt-get 'echo "apt-get $*" >>"$LOG"; [ "$1" != update ]'
command_file id 'echo 0'
expect_exit 1 arm
expect_has err "apt-get update failed with arm64 added"
expect_equal "$(cat log)" "$(printf 'dpkg --add-architecture arm64\napt-get update -q\ndpkg --remove-architecture arm64')"
mv tree/scripts/setup.plain tree/scripts/setup

command_file uname 'case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac'
expect_exit 1 setup
expect_has err "brew install cmake ninja pkg-config sqlite hwloc"

# A wheel of the right name that is not the pinned one.
python3 -m pip --version >/dev/null 2>&1 || exit 0
case $(uname -s)-$(uname -m) in Linux-x86_64) ;; *) exit 0 ;; esac
mkdir wheels
version=$(sed -n 's/^onnxruntime==\([^ ]*\).*/\1/p' "$ROOT/scripts/requirements/onnxruntime.txt")
python3 - wheels "$version" <<'PYTHON'
import sys, zipfile
folder, version = sys.argv[1:]
info = f"onnxruntime-{version}.dist-info/"
name = f"{folder}/onnxruntime-{version}-cp312-cp312-manylinux_2_28_x86_64.whl"
with zipfile.ZipFile(name, "w") as wheel:
    wheel.writestr(f"onnxruntime/capi/libonnxruntime.so.{version}", "not the library")
    wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\nName: onnxruntime\nVersion: {version}\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-manylinux_2_28_x86_64\n")
    wheel.writestr(info + "RECORD", "")
PYTHON
unset ASSAY_ORT_LIBRARY
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/wheels PIP_CONFIG_FILE=/dev/null
expect_exit 1 tree/scripts/setup build
expect_has err "could not be fetched"
expect_has err "hash"
[ -z "$(find tree/.cache -name 'libonnxruntime*')" ] || fail "an unpinned library was kept"
