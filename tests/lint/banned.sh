#!/usr/bin/env bash
# Functions and constructs that the project does without, and library code that
# neither prints to the terminal nor exits.
. "$(dirname "$0")/lib.bash"

# name: what to use
declare -A banned=(
    [strcpy]="memcpy with a known size" [strcat]="snprintf or core/base/json.h"
    [strncpy]="memcpy with a known size" [strncat]="snprintf"
    [sprintf]="snprintf" [vsprintf]="vsnprintf"
    [gets]="getline" [scanf]="strtoll and friends"
    [sscanf]="strtoll and friends" [fscanf]="strtoll and friends"
    [strtok]="strchr, or strtok_r" [atoi]="strtoll with its checks"
    [atol]="strtoll with its checks" [atoll]="strtoll with its checks"
    [atof]="strtod with its checks" [rand]="a generator with a seed"
    [srand]="a generator with a seed" [alloca]="an arena or malloc"
    [tmpnam]="mkstemp" [mktemp]="mkstemp"
    [asctime]="strftime" [ctime]="strftime" [gmtime]="gmtime_r"
    [localtime]="localtime_r" [setjmp]="a status" [longjmp]="a status"
)
names=$(IFS='|'; echo "${!banned[*]}")

code=$(project_files '*.c' '*.h' | code_lines)

# hits PATTERN: FILE:LINE:NAME, a line each, of the code on standard input.
hits() {
    grep -E "$1" | while IFS= read -r hit; do
        at=$(grep -oE '^[^:]*:[0-9]*:' <<<"$hit")
        grep -oE "$1" <<<"${hit#"$at"}" | sed "s|^|$at|"
    done || true
}

while IFS=: read -r file line name; do
    name=${name%%[( ]*}
    complain "$file:$line: '$name' is banned, use ${banned[$name]}"
done < <(hits "\\b($names)[[:space:]]*\\(" <<<"$code")

# Library code reports by status; only cli/ speaks and only main exits. What has a
# main, or the msim_..._main of programs alike, is no library; nor is what a CUDA
# program loads, which has nobody to hand a status to.
spoken='\b(v?printf|puts|putchar|perror|exit|_exit|abort)[[:space:]]*\(|\b(stdout|stderr)\b'
library=$(library_rooms | paste -sd '|')
library_code() {
    grep -E "^($library)/" | awk -F: '
        NR == FNR { main[$1] = 1; next }
        !($1 in main)' \
        <(sed -nE 's/^([^:]*):[0-9]*:int ((msim_[a-z]+_)?main|InitializeInjection)\(.*/\1:/p' \
            <<<"$code") -
}
while IFS=: read -r file line name; do
    complain "$file:$line: '${name%(}' in library code, want a status"
done < <(library_code <<<"$code" | hits "$spoken")

# The rule holds in every room.
for room in $(library_rooms); do
    [ "$(printf '%s/x.c:1:%s\n' "$room" 'printf(""); exit(3);' |
        library_code | hits "$spoken" | wc -l)" -eq 2 ] ||
        complain "does not see what $room/ says"
done

finish banned
