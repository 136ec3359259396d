#!/usr/bin/env bash
# Who opens files: inputs through readers that note them (core/base/files_read.h),
# or an output could replace one; outputs as drafts (core/base/write_file.h), or
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
core/job/job_files.c             : notes folders that are given
core/job/comm_groups.c           : looks for lists of groups beside traces; notes the one it takes
core/job/memory.c                : /proc
models/platform/data_path.c      : names of files, for messages
plan/describe/describe.c         : names of files, for messages
plan/search/plan_parts.c         : parts, which are written again
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

allowed() { # FILE
    awk -v file="$1" '$1 == file && $2 == ":" { found = 1 }
        END { exit !found }' <<<"$openers"
}

# The lines that open something; a static function of that name is another.
judge() { # FILE
    local code names=$opens
    code=$(code_only "$1")
    ! grep -qE '^static .*[ *]open\(' <<<"$code" || names=${opens/|open|/|}
    grep -nE "$names" <<<"$code"
}

while IFS= read -r file; do
    allowed "$file" && continue
    while IFS=: read -r line _; do
        complain "$file:$line: opens a file: want a reader that notes it," \
            "core/base/write_file.h, or a reason in $(basename "$0")"
    done < <(judge "$file" || true)
done < <(project_files 'core/*.c' 'models/*.c' 'predict/*.c' 'plan/*.c' \
    'replay/*.c' 'calibrate/*.c' 'profilers/*.c' 'cli/*.c')

# The rule holds: a violation in each room is found.
for text in 'f = fopen(path, "w");' 'fd = open(path, O_RDONLY);' \
    'd = opendir (path);' 'if (rename(a, b))'; do
    [ -n "$(judge <(printf 'int x(void)\n{\n    %s\n}\n' "$text"))" ] ||
        complain "does not find '$text'"
done
while read -r file _; do
    [ -z "$file" ] || [ -f "$file" ] || complain "$file is not there"
done <<<"$openers"

finish files
