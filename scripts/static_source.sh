#!/usr/bin/env bash
# What a static program needs and Debian has no library of: the source of cJSON,
# with Debian's patches, into FOLDER/cjson, and the licences of all that is linked
# in, into FOLDER/licences. Nothing is done twice.
#
#   scripts/static_source.sh FOLDER
#
# The source comes by apt-get, by a list of sources of its own: that of the machine
# stays as it is. Where there is no Debian, say CJSON_SOURCE=DIR of cJSON.c.
set -euo pipefail

folder=$(realpath -m -- "${1:?the folder to put it in}")
mkdir -p "$folder"

fail() {
    echo "static_source.sh: error: $*" >&2
    exit 1
}

# apt_get ARGUMENT...: with lists and caches in a folder of ours.
apt_get() {
    apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" \
        -o Dir::Etc::sourceparts=- -o Dir::State::lists="$apt/lists" \
        -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root "$@"
}

get_cjson() {
    local apt
    apt=$(mktemp -d)
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/source"
    # shellcheck disable=SC1091 # of the machine
    . /etc/os-release
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "http://deb.debian.org/debian ${VERSION_CODENAME:?} main" >"$apt/sources.list"
    apt_get update || fail "no list of Debian's sources to be had"
    (cd "$apt/source" && apt_get source cjson >/dev/null) ||
        fail "no source of cJSON to be had: want CJSON_SOURCE=DIR"
    rm -rf "$folder/cjson.new"
    mv "$apt"/source/cjson-*/ "$folder/cjson.new"
    mv "$folder/cjson.new" "$folder/cjson"
    rm -rf "$apt"
}

if [ -n "${CJSON_SOURCE:-}" ]; then
    [ -f "$CJSON_SOURCE/cJSON.c" ] || fail "$CJSON_SOURCE/cJSON.c is not there"
    mkdir -p "$folder/cjson"
    cp "$CJSON_SOURCE"/{cJSON.c,cJSON.h,LICENSE} "$folder/cjson"
elif [ ! -f "$folder/cjson/cJSON.c" ]; then
    command -v apt-get >/dev/null || fail "no apt-get: want CJSON_SOURCE=DIR of cJSON.c"
    command -v dpkg-source >/dev/null || fail "no dpkg-source (Debian: dpkg-dev)"
    get_cjson
fi

mkdir -p "$folder/licences"
cp "$folder/cjson/LICENSE" "$folder/licences/cjson.txt"
for package in libc6 libyajl2 libzstd1 zlib1g libprotobuf-c1 \
    libsqlite3-0; do
    copyright=/usr/share/doc/$package/copyright
    [ -s "$copyright" ] || fail "no $copyright: a licence of what is linked in"
    cp "$copyright" "$folder/licences/${package}.txt"
done
cat >"$folder/licences/README.txt" <<'END'
The program mystique-sim is linked with the libraries whose licences are here. The
GNU C Library is under the LGPL 2.1: you may link the program with another version
of it. Its complete source, with scripts/build_wheel.sh that links it, is public
under the Apache License 2.0; Debian has the sources of the libraries.
END
