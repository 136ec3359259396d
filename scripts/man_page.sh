#!/usr/bin/env bash
# The man page out of the program's own --help texts, so that it cannot differ
# from them: man_page.sh PROGRAM > mystique-sim.1
set -euo pipefail

program=${1:?the program}

# Preformatted text: roff's own signs escaped.
text() {
    echo '.nf'
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
    echo '.fi'
}

verbs() {
    "$program" --help | awk '/^verbs:/ { on = 1; next } on && NF == 0 { exit }
                             on && /^  [a-z]/ { print $1 }'
}

version=$("$program" predict --version)
echo ".TH MYSTIQUE\\-SIM 1 \"\" \"$version\" \"User Commands\""
echo '.SH NAME'
echo 'mystique\-sim \- predict the run time of PyTorch jobs from their traces'
echo '.SH SYNOPSIS'
"$program" --help | sed -n '/^usage: /,/^$/p' | sed 's/^usage: /       /' | text
echo '.SH DESCRIPTION'
"$program" --help | sed '1,/^$/d; /^options of predict:/,$d' | text
for verb in $(verbs); do
    [ "$verb" != help ] || continue
    echo ".SH ${verb^^}"
    "$program" "$verb" --help | text
done
