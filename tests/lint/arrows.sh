#!/usr/bin/env bash
# The folder arrows of ARCHITECTURE.md, for our headers and for third-party
# ones: who may include what. System headers are free.
. "$(dirname "$0")/lib.bash"

# folder: our folders it may include (its own always)
declare -A ours=(
    [core/base]=""
    [core/trace]="core/base"
    [core/graph]="core/base core/trace"
    [core/run]="core/base core/trace core/graph"
    [core/report]="core/base core/trace core/graph core/run"
    [core/chakra]="core/base core/trace core/graph"
    [models]="core"
    [profilers]="core"
    [profilers/cpu]="core profilers"
    [profilers/cuda]="core profilers"
    [calibrate]="core models profilers"
    [replay]="core profilers"
    [cli]="core models profilers calibrate replay"
    [tests]="core models profilers calibrate replay"
)

# folder: third-party headers it may include (prefixes)
declare -A theirs=(
    [core/base]="cjson/ cJSON.h zlib.h"
    [core/trace]="zlib.h protobuf-c/ chakra.pb-c.h"
    [core/graph]=""
    [core/run]=""
    [core/report]="zlib.h"
    [core/chakra]="protobuf-c/ chakra.pb-c.h"
    [models]="gsl/"
    [profilers]=""
    [profilers/cpu]="cblas.h dnnl.h omp.h mpi.h"
    [profilers/cuda]="cuda cublas cudnn cupti nccl"
    [calibrate]="gsl/"
    [replay]=""
    [cli]="cjson/ cJSON.h zlib.h gsl/"
    [tests]="cuda cupti cjson/ cJSON.h zlib.h gsl/ yajl/ chakra.pb-c.h"
)

# One file alone knows the streaming parser, so that it can be exchanged, and
# one the library that grows trees, so that all else builds without it.
declare -A home=(
    [yajl/]=core/base/json_sax.c
    [xgboost/]=calibrate/boost.c
)

third_party='^(cjson|cJSON|yajl|gsl|protobuf-c|chakra\.pb-c|zlib\.h|zconf\.h|xgboost|cuda|nccl|cublas|cudnn|cupti|nvml|mpi\.h|omp\.h|cblas|dnnl)'

allowed() { # PREFIXES HEADER
    local prefix
    for prefix in $1; do
        case $2 in "$prefix"*) return 0 ;; esac
    done
    return 1
}

folder_of() { # FILE: some folders have folders of their own
    case $1 in
        core/* | profilers/*/*) dirname "$1" ;;
        *) echo "${1%%/*}" ;;
    esac
}

check_ours() { # FILE LINE FOLDER HEADER
    local target
    target=$(folder_of "$4")
    if [[ $4 != */* ]]; then
        complain "$1:$2: '$4' has no folder, want \"folder/$4\""
    elif [ ! -f "$4" ]; then
        complain "$1:$2: '$4' is no header of this project"
    elif [ "$target" != "$3" ] && ! allowed "${ours[$3]}" "$target"; then
        complain "$1:$2: '$3' may not include '$4', want one of:" \
            "$3 ${ours[$3]}"
    fi
}

check_theirs() { # FILE LINE FOLDER HEADER
    [[ $4 =~ $third_party ]] || return 0
    [[ $1 != "${home[${4%%/*}/]:-}" ]] || return 0
    allowed "${theirs[$3]}" "$4" ||
        complain "$1:$2: '$3' may not include '$4', want one of:" \
            "${theirs[$3]:-none}"
}

includes() { # FILE: "line kind header"
    sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*([<"])([^>"]+)[>"].*/\1 \2/;T;=;p' \
        "$1" | paste -d' ' - -
}

count=0
while IFS= read -r file; do
    folder=$(folder_of "$file")
    if [ -z "${ours[$folder]+known}" ]; then
        complain "$file: no arrow says what '$folder' may include"
        continue
    fi
    while read -r line kind header; do
        count=$((count + 1))
        if [ "$kind" = '"' ]; then
            check_ours "$file" "$line" "$folder" "$header"
        else
            check_theirs "$file" "$line" "$folder" "$header"
        fi
    done < <(includes "$file")
done < <(project_files '*.c' '*.h' '*.cu' '*.cuh')

[ "$count" -gt 0 ] || complain "no include found: is this the project?"
finish "arrows ($count includes)"
