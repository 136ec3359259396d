#!/usr/bin/env bash
# Debian packages, into dist/: of what predicts mystique-sim (the program),
# mystique-sim-data (platforms, laws, samples), libmystique0 and libmystique-dev; of
# what times machines and fits mystique-sim-fitting and, with a CUDA toolkit,
# mystique-sim-cuda.
#
#   scripts/build_deb.sh [OPTION OF CMAKE...]     DIST=FOLDER [default: dist]
#
# Wants what the predictor is built with (scripts/setup.sh --predictor), dpkg-dev
# and fakeroot. What fits is built where its libraries are (scripts/setup.sh),
# unless an option says -DMSIM_FITTING=OFF. lintian looks at the packages where it is there: an error of its is
# one. MAINTAINER ("Name <address>") stands in them, else git's user.
set -euo pipefail

cd "$(dirname "$0")/.."
root=$PWD
dist=$(realpath -m -- "${DIST:-dist}")
build=$root/build-deb
stage=$build/stage
log=$build/log

fail() {
    echo "build_deb.sh: error: $*" >&2
    exit 1
}

for tool in dpkg-shlibdeps dpkg-deb fakeroot; do
    command -v $tool >/dev/null || fail "no $tool (Debian: dpkg-dev fakeroot)"
done
version=$(sed -n 's/^project(mystique-sim VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
revision=$version-1
architecture=$(dpkg --print-architecture)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
maintainer=${MAINTAINER:-$(git config user.name || echo mystique-sim) <$(
    git config user.email || echo mystique-sim@localhost)>}
date=$(date -R -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null ||
    date +%s)}")

mkdir -p "$build"
# With Debian's hardening; relative to the tree, so that no path of ours is kept.
for flags in CFLAGS CPPFLAGS LDFLAGS; do
    value=$(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get $flags)
    export $flags="$value"
done
fits=OFF
if pkg-config --exists gsl xgboost; then
    fits=ON
else
    echo "no GSL or no XGBoost (scripts/setup.sh): no mystique-sim-fitting"
fi
# Libraries are where the loader looks: NVIDIA's packages of CUDA tell it.
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DMSIM_FITTING=$fits \
    -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_INSTALL_RPATH=ON \
    -DCMAKE_INSTALL_LIBDIR="lib/$multiarch" "$@" >"$log" ||
    fail "not configured: $(tail -5 "$log")"
has_target() {
    grep -q "/$1\.dir\$" "$build/CMakeFiles/TargetDirectories.txt"
}
parts=()
targets=(mystique-sim man_page mystique)
for name in msim-calibrate msim-learn mystique-prof-cpu mystique-prof-mpi; do
    has_target "$name" && targets+=("$name") && parts=(fitting)
done
if has_target mystique-prof-cuda; then
    targets+=(mystique-prof-cuda mystique-cupti)
    parts+=(cuda)
elif [ ${#parts[@]} -gt 0 ]; then
    echo "no mystique-sim-cuda:" \
        "$(grep -m1 -oE '(No C|CUDA [0-9]).* not built' "$log" || echo "no CUDA toolkit")"
fi
cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}" >>"$log" ||
    fail "not built: $(tail -5 "$log")"

# ---- what goes where -----------------------------------------------------------

rm -rf "$stage" && mkdir -p "$stage" "$dist"
install_into() { # PACKAGE COMPONENT...
    local package=$1 component
    shift
    for component in "$@"; do
        DESTDIR=$stage/$package cmake --install "$build" --strip \
            --component "$component" >>"$log"
    done
}
install_into mystique-sim predictor
install_into mystique-sim-data samples
install_into libmystique0 library
install_into libmystique-dev development
for part in "${parts[@]}"; do
    install_into "mystique-sim-$part" "$part"
done
program=$stage/mystique-sim/usr data=$stage/mystique-sim-data/usr
# Data of the program and the library; scripts stay with the program.
mkdir -p "$data/share/mystique-sim" "$data/share/doc/mystique-sim-data/examples"
for folder in platforms laws hosts networks ops models; do
    mv "$program/share/mystique-sim/$folder" "$data/share/mystique-sim"
done
mv "$data/share/doc/mystique-sim/data"/* "$data/share/doc/mystique-sim-data/examples"
rm -rf "$data/share/doc/mystique-sim" "$program/share/doc"
find "$program" -name __pycache__ -prune -exec rm -rf {} +
gzip -9n "$program/share/man/man1/mystique-sim.1"
# The name without a number is for those who link.
if [ -L "$stage/libmystique0/usr/lib/$multiarch/libmystique.so" ]; then
    mkdir -p "$stage/libmystique-dev/usr/lib/$multiarch"
    mv "$stage/libmystique0/usr/lib/$multiarch/libmystique.so" \
        "$stage/libmystique-dev/usr/lib/$multiarch"
fi

# ---- what is said of them --------------------------------------------------------

# depends_of FILE...: packages of the shared libraries that they want. What is no
# package, as CUDA in /usr/local, is none.
depends_of() {
    local at folder folders=()
    at=$(mktemp -d)
    mkdir "$at/debian" && : >"$at/debian/control"
    for folder in $(sed -nE 's/^MSIM_[A-Z]+_LIBRARY:FILEPATH=(.*)\/[^/]+$/-l\1/p' \
        "$build/CMakeCache.txt" | sort -u); do
        folders+=("$folder")
    done
    (cd "$at" && dpkg-shlibdeps --ignore-missing-info "${folders[@]}" -O "$@" \
        2>"$at/log") | sed -n 's/^shlibs:Depends=//p'
    ! grep 'error:' "$at/log" || fail "no dependencies of $*"
    rm -rf "$at"
}

documents() { # PACKAGE
    local doc=$stage/$1/usr/share/doc/$1
    mkdir -p "$doc"
    {
        echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
        echo "Upstream-Name: mystique-sim"
        echo
        echo "Files: *"
        echo "Copyright: the authors of mystique-sim"
        echo "License: Apache-2.0"
        echo " On Debian systems the Apache License 2.0 is in"
        echo " /usr/share/common-licenses/Apache-2.0."
        echo "Comment:"
        sed 's/^$/./; s/^/ /' NOTICE
    } >"$doc/copyright"
    printf 'mystique-sim (%s) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' \
        "$revision" "Packages of version $version; see CHANGELOG.md." \
        "$maintainer" "$date" | gzip -9n >"$doc/changelog.Debian.gz"
}

# package NAME ARCHITECTURE SECTION DEPENDS SUMMARY, its description on input
package() {
    local name=$1 folder=$stage/$1 file
    documents "$name"
    mkdir -p "$folder/DEBIAN"
    {
        echo "Package: $name"
        echo "Source: mystique-sim"
        echo "Version: $revision"
        echo "Architecture: $2"
        echo "Maintainer: $maintainer"
        echo "Installed-Size: $(du -sk --exclude=DEBIAN "$folder" | cut -f1)"
        [ -z "$4" ] || echo "Depends: $4"
        [ "$name" != mystique-sim ] || echo "Recommends: gnuplot-nox | gnuplot"
        [ "$name" != mystique-sim ] || echo "Suggests: python3"
        echo "Section: $3"
        echo "Priority: optional"
        case $name in lib*) echo "Multi-Arch: same" ;; *-data) echo "Multi-Arch: foreign" ;; esac
        echo "Description: $5"
        sed 's/^$/./; s/^/ /'
    } >"$folder/DEBIAN/control"
    if [ "$name" = libmystique0 ]; then
        echo "libmystique 0 libmystique0 (>= $version)" >"$folder/DEBIAN/shlibs"
    fi
    case $name in
    libmystique0 | *-cuda)
        echo "activate-noawait ldconfig" >"$folder/DEBIAN/triggers"
        ;;
    esac
    (
        cd "$folder"
        find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums
    )
    find "$folder" -type d -exec chmod 755 {} +
    find "$folder" -type f -exec chmod u=rwX,go=rX {} +
    fakeroot dpkg-deb --build --root-owner-group "$folder" "$dist" >/dev/null
}

describe() { # PART
    if [ "$1" = fitting ]; then
        cat <<'END'
What "mystique-sim calibrate" and "learn" start: programs that time a CPU, fit
a platform of your own to measured times, and grow the trees of "watch". Those
that link the GNU Scientific Library may be passed on under the GPL, version 3.
END
    else
        cat <<'END'
Times experiments on NVIDIA GPUs for "mystique-sim calibrate", and records what
a CUDA program does. CUDA's libraries are NVIDIA's: the loader must find those of
the version that this was built with.
END
    fi
}

package mystique-sim "$architecture" science \
    "$(depends_of "$program/bin/mystique-sim"), mystique-sim-data (= $revision)" \
    "GPU performance model and what-if simulator" <<'END'
Predicts how long a PyTorch job takes on a GPU, and why, from the execution
traces that PyTorch records: with intervals, and without a GPU. Changes to a
job, plans of GPUs and applications under load are predicted, too.
END
package mystique-sim-data all science "" \
    "GPU performance model and what-if simulator (data)" <<'END'
Platforms, hosts, networks, laws and described models that mystique-sim and
libmystique predict with, and sample traces.
END
package libmystique0 "$architecture" libs \
    "$(depends_of "$(echo "$stage/libmystique0/usr/lib/$multiarch"/libmystique.so.*.*.*)"), mystique-sim-data (= $revision)" \
    "GPU performance model and what-if simulator (library)" <<'END'
Predictions of mystique-sim inside a program: a job is loaded once and
predicted from as often as wanted.
END
package libmystique-dev "$architecture" libdevel "libmystique0 (= $revision)" \
    "GPU performance model and what-if simulator (development)" <<'END'
Header, pkg-config file and CMake package of libmystique.
END

made=("$dist"/{mystique-sim_"$revision"_"$architecture",mystique-sim-data_"$revision"_all,libmystique0_"$revision"_"$architecture",libmystique-dev_"$revision"_"$architecture"}.deb)
for part in "${parts[@]}"; do
    mapfile -t files < <(find "$stage/mystique-sim-$part/usr" -type f)
    package "mystique-sim-$part" "$architecture" \
        "$([ $part = cuda ] && echo contrib/)science" \
        "$(depends_of "${files[@]}"), mystique-sim (= $revision)" \
        "GPU performance model and what-if simulator ($part)" < <(describe "$part")
    made+=("$dist/mystique-sim-${part}_${revision}_$architecture.deb")
done
if command -v lintian >/dev/null; then
    lintian --fail-on error "${made[@]}" || fail "lintian has errors"
else
    echo "no lintian: not looked at"
fi
ls -l "${made[@]}"
