# A file as an array of C: cmake -DFROM=FILE -DTO=FILE.c -DNAME=NAME
#     -DHEADER=HEADER [-DHASH=NAME] -P embed.cmake
# HASH names a text: the file's SHA-256 in base64, as pages name what may run.
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
set(source "#include \"${HEADER}\"\nconst char ${NAME}[] = {${bytes}0};\n")
if(HASH)
    file(SHA256 ${FROM} digest)
    string(APPEND digest 00) # 32 bytes are 43 letters and a '='
    set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    set(text "")
    foreach(at RANGE 0 63 3) # three digits are two letters
        string(SUBSTRING ${digest} ${at} 3 three)
        math(EXPR high "0x${three} >> 6")
        math(EXPR low "0x${three} & 63")
        string(SUBSTRING ${letters} ${high} 1 high)
        string(SUBSTRING ${letters} ${low} 1 low)
        string(APPEND text ${high}${low})
    endforeach()
    string(SUBSTRING ${text} 0 43 text)
    string(APPEND source "const char ${HASH}[] = \"${text}=\";\n")
endif()
file(WRITE ${TO}.new "${source}")
file(RENAME ${TO}.new ${TO})
