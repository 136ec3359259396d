#!/usr/bin/env bash
# The steps of docs/tutorials/compare_action.yml, but what it installs, in a
# repository whose pull request records another job than its base.
. "$(dirname "$0")/lib.bash"

command -v git >/dev/null || { echo "no git: skipped" && exit 77; }
command -v python3 >/dev/null || { echo "no python3: skipped" && exit 77; }
traces=${SOURCE_DIR:?}/data/traces
workflow=$SOURCE_DIR/docs/tutorials/compare_action.yml

# The script of a step, as a runner would start it.
script() { # NAME
    awk -v name="$1" '/^ +- / { at = $0 ~ "name: " name "$"; run = 0 }
        at && run { sub(/^ {10}/, ""); print }
        at && /^ +run: \|$/ { run = 1 }' "$workflow"
}

git_here() {
    git -C "$folder/repository" -c user.name=a -c user.email=a@b -c commit.gpgsign=false "$@" >/dev/null 2>&1
}
records() { # JOB: a commit whose record_step.py writes that sample's trace
    echo "import shutil, sys; shutil.copytree('$traces/$1', sys.argv[1])" \
        >"$folder/repository/record_step.py"
    git_here add . && git_here commit -m "$1" || complain "cannot commit"
}

# The pull request: what it exits with, and its table in the summary.
pull() { # BEFORE AFTER
    last="the pull request from $1 to $2"
    rm -rf "$folder/repository" "$folder/temp" "$folder/bin"
    mkdir "$folder/repository" "$folder/temp" "$folder/bin"
    ln -s "$sim" "$folder/bin/mystique-sim"
    git_here init || complain "cannot begin a repository"
    records "$1"
    base=$(git -C "$folder/repository" rev-parse HEAD)
    records "$2"
    rc=0
    for step in record compare; do
        [ -n "$(script $step)" ] || complain "the workflow has no step '$step'"
        (cd "$folder/repository" && BASE=$base RUNNER_TEMP=$folder/temp \
            GITHUB_STEP_SUMMARY=$folder/temp/summary.md PATH=$folder/bin:$PATH \
            bash -e -c "$(script $step)") >"$folder/out" 2>"$folder/err" || rc=$?
        out=$(cat "$folder/out") err=$(cat "$folder/err")
    done
    grep -q '^| period | ' "$folder/temp/summary.md" || complain "no table: $err"
}

pull gpt2 vit
want_rc 0
want_err "check passed"
pull vit gpt2
want_rc 1
want_err "check failed"
finish
