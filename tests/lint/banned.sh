#!/usr/bin/env bash
# Functions and constructs that the project does without, and library code that
# neither prints to the terminal nor exits.
. "$(dirname "$0")/lib.bash"

# name: what to use
declare -A banned=(
    [strcpy]="memcpy with a known size" [strcat]="snprintf or core/base/json_out.h"
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

# Library code reports by status; only cli/ speaks and only main exits.
library='^(core|models|predict|replay|profilers|calibrate)/'
spoken='\b(v?printf|puts|putchar|perror|exit|_exit|abort)[[:space:]]*\(|\b(stdout|stderr)\b'

while IFS= read -r file; do
    code=$(code_only "$file")
    while IFS=: read -r line name; do
        [ -n "$line" ] || continue
        complain "$file:$line: '$name' is banned, use ${banned[$name]}"
    done < <(grep -noE "\\b($names)[[:space:]]*\(" <<<"$code" |
        sed 's/[[:space:]]*(//' || true)
    # What has a main, or the msim_..._main of programs alike, is no library;
    # nor is what a CUDA program loads, which has nobody to hand a status to.
    if [[ $file =~ $library ]] &&
        ! grep -qE '^int ((msim_[a-z]+_)?main|InitializeInjection)\(' \
            <<<"$code"; then
        while IFS=: read -r line name; do
            [ -n "$line" ] || continue
            complain "$file:$line: '${name%(}' in library code, want a status"
        done < <(grep -noE "$spoken" <<<"$code" || true)
    fi
done < <(project_files '*.c' '*.h')

finish banned
