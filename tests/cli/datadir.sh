#!/usr/bin/env bash
# Where data are looked for: in MSIM_DATA, beside the program as it is installed and as it
# is built, and in the sources that it was built from.
. "$(dirname "$0")/lib.bash"

# A folder with one platform of a name of its own.
place() { # FOLDER
    mkdir -p "$1/platforms"
    cp "${MSIM_DATA:?}/platforms/t4.json" "$1/platforms/$2.json"
}
mkdir "$folder/bin"
cp "$sim" "$folder/bin/program"
sim=$folder/bin/program
sources=$(ls "$MSIM_DATA/platforms" | grep -c 'json$')

listed() { # NAME: of the one platform that is found
    run platforms
    want_rc 0
    want_out "$1"
}
MSIM_DATA='' run platforms --json
want_rc 0
[ "$(grep -o '"name": ' <<<"$out" | wc -l)" -ge "$sources" ] || complain "not those of the sources: $out"
place "$folder/data" built
MSIM_DATA='' listed built
place "$folder/share/mystique-sim" installed
MSIM_DATA='' listed installed
place "$folder/mine" mine
MSIM_DATA=$folder/mine listed mine
for wrong in "$folder" "$folder/absent" "$folder/mine/platforms/mine.json"; do
    MSIM_DATA=$wrong run platforms
    want_rc 2
    want_err "the environment's MSIM_DATA is '$wrong', want a folder that holds platforms/"
done
finish
