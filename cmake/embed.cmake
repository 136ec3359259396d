# A file as an array of C: cmake -DFROM=FILE -DTO=FILE.c -DNAME=NAME
#     -DHEADER=HEADER -P embed.cmake
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${TO}.new "#include \"${HEADER}\"\n"
     "const char ${NAME}[] = {${bytes}0};\n")
file(RENAME ${TO}.new ${TO})
