#!/usr/bin/env bash
# clang-tidy 14 has nothing to say of the sources that the last commit changed, or
# that are changed now; at most MOST of them are read, others at another commit's
# turn. Its analyzer takes two seconds a file, and some checks still find places
# that nobody has looked at: .clang-tidy has the command for all of them.
. "$(dirname "$0")/lib.bash"

MOST=40
# Not yet: places that they find are there.
checks='-clang-analyzer-*,-performance-no-int-to-ptr'
for check in branch-clone implicit-widening-of-multiplication-result \
    integer-division macro-parentheses misplaced-widening-cast \
    narrowing-conversions not-null-terminated-result reserved-identifier \
    sizeof-expression suspicious-memory-comparison suspicious-missing-comma \
    suspicious-string-compare too-small-loop-variable; do
    checks+=,-bugprone-$check
done

commands=${BUILD_DIR:-build}/compile_commands.json
if ! command -v clang-tidy-14 >/dev/null || ! command -v git >/dev/null ||
    [ ! -s "$commands" ]; then
    echo "no clang-tidy 14, no git, or no list of compile commands: skipped"
    exit 77
fi

# Of a commit without one before it, as in a shallow clone: all that it has.
changed() {
    { git diff --name-only HEAD~1 -- '*.c' 2>/dev/null ||
        git ls-files -- '*.c' 2>/dev/null; } | sort -u | while IFS= read -r file; do
        [ ! -f "$file" ] || ! grep -qF "/$file\"" "$commands" || echo "$file"
    done
}

# In an order that differs from commit to commit.
key=$(git rev-parse HEAD 2>/dev/null || true)
files=$(changed | while IFS= read -r file; do
    echo "$(cksum <<<"$key $file" | cut -d' ' -f1) $file"
done | sort -n | head -n "$MOST" | cut -d' ' -f2)
while IFS= read -r said; do
    complain "$said"
done < <(of_files clang-tidy-14 -p "${BUILD_DIR:-build}" --quiet --checks="$checks" \
    --header-filter='^$' <<<"$files" 2>/dev/null |
    grep -E ': (warning|error): ' | grep -v 'clang-diagnostic-' || true)
echo "$(grep -c . <<<"$files" || true) files read"

finish tidy
