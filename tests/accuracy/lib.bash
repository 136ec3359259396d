# Shared by the tests over real traces: skip where something is missing.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../turn.bash"

if [ -z "${MSIM_TRACES:-}" ]; then
    echo "no folder of real traces (CMake variable MSIM_TRACES): skipped"
    exit 77
fi
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
source_dir=${SOURCE_DIR:?the source folder}

dependencies() {
    python3 "$source_dir/scripts/accuracy/dependencies.py" "$@" \
        --traces "$MSIM_TRACES" --build "${BUILD_DIR:?the build folder}"
}
