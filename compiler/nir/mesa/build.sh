#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetch the pinned Mesa and build its NIR and SPIR-V front end as one static library.
#
# Prints what it does on standard error and, as its only standard output, the directory that holds the result:
#   src/              the unpacked release, with fixups.py applied
#   build/            Mesa's build tree: generated headers
#   lib/libmesa_nir.a the library
#   cflags            the preprocessor flags that Mesa's headers need, one a line
# A second run finds the result and does nothing. What it reads from the environment:
#   CORTLAND_MESA_TARBALL  use this release tarball instead of fetching it (its checksum must match all the same)
#   CORTLAND_TARGET_DIR, CARGO_TARGET_DIR  where to build; default: target/ at the top of the tree
#   CORTLAND_APT_ETC       read the machine's apt lists from here; default: /etc/apt
#   NUM_JOBS               compiler processes at a time; default: ninja's choice
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)

say() { printf 'mesa: %s\n' "$*" >&2; }
die() { printf 'mesa: error: %s\n' "$*" >&2; exit 1; }
need() { command -v "$1" >/dev/null || die "$1 is missing: run ./x setup, or install the packages in $here/packages.txt"; }
pin() { sed -n "s/^$1=//p" "$here/pin"; }

version=$(pin version)
sha256=$(pin sha256)
suite=$(pin suite)
[ -n "$version" ] && [ -n "$sha256" ] && [ -n "$suite" ] || die "$here/pin lacks version, sha256 or suite"

# Everything that can be off is off: no drivers, no window systems, no LLVM, no optional library.
# NDEBUG drops Mesa's debug code; guard/assert.h keeps its assertions, as errors.
options=(
  --buildtype=release --wrap-mode=nodownload --auto-features=disabled
  -Doptimization=2 -Db_ndebug=true -Db_staticpic=true -Ddefault_library=static
  -Dplatforms= -Dgallium-drivers= -Dvulkan-drivers= -Dvulkan-layers= -Dvideo-codecs= -Dtools=
  -Dopengl=false -Dgles1=disabled -Dgles2=disabled -Dglx=disabled -Degl=disabled -Dgbm=disabled
  -Dshared-glapi=disabled -Dllvm=disabled -Dmicrosoft-clc=disabled -Dvalgrind=disabled -Dlibunwind=disabled
  -Dlmsensors=disabled -Dshader-cache=disabled -Dxmlconfig=disabled -Dexpat=disabled -Dzlib=disabled
  -Dzstd=disabled -Dbuild-tests=false
)
parts=(
  src/compiler/spirv/libvtn.a src/compiler/nir/libnir.a src/compiler/libcompiler.a src/util/libmesa_util.a
  src/util/libmesa_util_sse41.a src/util/blake3/libblake3.a src/c11/impl/libmesa_util_c11.a
)

target=${CORTLAND_TARGET_DIR:-${CARGO_TARGET_DIR:-$top/target}}
mkdir -p "$target/mesa"
root=$(cd "$target/mesa" && pwd -P)

need sha256sum
need cc
# The name of the result says everything that it depends on.
key=$( { printf '%s\n' "$version" "$sha256" "${options[@]}" "${parts[@]}" "$(cc -dumpmachine)"
         cat "$here/fixups.py" "$here/guard/assert.h"; } | sha256sum | cut -c1-10)
out=$root/$version-$key

finish() { printf '%s\n' "$out"; exit 0; }
[ -e "$out/stamp" ] && finish

need flock
exec 9>"$root/lock"
flock -n 9 || { say "waiting for another build in $root"; flock 9; }
[ -e "$out/stamp" ] && finish

for tool in python3 ninja flex bison c++ tar xz; do need "$tool"; done

check_sum() { # file, whether it is ours to delete
  local got
  got=$(sha256sum "$1" | cut -d' ' -f1)
  [ "$got" = "$sha256" ] && return
  if [ "$2" = ours ]; then rm -f "$1"; fi
  die "wrong checksum: $1
  expected $sha256
  got      $got"
}

fetch() { # destination file
  command -v apt-get >/dev/null ||
    die "no apt here to fetch Mesa $version with: set CORTLAND_MESA_TARBALL to its source tarball"
  local apt=$root/apt mirror key wanted opts
  while IFS=$'\t' read -r mirror key; do
    rm -rf "$apt"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/source"
    [ "$key" != - ] || key=/usr/share/keyrings/debian-archive-keyring.gpg
    printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
      "$mirror" "$suite" "$key" >"$apt/mesa.sources"
    # Only these lists and caches are used: the system's own stay as they are.
    opts=(-o "Dir::Etc::sourcelist=$apt/mesa.sources" -o Dir::Etc::sourceparts=/dev/null
          -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Acquire::Retries=3
          -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none -q)
    say "reading $suite's source list through the machine's mirror"
    apt-get "${opts[@]}" update >&2 || { say "this mirror does not serve $suite; trying the next"; continue; }
    wanted=$(apt-cache "${opts[@]}" showsrc --only-source mesa 2>/dev/null |
             sed -n "s/^Version: \($version-.*\)/\1/p" | head -n1)
    [ -n "$wanted" ] || { say "this mirror has no mesa $version; trying the next"; continue; }
    say "fetching the source tarball of mesa $wanted"
    (cd "$apt/source" && apt-get "${opts[@]}" source --download-only --tar-only "mesa=$wanted" >&2) || continue
    mv "$apt/source/mesa_$version.orig.tar.xz" "$1"
    rm -rf "$apt"
    return
  done < <(python3 "$here/apt_mirrors.py" "${CORTLAND_APT_ETC:-/etc/apt}")
  die "no mirror that apt is configured with serves the source of mesa $version ($suite):
  set CORTLAND_MESA_TARBALL to its source tarball"
}

if [ -n "${CORTLAND_MESA_TARBALL:-}" ]; then
  tarball=$CORTLAND_MESA_TARBALL
  [ -f "$tarball" ] || die "CORTLAND_MESA_TARBALL names no file: $tarball"
  say "using $tarball"
  check_sum "$tarball" theirs
else
  tarball=$root/mesa-$version.tar.xz
  if [ ! -f "$tarball" ]; then
    fetch "$tarball.part"
    mv "$tarball.part" "$tarball"
  fi
  check_sum "$tarball" ours
fi

# The system's meson if it is new enough and its Python has what Mesa's generators import; else a private one.
new_enough() {
  command -v meson >/dev/null && python3 -c 'import mako, yaml, packaging' 2>/dev/null &&
    [ "$(printf '%s\n' 1.1.0 "$(meson --version)" | sort -V | head -n1)" = 1.1.0 ]
}
if new_enough; then
  say "using the system's meson $(meson --version)"
else
  venv=$root/venv
  if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    say "installing meson into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" >&2
    cp "$here/requirements.txt" "$venv/"
  fi
  export PATH=$venv/bin:$PATH
fi

say "unpacking Mesa $version"
rm -rf "$out"
mkdir -p "$out/src"
tar -xf "$tarball" -C "$out/src" --strip-components=1
python3 "$here/fixups.py" "$out/src"

say "configuring"
meson setup "$out/build" "$out/src" "${options[@]}" \
  -Dc_args="-I$here/guard" -Dcpp_args="-I$here/guard" >"$out/meson.log" 2>&1 ||
  { cat "$out/meson.log" >&2; die "meson failed: see $out/meson.log"; }

say "compiling (about two minutes on two cores)"
have=$(ninja -C "$out/build" -t targets all | sed -n 's/: STATIC_LINKER$//p')
build=()
for part in "${parts[@]}"; do
  # Not every part exists on every architecture.
  if grep -qxF "$part" <<<"$have"; then build+=("$part"); fi
done
ninja -C "$out/build" ${NUM_JOBS:+-j"$NUM_JOBS"} "${build[@]}" >&2

# One ordinary archive instead of several thin ones, which not every linker that Rust uses can read.
mkdir -p "$out/lib"
{
  echo "CREATE $out/lib/libmesa_nir.a"
  for part in "${build[@]}"; do echo "ADDLIB $out/build/$part"; done
  echo SAVE
  echo END
} | ar -M
# Mesa bundles BLAKE3, and so does the crate of that name, under the same symbols: rename Mesa's.
nm -g "$out/lib/libmesa_nir.a" 2>/dev/null | sed -n 's/.* \(_\?blake3_[A-Za-z0-9_]*\)$/\1 mesa_\1/p' | sort -u >"$out/renames"
objcopy --redefine-syms="$out/renames" "$out/lib/libmesa_nir.a"

# The flags that decide what Mesa's headers mean, for the shim and for bindgen.
ninja -C "$out/build" -t compdb | python3 -c '
import json, shlex, sys
for entry in json.load(sys.stdin):
    if entry["file"].endswith("/nir/nir.c"):
        flags = shlex.split(entry["command"])
        print("\n".join(f for f in flags if f[:2] in ("-D", "-U") or f.startswith("-std=")))
        break
else:
    sys.exit("nir.c is not in the compilation database")
' >"$out/cflags"

touch "$out/stamp"
for old in "$root"/[0-9]*; do
  if [ "$old" != "$out" ] && [ -d "$old" ]; then say "removing the build of an older pin: $old"; rm -rf "$old"; fi
done
say "done: $out"
finish
