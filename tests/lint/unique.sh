#!/usr/bin/env bash
# A name means one thing: all public headers compile together in one file, so
# that no tag, macro or function is declared twice with two meanings, and no
# symbol is defined in two of our libraries.
. "$(dirname "$0")/lib.bash"

flags=(-std=c11 -D_GNU_SOURCE -DMSIM_TRACES='""' -I. -Wall -Wextra -Werror
    -Wno-unused-function -fsyntax-only -x c)
# Headers that the build makes, as it sees them.
if [ -z "${BUILD_DIR:-}" ]; then
    echo "no build folder: skipped"
    exit 77
fi
flags+=(-isystem "$BUILD_DIR/proto" -isystem "$BUILD_DIR/rows")
# Headers of the CUDA backend name CUDA's, where there is a toolkit.
cuda=$BUILD_DIR/cuda_includes
if [ -s "$cuda" ]; then
    while IFS= read -r include; do
        flags+=(-isystem "$include")
    done <"$cuda"
fi

public_headers() {
    project_files '*.h' | grep -v '^tests/' | while IFS= read -r header; do
        case $header in
            profilers/cuda/*) [ ! -s "$cuda" ] || echo "$header" ;;
            *) echo "$header" ;;
        esac
    done
}

# In both orders: a macro harms only what comes after it.
for order in sort 'sort -r'; do
    public_headers | $order | sed 's/.*/#include "&"/' |
        "${CC:-cc}" "${flags[@]}" - ||
        complain "the public headers do not compile together ($order)"
done

# The same tag with two meanings, also where no two headers meet in one file.
while IFS= read -r tag; do
    complain "$tag is defined twice:" \
        "$(public_headers | tr '\n' '\0' | xargs -0 grep -lE "^$tag \{" | xargs)"
done < <(public_headers | tr '\n' '\0' |
    xargs -0 grep -ohE '^(struct|enum|union) msim_[a-z0-9_]+ \{' |
    sed 's/ {$//' | sort | uniq -d)

# A tag and a function of one name read alike and mean two things.
while IFS= read -r name; do
    complain "'$name' is a function and a tag"
done < <(comm -12 \
    <(public_headers | tr '\n' '\0' |
        xargs -0 grep -ohE '^(struct|enum|union) msim_[a-z0-9_]+ \{' |
        awk '{print $2}' | sort -u) \
    <(nm -g --defined-only "$BUILD_DIR"/libmsim_*.a 2>/dev/null |
        awk '$2 == "T" {print $3}' | sort -u))

# Global symbols of all libraries, those of the programs' own folders too.
while IFS= read -r symbol; do
    complain "'$symbol' is defined in more than one library:" \
        "$(nm -A -g --defined-only "$BUILD_DIR"/lib*.a 2>/dev/null |
            grep -w "$symbol" | sed 's|.*/||; s|:.*||' | sort -u | xargs)"
done < <(find "$BUILD_DIR" -name '*.a' -not -path '*/tests/*' -print0 |
    xargs -0 nm -g --defined-only 2>/dev/null |
    awk '$2 ~ /^[TDBRC]$/ && $3 !~ /^_/ {print $3}' | sort | uniq -d)

finish unique
