#!/usr/bin/env bash
# Platform and host files: every parameter says where it came from. Rows of
# operators are in order, each name once, and their words have a page. Rows of
# kernels are in order, with unit and source.
. "$(dirname "$0")/lib.bash"

if ! command -v python3 >/dev/null; then
    echo "no python3: skipped"
    exit 77
fi
python3 scripts/check_data.py
scripts/platform_names.py --check
mapfile -t tables < <(project_files 'data/ops/*.csv' | grep -v '/example\.csv$')
python3 cmake/ops_rows.py core/work/rules/opmap_rules.h --check "${tables[@]}"
python3 cmake/kernel_rows.py --check data/laws/kernels.csv
python3 cmake/stack_rows.py --check data/laws/stacks.csv
for word in $(sed -n '/MSIM_RULE_MAP(X)/,/^$/s/^    X(\([a-z_]*\),.*/\1/p' \
    core/work/rules/opmap_rules.h) \
    $(sed -n '/MSIM_FLAG_MAP(X)/,/^$/s/^    X([A-Z_]*, "\([a-z_]*\)".*/\1/p' \
        core/work/rules/opmap_rule.h); do
    grep -q "\`$word\`" docs/operators.md ||
        complain "docs/operators.md does not say what '$word' means"
done
finish data
