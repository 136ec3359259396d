# The commit of a source tree as C, written where it is another than before:
# cmake -DFROM=TREE -DTO=FILE.c -DCOMMIT=COMMIT -P commit.cmake
# Where COMMIT is empty it is git's, with a + where files were changed since.
if(COMMIT STREQUAL "" AND EXISTS ${FROM}/.git)
    execute_process(COMMAND git -C ${FROM} describe --always --abbrev=12
                            --match= --dirty=+
        OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT COMMIT MATCHES "^[0-9A-Za-z.+~-]*$")
    message(FATAL_ERROR "'${COMMIT}' is no name of a commit")
endif()
set(text "#include \"cli/commit.h\"\nconst char msim_commit[] = \"${COMMIT}\";\n")
set(before "")
if(EXISTS ${TO})
    file(READ ${TO} before)
endif()
if(NOT text STREQUAL before)
    file(WRITE ${TO} "${text}")
endif()
