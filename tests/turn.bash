# Shared by tests that take long, such as refits of whole tables.
#
#   in_turn             CI runs it for one commit of ten
#   sanitized_in_turn   so it does under sanitizers, and always without
#
# MSIM_TURN is a digit, of the commit (scripts/test.sh): tests whose name has it run.
# Without it all do, as in scripts/test.sh --all.

in_turn() {
    local name
    name=$(basename "$(dirname "$0")").$(basename "$0" .sh)
    if [ -n "${MSIM_TURN:-}" ] &&
        [ $(($(cksum <<<"$name" | cut -d' ' -f1) % 10)) -ne "$MSIM_TURN" ]; then
        echo "another commit's turn, or that of scripts/test.sh --all: skipped"
        exit 77
    fi
}

sanitized_in_turn() {
    [ "${MSIM_SANITIZE:-0}" != 1 ] || in_turn
}
