# The front door. Each target sets up what it needs, says what it does, and does nothing twice.
# The build itself is CMake's: see CMakeLists.txt. CC chooses the compiler (a change needs `make clean`).

BUILD   := build
PREFIX  ?= /usr/local
DESTDIR ?=
T       ?= 600
MACHINE := $(shell uname -m)
ARCH    ?= $(MACHINE)
emulates := $(filter-out %-aarch64,$(filter Linux-%,$(shell uname -s)-$(MACHINE)))

CMAKE_FLAGS ?=
ifneq ($(origin CC),default)
CMAKE_FLAGS += -DCMAKE_C_COMPILER=$(CC)
endif
cross     = $(if $(filter-out $(MACHINE),$(ARCH)),-DCMAKE_TOOLCHAIN_FILE=scripts/$(ARCH).cmake)
configure = cmake -S . -B $(1) -G Ninja $(CMAKE_FLAGS) $(2)
# What is to run on older Linux systems is built for glibc 2.28: zig's compiler, libraries of its own (scripts/static-deps).
static         = $(CURDIR)/.cache/static
old_glibc      = scripts/setup wheel && scripts/static-deps
for_old_glibc  = -DCMAKE_C_COMPILER=$(static)/bin/cc -DCMAKE_AR=$(static)/bin/ar -DCMAKE_RANLIB=$(static)/bin/ranlib \
	-DASSAY_PKGCONFIG=$(static)/lib/pkgconfig -DASSAY_WERROR=OFF
version   = $(shell sed -n 's/.*ASSAY_VERSION_STRING "\(.*\)".*/\1/p' include/assay/api.h)

.DELETE_ON_ERROR:
.PHONY: all setup run test test-all bench lint format install dist wheel check-macos check-arm fuzz clean help

all: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD)

setup:
	@scripts/setup build

$(BUILD)/build.ninja: | setup
	@$(call configure,$(BUILD))
build-asan/build.ninja: | setup
	@$(call configure,build-asan,-DASSAY_SANITIZE=address -DCMAKE_C_COMPILER=clang)
build-tsan/build.ninja: | setup
	@$(call configure,build-tsan,-DASSAY_SANITIZE=thread -DCMAKE_C_COMPILER=clang)
build-fuzz/build.ninja: | setup
	@cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DASSAY_FUZZ=ON -DASSAY_TESTS=OFF

run: all
	$(BUILD)/assay run resnet50 -o resnet50.assay --report resnet50.html

test: all
	@scripts/setup test
	@$(MAKE) --no-print-directory build-asan/build.ninja build-tsan/build.ninja
	@cmake --build build-asan
	@cmake --build build-tsan
	@tests/run

test-all: test
	@scripts/setup bench python oracle
	@tests/run --plain python
	@tests/run --oracles
	@$(MAKE) --no-print-directory check-arm
	@$(if $(emulates),$(MAKE) --no-print-directory dist ARCH=aarch64)

bench: all
	@scripts/setup test bench
	@python3 bench/bench.py --build $(BUILD)

lint:
	@scripts/setup lint
	@scripts/lint

format:
	@scripts/setup lint
	@scripts/format

install: setup
	@$(call configure,$(BUILD),-DCMAKE_INSTALL_PREFIX=$(PREFIX))
	@cmake --build $(BUILD)
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD)

dist: folder = build-dist$(if $(cross),-$(ARCH))
dist: old = $(and $(filter Linux,$(shell uname -s)),$(if $(cross),,yes))
dist: setup
	@$(if $(cross),scripts/setup arm)
	@$(if $(old),$(old_glibc))
	@$(call configure,$(folder),$(cross) $(if $(old),$(for_old_glibc)) -DASSAY_STATIC_DEPS=ON -DASSAY_TESTS=OFF -DASSAY_BENCH=OFF)
	@cmake --build $(folder)
	@scripts/dist $(folder) $(version) $(ARCH)
	@scripts/check-dist dist/assay-$(version)-*-$(ARCH).tar.gz

wheel: setup
	@$(old_glibc)
	@$(call configure,build-wheel,$(for_old_glibc) -DASSAY_STATIC_DEPS=ON -DASSAY_TESTS=OFF -DASSAY_BENCH=OFF)
	@cmake --build build-wheel
	@scripts/wheel build-wheel 2.28

check-macos:
	@scripts/setup build macos
	@scripts/check-macos

ifneq ($(emulates),)
check-arm:
	@scripts/setup build test arm
	@$(call configure,build-arm,-DCMAKE_TOOLCHAIN_FILE=scripts/aarch64.cmake -DASSAY_BENCH=OFF)
	@cmake --build build-arm
	@scripts/check-arm build-arm
else
check-arm:
	@echo 'check-arm: nothing to do: it is for Linux machines that are not aarch64 themselves'
endif

fuzz:
	@scripts/setup build fuzz
	@$(MAKE) --no-print-directory build-fuzz/build.ninja
	@cmake --build build-fuzz
	@scripts/fuzz $(T)

clean:
	rm -rf build build-asan build-tsan build-arm build-dist build-dist-aarch64 build-fuzz build-wheel dist

help:
	@echo 'make              set up and build; the program is build/assay'
	@echo 'make run          the same, then profile the built-in resnet50 on this CPU into resnet50.assay and resnet50.html'
	@echo 'make test         everything a machine without an accelerator can check, also under sanitizers'
	@echo 'make test-all     and the live oracles (large packages are fetched), check-arm, and the archive for aarch64'
	@echo 'make bench        speed and memory against peers, as ratios'
	@echo 'make lint         format, analyser, layers, banned functions, sizes'
	@echo 'make format       rewrite the sources in the one format'
	@echo 'make install      into PREFIX (default /usr/local), below DESTDIR when set'
	@echo 'make dist         a relocatable folder and archive in dist/; ARCH=aarch64: for 64-bit Arm Linux'
	@echo 'make wheel        the Python package as a wheel in dist/, for Linux with glibc 2.28 or newer'
	@echo 'make check-arm    compile for 64-bit Arm Linux, and run the tests and a model under qemu (Debian)'
	@echo 'make check-macos  compile everything for macOS on arm64 with zig'
	@echo 'make fuzz         run each fuzzer for T seconds (default 600)'
	@echo 'make clean        remove what was built; .cache/ (what was fetched) stays'
