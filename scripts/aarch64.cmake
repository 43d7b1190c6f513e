# aarch64.cmake - CMake's toolchain for 64-bit Arm Linux on another processor: Debian's cross compiler, and the libraries
# that multiarch installs beside this machine's own (scripts/setup arm brings both).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT CMAKE_C_COMPILER)
    set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
endif()
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu) # for clang
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/emulate-arm)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu) # where find_library looks
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
