#!/usr/bin/env bash
# Library code has no mutable state of its own: nothing in the data sections of
# the static libraries. Tables of pointers that the loader only relocates
# (.data.rel.ro) are constant. What a process has read is the process's
# (core/base/files.h), whoever calls the library.
. "$(dirname "$0")/lib.bash"

if [ -z "${BUILD_DIR:-}" ] || ! command -v nm >/dev/null; then
    echo "no build folder or no nm: skipped"
    exit 77
fi

# nm's sysv columns: name|value|class|type|size|line|section
for library in "$BUILD_DIR"/libmsim_*.a; do
    while IFS='|' read -r name _ _ _ _ _ section; do
        [[ $library:${name%% *} != */libmsim_core.a:files_read ]] || continue
        complain "$(basename "$library"): '${name%% *}' in $section is" \
            "mutable, want it const or in a structure of the caller"
    done < <(nm -f sysv "$library" 2>/dev/null | tr -d '\t' |
        grep -E '\|(\.(data|bss|tdata|tbss)[^|]*|\*COM\*)$' |
        grep -vE '\|\.data\.rel\.ro[^|]*$' || true)
done

finish globals
