#!/usr/bin/env bash
# The rooms of ARCHITECTURE.md: who may include whom, at every depth, and which
# third-party headers. A room has one header that says what it offers, or one a
# concept, and one for its own files: X_internal.h, which no other room includes.
# No arrow goes round, neither between rooms nor between headers, and no room is
# a hall. In a build folder calls are checked, too, also between sources: a
# declaration in a lower room must not hide a function of a higher one. System
# headers are free.
. "$(dirname "$0")/lib.bash"

# room : rooms it may include (its own always) : third-party headers (prefixes)
# A name that ends in / stands for all rooms below it, too.
rooms='
core/lex             : :
core/base            : core/lex : cjson/ cJSON.h zlib.h
core/guard           : core/base :
core/turns           : core/base :
core/json            : core/base : cjson/ cJSON.h
core/stream          : core/base core/lex : zlib.h zstd.h
core/trace           : core/base :
core/record          : core/base :
core/read            : core/base core/stream core/trace : zlib.h
core/read/et         : core/base core/stream core/trace core/read :
core/read/nsys       : core/base : sqlite3.h
core/read/kineto     : core/base core/lex core/stream core/trace core/read :
core/read/chakra     : core/base core/stream core/trace core/read core/read/et : protobuf-c/ chakra.pb-c.h
core/link            : core/base core/trace :
core/match           : core/base core/trace :
core/fold            : core/base core/trace :
core/job             : core/base core/turns core/stream core/trace core/fold core/read/ core/link core/match :
core/lives           : core/base core/trace :
core/pipeline        : core/base :
core/memory          : core/base core/trace core/lives :
core/reshape         : core/base core/trace core/lives core/sizes :
core/sizes           : core/base core/trace core/lives :
core/rewrite         : core/base core/trace core/lives core/sizes core/pipeline core/rewrite/weave core/rewrite/split core/rewrite/meet core/rewrite/repeat :
core/rewrite/split   : core/base core/trace core/lives core/sizes core/pipeline core/rewrite/weave :
core/rewrite/meet    : core/base core/trace core/lives core/sizes core/rewrite/split core/rewrite/weave :
core/rewrite/repeat  : core/base core/trace core/lives core/rewrite/weave :
core/rewrite/weave   : core/base core/trace core/lives :
core/write_et        : core/base core/trace :
core/work            : core/base core/guard core/trace :
core/work/rules      : core/base core/trace core/work :
core/work/opmap      : core/base core/trace core/work core/work/rules :
core/work/kernel     : core/base core/trace core/work core/work/rules core/work/opmap :
core/graph           : core/base core/trace core/job :
core/graph/rules     : core/base core/trace core/job core/graph :
core/graph/contention : core/base core/trace core/graph core/graph/rules :
core/graph/build     : core/base core/trace core/job core/graph/ :
core/run             : core/base core/trace core/work core/graph :
core/report/analyse  : core/base core/guard core/trace core/job core/graph core/run :
core/report/columns  : core/base core/record core/report/analyse :
core/report/write    : core/base core/record core/guard core/trace core/read core/job core/report/analyse core/report/columns : zlib.h
core/report/usage    : core/base core/trace core/job core/graph core/report/analyse :
core/report/words    : core/base :
core/report/page     : core/base core/trace core/job core/graph core/report/analyse core/report/write : zlib.h
core/report/compare  : core/base core/record core/trace core/job core/report/analyse core/report/columns core/report/write :
core/report/markdown : core/base core/guard core/report/analyse core/report/write core/report/compare :
core/chakra          : core/base core/trace core/job core/read/chakra core/graph core/graph/build : protobuf-c/ chakra.pb-c.h
models/law           : core/base core/trace core/work : gsl/
models/forest        : core/base : gsl/
models/platform      : core/base core/json core/lex core/trace core/work models/law models/factor models/forest : gsl/
models/factor        : core/base core/trace core/work : cJSON.h cjson/ gsl/
models/estimate      : core/base core/guard core/trace core/work models/law models/factor models/platform : gsl/
models/host          : core/base core/trace core/work core/work/opmap models/platform models/estimate : gsl/
replay/program       : core/base core/trace core/lives :
replay/fold          : core/base core/trace core/lives replay/program :
replay/emit          : core/base core/trace core/lives replay/program replay/fold :
replay/fleet         : core/ :
replay/validate      : core/ :
replay/run           : core/base core/record core/trace core/work/ profilers profilers/ask replay/program :
predict              : core/ models/ predict/carry predict/memory predict/groups predict/learn predict/usage :
predict/usage        : core/ models/ :
predict/carry        : core/ models/ :
predict/groups       : core/ models/ :
predict/op           : core/ models/ :
predict/page         : core/ models/ predict predict/scenario :
predict/memory       : core/ models/ :
predict/whatif       : core/ models/ predict predict/carry :
predict/learn        : core/ models/ : cjson/ cJSON.h
predict/edit         : core/ models/ predict predict/groups :
plan/describe        : core/base core/guard core/json core/pipeline : cjson/ cJSON.h
plan/parts           : core/base core/trace core/work plan/describe :
plan/step            : core/base core/guard core/trace core/work models/platform models/estimate plan/describe plan/parts : cjson/ cJSON.h
plan/memory          : core/base core/trace core/work core/memory plan/describe plan/parts plan/step : cjson/ cJSON.h
plan/rows            : core/base core/record core/guard core/trace core/work core/memory core/report/compare core/report/write models/platform models/estimate plan/describe plan/parts plan/step plan/memory plan/simulate :
plan/search          : core/base core/guard core/json core/trace core/work core/memory models/platform models/estimate plan/describe plan/parts plan/step plan/memory : cjson/ cJSON.h
plan/traced          : core/ models/platform predict predict/memory predict/rows predict/scenario plan/describe plan/search plan/written :
plan/synth           : core/base core/trace core/write_et core/work core/pipeline plan/describe plan/parts :
plan/simulate        : core/ models/ predict plan/describe plan/synth plan/search :
plan/written         : core/base core/json core/memory core/reshape core/rewrite core/trace core/work models/platform models/estimate plan/describe plan/parts plan/step plan/memory plan/synth predict : cjson/ cJSON.h
plan/outcome         : core/base core/record core/guard core/memory core/report/page core/report/write plan/describe plan/parts plan/step plan/memory plan/search :
plan/whatif          : core/base core/guard core/json core/trace core/work core/memory core/report/markdown core/report/write models/platform models/estimate plan/describe plan/parts plan/step plan/memory plan/simulate plan/synth predict predict/scenario predict/scenario/list predict/write : cjson/ cJSON.h
predict/scenario     : core/ models/ predict predict/memory predict/whatif predict/edit predict/scenario/list : cjson/ cJSON.h
predict/scenario/list : core/base core/json : cjson/ cJSON.h
predict/write        : core/ models/ predict predict/scenario :
predict/rows         : core/ models/ predict predict/whatif predict/scenario : cjson/ cJSON.h
serving/draw         : core/base :
serving/log          : core/base core/json core/stream : cjson/ cJSON.h
serving/app          : core/base core/json plan/describe serving/draw serving/llm serving/log : cjson/ cJSON.h
serving/llm          : core/base core/json core/trace core/work models/platform models/estimate plan/describe plan/parts plan/step : cjson/ cJSON.h
serving/engine       : core/base serving/app serving/llm :
serving/sim          : core/base serving/draw serving/app serving/engine serving/llm :
serving/deploy       : core/base models/platform plan/describe serving/draw serving/app serving/engine serving/llm serving/sim :
serving/tune         : core/base serving/app serving/deploy serving/llm serving/log serving/sim serving/engine serving/draw :
serving/rows         : core/base core/guard core/turns models/platform plan/describe serving/llm serving/app serving/draw serving/engine :
serving/outcome      : core/base core/record core/turns core/report/write serving/draw serving/app serving/deploy serving/sim :
serving/plan         : core/base core/record core/turns core/json core/report/page core/report/write models/platform plan/describe plan/outcome serving/app serving/deploy serving/llm serving/outcome serving/sim : cjson/ cJSON.h
serving/explore      : core/base serving/draw serving/app :
serving/size         : core/base core/record serving/draw serving/app serving/explore serving/sim :
serving/apps         : core/base core/record core/turns core/json core/report/write serving/draw serving/app serving/deploy serving/sim serving/outcome : cjson/ cJSON.h
serving/counters     : core/base :
serving/watch        : core/base core/json models/forest serving/app serving/draw serving/counters : cjson/ cJSON.h
serving/learn        : core/base core/turns models/forest models/platform calibrate/stat serving/app serving/draw serving/sim serving/counters serving/watch : cjson/ cJSON.h
profilers            : core/base core/trace core/work :
profilers/ask        : core/base core/work profilers :
profilers/cpu        : core/base core/work profilers : cblas.h dnnl.h omp.h mpi.h
profilers/cuda       : core/base core/work profilers profilers/cuda/ : cuda cublas cudnn cupti nccl
profilers/cuda/cupti : core/base profilers : cuda cupti
profilers/cuda/kernels : core/base core/work profilers : cuda
calibrate/stat       : core/base models/forest : gsl/
calibrate/rows       : core/base core/work models/law calibrate/stat : gsl/
calibrate/fit        : core/base core/trace core/work models/law models/forest models/platform calibrate/stat calibrate/rows : gsl/
calibrate/collective : core/base core/work models/law models/forest models/platform calibrate/stat calibrate/rows calibrate/fit : gsl/
calibrate/platform   : core/base core/work models/ calibrate/stat calibrate/rows calibrate/fit calibrate/collective : gsl/
calibrate/factors    : core/base core/trace core/job core/work/ models/ : gsl/
calibrate/host       : core/base core/trace core/job core/work models/host calibrate/stat : gsl/
calibrate/measure    : core/base core/trace core/job core/work/ models/ profilers profilers/ask calibrate/stat : gsl/
calibrate/machine    : core/base core/stream core/work/ models/ profilers profilers/ask calibrate/stat calibrate/rows calibrate/fit calibrate/collective calibrate/platform calibrate/host calibrate/measure : gsl/
calibrate/steps      : core/base plan/ : gsl/
calibrate/serving    : core/base core/trace core/work models/platform models/estimate plan/describe serving/llm serving/rows calibrate/steps :
calibrate/programs   : core/ models/ predict profilers profilers/ask plan/ serving/llm serving/rows serving/app serving/draw serving/counters serving/watch serving/learn calibrate/ : gsl/ cjson/ cJSON.h
api                  : core/ models/ predict predict/op predict/scenario predict/whatif plan/written : cjson/ cJSON.h
cli                  : core/ models/ predict/ plan/written replay/ cli/capture : cjson/ cJSON.h zlib.h
cli/capture          : core/base :
cli/schema           : core/ cli :
cli/plan             : core/ models/ predict predict/page predict/scenario predict/write plan/ serving/plan cli :
cli/replay           : core/ models/ predict predict/rows predict/scenario profilers profilers/ask replay/ cli cli/plan : cjson/ cJSON.h
cli/platforms        : core/ models/ predict cli : cjson/ cJSON.h
cli/serving          : core/ models/ plan/describe predict serving/ cli cli/calibrate cli/plan :
cli/calibrate        : core/ models/ predict/ cli : cjson/ cJSON.h
tests                : core/ models/ predict predict/carry predict/edit predict/groups predict/learn predict/memory predict/op predict/page predict/rows predict/scenario predict/scenario/list predict/usage predict/whatif predict/write profilers/ calibrate/ replay/ plan/ serving/ cli/ tests/ : cuda cupti cublasLt.h cudnn.h nccl.h library_types.h cjson/ cJSON.h zlib.h zstd.h sqlite3.h gsl/ chakra.pb-c.h yajl/
'

# One file alone knows the streaming parser, so that it can be exchanged (tests
# hold us against it), and one the library that grows trees, so that all else
# builds without it.
homes='
yajl/    core/stream/json_sax.c
xgboost/ calibrate/stat/boost.c
'

third_party='^(sqlite3[.]h|cjson|cJSON|yajl|gsl|protobuf-c|chakra[.]pb-c|zlib[.]h|zconf[.]h|zstd[.]h|xgboost|cuda|nccl|cublas|cudnn|cupti|nvml|mpi[.]h|omp[.]h|cblas|dnnl)'

most_sources=16 # of a room; tests apart

# "FILE LINE < or \" HEADER" of every include.
includes() {
    project_files '*.c' '*.h' '*.cu' '*.cuh' | tr '\n' '\0' | xargs -0 awk '
        /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
            text = $0
            sub(/^[ \t]*#[ \t]*include[ \t]*/, "", text)
            kind = substr(text, 1, 1)
            text = substr(text, 2)
            sub(/[>"].*/, "", text)
            print FILENAME, FNR, kind, text
        }' | sed 's|^\./||'
}

judge() { # INCLUDES: a line for each that breaks a rule
    awk -v rooms="$rooms" -v homes="$homes" -v third_party="$third_party" '
        function room_of(path) {
            if (path ~ /^tests\//) return "tests"
            sub(/\/[^\/]*$/, "", path)
            return path
        }
        function allows(list, target,    n, part, i) {
            n = split(list, part, " ")
            for (i = 1; i <= n; i++)
                if (part[i] == target || (part[i] ~ /\/$/ &&
                    index(target "/", part[i]) == 1)) return 1
            return 0
        }
        function starts(list, header,    n, part, i) {
            n = split(list, part, " ")
            for (i = 1; i <= n; i++)
                if (index(header, part[i]) == 1) return 1
            return 0
        }
        function say(text) { print $1 ":" $2 ": " text ($5 ? ", which has " $5 : "") }
        BEGIN {
            n = split(rooms, line, "\n")
            for (i = 1; i <= n; i++) {
                if (split(line[i], column, ":") < 3) continue
                gsub(/[ \t]/, "", column[1])
                ours[column[1]] = column[2]
                theirs[column[1]] = column[3]
            }
            n = split(homes, word, /[ \t\n]+/)
            for (i = 1; i < n; i++)
                if (word[i] ~ /\/$/) home[word[i]] = word[i + 1]
        }
        { room = room_of($1); header = $4 }
        !(room in ours) { say("no line says what room \"" room "\" may include"); next }
        $3 == "\"" {
            if (header !~ /\//)
                say("\"" header "\" has no room, want \"room/" header "\"")
            else if ((getline dummy < header) < 0)
                say("\"" header "\" is no header of this project")
            else if (room_of(header) != room && !allows(ours[room], room_of(header)))
                say("\"" room "\" may not use \"" header "\", want one of:" ours[room])
            else if (header ~ /_internal[.]h$/ && room_of(header) != room && room != "tests")
                say("\"" header "\" is for its own room, want one that others may use")
            close(header)
            next
        }
        header ~ third_party {
            top = header; sub(/\/.*/, "/", top)
            if (!(top in home && home[top] == $1) && !starts(theirs[room], header))
                say("\"" room "\" may not include <" header ">, want one of:" theirs[room])
        }'
}

# Pairs "FROM TO" of what includes or calls what, without itself.
room_pairs() {
    awk '$3 == "\"" && $1 !~ /^tests\// {
        a = $1; b = $4
        sub(/\/[^\/]*$/, "", a); sub(/\/[^\/]*$/, "", b)
        if (a != b) print a, b }' | sort -u
}
file_pairs() {
    awk '$3 == "\"" && $1 != $4 { print $1, $4 }' | sort -u
}

circles() { # WHAT PAIRS
    local loops
    loops=$(tsort <<<"$2" 2>&1 >/dev/null | sed -n 's/^tsort: \([^-]\)/\1/p') ||
        true
    [ -z "$loops" ] || complain "$1 go round:" $loops
}

# "FILE - \" TARGET SYMBOL" of every symbol that one object of our libraries takes
# from another. File names are unique in the tree, so that an object's name
# tells its source.
calls() {
    {
        project_files '*.c' '*.cu' | grep -v '^tests/' | sed 's|.*/|& |; s|^|source |' |
            awk '{ print "source", $3, $2 $3 }'
        find "$BUILD_DIR" -name '*.a' -not -path '*/tests/*' -print0 |
            xargs -0 nm -A | sed 's|^[^:]*:||; s|\.o:| |'
    } | awk '
        $1 == "source" { path[$2] = $3; next }
        $NF !~ /^msim_/ || !($1 in path) { next }
        $(NF - 1) ~ /^[TDRB]$/ { home[$NF] = path[$1] }
        $(NF - 1) == "U" { user[path[$1] " " $NF] }
        END {
            for (pair in user) {
                split(pair, at, " ")
                if (at[2] in home && home[at[2]] != at[1])
                    print at[1], "-", "\"", home[at[2]], at[2]
            }
        }' | sort
}

all=$(includes)
count=$(wc -l <<<"$all")
[ "$count" -gt 100 ] || complain "$count includes found: is this the project?"
while IFS= read -r line; do
    [ -z "$line" ] || complain "$line"
done < <(judge <<<"$all")
circles rooms "$(room_pairs <<<"$all")"
circles headers "$(file_pairs <<<"$all")"
if [ -n "${BUILD_DIR:-}" ] && command -v nm >/dev/null; then
    all=$(calls)
    while IFS= read -r line; do
        [ -z "$line" ] || complain "$line"
    done < <(judge <<<"$all")
    circles "calls between rooms" "$(room_pairs <<<"$all")"
    circles "calls between sources" "$(file_pairs <<<"$all")"
fi
while read -r sources room; do
    [ "$sources" -le "$most_sources" ] ||
        complain "$room: $sources sources, want $most_sources at most"
done < <(project_files '*.c' '*.cu' | grep -v '^tests/' | xargs -n1 dirname |
    sort | uniq -c)

finish "arrows ($count includes)"
