#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetch the pinned Mesa and build its NIR and SPIR-V front end as one static library.
#
# Prints what it does on standard error and, as its only standard output, the directory that holds the result:
#   src/              the unpacked release, with fixups.py applied
#   build/            Mesa's build tree: generated headers
#   guard/            the header that Mesa was built with instead of the C library's <assert.h>
#   lib/libmesa_nir.a the library
#   cflags            the preprocessor flags that Mesa's headers need, one a line
#   implied           the capabilities that a capability of SPIR-V implies, as numbers: "capability implied", one a line
#   stamp             a hash of everything that went in
# A second run finds the result and does nothing. What it reads from the environment:
#   CORTLAND_MESA_TARBALL  use this release tarball (an absolute path) instead of fetching it; its checksum must match
#   CORTLAND_OFFLINE       if not empty: fail rather than fetch anything
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

case ${CORTLAND_MESA_TARBALL:-/} in
  /*) ;;
  *) die "CORTLAND_MESA_TARBALL must be an absolute path, not $CORTLAND_MESA_TARBALL" ;;
esac
offline=${CORTLAND_OFFLINE:-}

version=$(pin version)
sha256=$(pin sha256)
suite=$(pin suite)
[ -n "$version" ] && [ -n "$sha256" ] && [ -n "$suite" ] || die "$here/pin lacks version, sha256 or suite"

# Every option that can be off is off: no drivers, no window systems, no LLVM, no optional library.
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
# What the result depends on: the release, the machine, and all that is done to it.
hash=$( { cc -dumpmachine; cat "$here/pin" "${BASH_SOURCE[0]}" "$here/fixups.py" "$here/guard/assert.h"; } |
        sha256sum | cut -d' ' -f1)
out=$root/$version-${hash:0:10}

finish() { printf '%s\n' "$out"; exit 0; }
done_before() { [ "$(cat "$out/stamp" 2>/dev/null)" = "$hash" ]; }
if done_before; then
  touch -c "$out/stamp" 2>/dev/null || true # It is in use: see the end.
  finish
fi

need flock
exec 9>"$root/lock"
flock -n 9 || { say "waiting for another build in $root"; flock 9; }
if done_before; then finish; fi

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
  [ -z "$offline" ] || die "offline, and no tarball of Mesa $version: set CORTLAND_MESA_TARBALL (meson: -Dmesa-tarball)"
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
    [ -z "$offline" ] || die "offline, and no meson that can build Mesa $version: install meson 1.1 or newer and the
  Python modules mako, yaml and packaging (found: meson $(meson --version 2>/dev/null || echo none))"
    say "installing meson into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: \
      -r "$here/requirements.txt" >&2
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
cp -r "$here/guard" "$out/guard"
# As meson writes lists, so that the path may hold anything.
guard=${out//\\/\\\\}
guard="['-I${guard//\'/\\\'}/guard']"
meson setup "$out/build" "$out/src" "${options[@]}" -Dc_args="$guard" -Dcpp_args="$guard" >"$out/meson.log" 2>&1 ||
  { cat "$out/meson.log" >&2; die "meson failed: see $out/meson.log"; }

say "compiling (about two minutes on two cores)"
have=$(ninja -C "$out/build" -t targets all | sed -n 's/: STATIC_LINKER$//p')
build=()
for part in "${parts[@]}"; do
  # Not every part exists on every architecture.
  if grep -qxF "$part" <<<"$have"; then build+=("$part"); fi
done
ninja -C "$out/build" ${NUM_JOBS:+-j"$NUM_JOBS"} "${build[@]}" >&2

# One ordinary archive instead of several thin ones, which not every linker that Rust uses can read. ar's language has
# no quotes: paths are relative.
mkdir -p "$out/lib"
(
  cd "$out"
  {
    echo "CREATE lib/libmesa_nir.a"
    for part in "${build[@]}"; do echo "ADDLIB build/$part"; done
    echo SAVE
    echo END
  } | ar -M
)
{
  # Mesa bundles BLAKE3, and so does the crate of that name, under the same symbols: rename Mesa's.
  nm -g "$out/lib/libmesa_nir.a" 2>/dev/null | sed -n 's/.* \(_\?blake3_[A-Za-z0-9_]*\)$/\1 mesa_\1/p' | sort -u
  # Allocations go through the guard (shim/guard.h) ...
  for name in malloc calloc realloc strdup strndup open_memstream; do echo "$name cortland_$name"; done
  echo "free cortland_mesa_free"
  echo "pthread_once cortland_pthread_once"
  # ... and code that would pass memory of the C library's to that free() does not link.
  for name in aligned_alloc asprintf getcwd getline memalign posix_memalign realpath reallocarray scandir vasprintf; do
    echo "$name cortland_has_no_$name"
  done
} >"$out/renames"
objcopy --redefine-syms="$out/renames" "$out/lib/libmesa_nir.a"

python3 - "$out/src/src/compiler/spirv/spirv.core.grammar.json" >"$out/implied" <<'PYTHON'
import json, sys
kinds = json.load(open(sys.argv[1], encoding="utf-8"))["operand_kinds"]
table = next(kind["enumerants"] for kind in kinds if kind["kind"] == "Capability")
numbers = {entry["enumerant"]: entry["value"] for entry in table}
for entry in table:
    for implied in entry.get("capabilities", []):
        print(entry["value"], numbers[implied])
PYTHON

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

printf '%s\n' "$hash" >"$out/stamp"
# Another checkout or branch may use the same target directory: the three builds used last stay.
for old in "$root"/[0-9]*-*; do
  if [ -d "$old" ]; then printf '%s\t%s\n' "$(stat -c %Y "$old/stamp" 2>/dev/null || echo 0)" "$old"; fi
done | sort -rn | tail -n +4 | cut -f2- | while IFS= read -r old; do
  say "removing a build that was not used lately: $old"
  rm -rf "$old"
done
say "done: $out"
finish
