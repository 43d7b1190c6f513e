# embed.cmake - turns a file into a C array of its bytes, closed by a NUL. Bytes, not a string literal:
# a literal longer than 4095 characters is beyond what ISO C promises.
#   cmake -DINPUT=file -DOUTPUT=header -DNAME=array -P embed.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
string(REPLACE "'\\x0a'," "'\\x0a',\n" bytes "${bytes}") # one line of the file, one line here
get_filename_component(from ${INPUT} NAME)
file(WRITE ${OUTPUT}
    "/* Made from ${from} by the build. */\nstatic const char ${NAME}[] = {\n${bytes}'\\x00'};\n")
