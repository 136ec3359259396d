#!/usr/bin/env bash
# Do the two commands of the README work on a Debian that has nothing? Makes
# one with debootstrap in a folder, copies a clone of the committed state into
# it, and runs both there: as root, who installs what is missing, and then as a
# user, who finds it there and has the clone by then, with what was built. Needs
# root, debootstrap, git and the network; takes some minutes and about 2 GB. Not
# part of the tests.
#
#   scripts/clean_debian_check.sh [DIR]   [default: a new folder, removed after]
#
# A given DIR is kept, and what is in it used again: its Debian as it was after
# debootstrap, its clone made anew. SUITE and MIRROR choose another Debian.
set -euo pipefail

suite=${SUITE:-bookworm}
mirror=${MIRROR:-http://deb.debian.org/debian}
root=$(cd "$(dirname "$0")/.." && pwd)

die() {
    echo "clean_debian_check.sh: $*" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || die "needs root (chroot)"
command -v debootstrap >/dev/null || die "no debootstrap: apt-get install it"

if [ $# -gt 0 ]; then
    mkdir -p "$1"
    dir=$(cd "$1" && pwd)
else
    dir=$(mktemp -d)
fi
clean=$dir/$suite
machine=$dir/machine

undo() {
    umount "$machine/dev/pts" "$machine/sys" "$machine/proc" 2>/dev/null || true
    rm -rf --one-file-system "$machine"
    [ $# -gt 0 ] || rm -rf --one-file-system "$dir"
}
# The arguments of the script, expanded now: is there a DIR to keep?
# shellcheck disable=SC2064
trap "undo ${1:+keep}" EXIT

[ -e "$clean/etc/debian_version" ] ||
    debootstrap --variant=minbase "$suite" "$clean" "$mirror" >"$dir/log" ||
    die "debootstrap failed: $dir/log"

cp -a "$clean" "$machine"
cp -L /etc/resolv.conf "$machine/etc/resolv.conf"
git clone --quiet "file://$root" "$machine/srv/mystique-sim"
# What any running Debian has: the sanitizers read their own memory map, Open
# MPI the caches, and the test of progress wants a terminal.
mount -t proc proc "$machine/proc"
mount -t sysfs -o ro sysfs "$machine/sys"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$machine/dev/pts"
ln -sf pts/ptmx "$machine/dev/ptmx"

inside() { # USER COMMAND...
    local user=$1
    shift
    chroot --userspec="$user" "$machine" env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C "$@"
}

try() { # USER
    local command start
    chroot "$machine" chown -R "$1" /srv/mystique-sim
    for command in demo test; do
        echo "== $1: ./scripts/$command.sh"
        start=$(date +%s)
        inside "$1" sh -c 'cd /srv/mystique-sim && "./scripts/$0.sh"' \
            "$command" || die "$1: ./scripts/$command.sh failed"
        echo "== $1: ./scripts/$command.sh: ok, $(($(date +%s) - start)) s"
    done
}

echo "Debian $(cat "$machine/etc/debian_version"), $(inside root sh -c \
    'dpkg -l | grep -c ^ii') packages, commit $(git -C "$root" \
    rev-parse --short HEAD)"
try root
try daemon
