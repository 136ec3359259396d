#!/usr/bin/env bash
# Who opens files: inputs through readers that note them (core/base/files.h),
# or an output could replace one; outputs as drafts (core/base/files.h), or
# they could be lost. All other places have a reason.
. "$(dirname "$0")/lib.bash"

# file : why
openers='
core/base/files_read.c           : reads again what was read
core/base/write_file.c           : drafts
core/base/write_folder.c         : looks for marks and old files
core/base/json.c                 : notes what it reads
core/base/csv.c                  : notes what it reads
core/stream/input.c              : what is a trace is noted by core/job
core/read/nsys/nsys.c            : what is a trace is noted by core/job
core/job/job_files.c             : notes folders that are given
core/job/comm_groups.c           : looks for lists of groups beside traces; notes the one it takes
core/stream/memory.c                : /proc
models/platform/data_path.c      : names of files, for messages
plan/describe/describe.c         : names of files, for messages
plan/search/plan_parts.c         : parts, which are written again
plan/describe/model_names.c         : finds the file of a model by its name
serving/counters/counters_read.c : notes what it reads; a stream that goes on is no file
calibrate/platform/platform_merge.c : a report that is brought up to date
calibrate/measure/journal.c      : is appended to, under a lock
calibrate/programs/fit_steps_fits.c  : reports of programs that fit
calibrate/programs/fit_steps_main.c  : reports of programs that fit
calibrate/programs/fit_shared_main.c : reports of programs that fit
profilers/host_metrics.c         : /proc
profilers/cpu/cpu_device.c       : /proc and /sys
profilers/cuda/cupti/cupti_counters.c : /proc
cli/capture/capture_model.c      : a folder of its own for temporary files
cli/main.c                       : stands in for closed streams
'
opens='(^|[^>._[:alnum:]])(fopen|freopen|gzopen|open|openat|creat|opendir|rename)[[:space:]]*\('

allowed=$(awk '$2 == ":" { print $1 }' <<<"$openers")

# FILE:LINE:CODE that opens something, of the code on standard input; a static
# function of that name is another.
judge() {
    awk -F: -v names="$opens" -v others="${opens/|open|/|}" '
        { text = substr($0, length($1 FS $2 FS) + 1) }
        text ~ /^static .*[ *]open\(/ { own[$1] = 1 }
        text ~ ($1 in own ? others : names)'
}

while IFS=: read -r file line _; do
    complain "$file:$line: opens a file: want a reader that notes it," \
        "core/base/files.h, or a reason in $(basename "$0")"
done < <(library_rooms | sed 's|$|/*.c|' | cat - <(echo 'cli/*.c') |
    of_files bash -c '. tests/lint/lib.bash; project_files "$@"' files |
    grep -vxF "$allowed" | code_lines | judge)

# The rule holds: a violation in each room is found.
for text in 'f = fopen(path, "w");' 'fd = open(path, O_RDONLY);' \
    'd = opendir (path);' 'if (rename(a, b))'; do
    [ -n "$(judge <<<"plan/x.c:3:    $text")" ] ||
        complain "does not find '$text'"
done
while read -r file _; do
    [ -z "$file" ] || [ -f "$file" ] || complain "$file is not there"
done <<<"$openers"

finish files
