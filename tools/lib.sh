# shellcheck shell=bash
# What the tools share; to be sourced.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${KRILL_JOBS:-$(nproc)}

say() { echo "krill: $*" >&2; }
die() { say "$*"; exit 3; }

# have PROBE...: whether each program is on PATH, or each header (a name with a dot or slash) on the include path
have() {
  local probe prefix found
  for probe in "$@"; do
    case $probe in
      */* | *.*)
        found=
        for prefix in /usr /usr/local ${CMAKE_PREFIX_PATH:+${CMAKE_PREFIX_PATH//:/ }}; do
          if [[ -e $prefix/include/$probe ]]; then found=1; fi
        done
        [[ $found ]] || return 1
        ;;
      *) command -v "$probe" >/dev/null || return 1 ;;
    esac
  done
}

# progress WHAT: of ninja's words on stdin, a counter for its steps and all else as it is
progress() {
  local line shown=
  while IFS= read -r line; do
    case $line in
      *"Looking up the git commit" | *"Looking for changed headers" | "ninja: no work to do."* | "ninja: Entering directory"* | "-- "*) ;;
      \[*/*\]*)
        if [[ -t 2 ]]; then
          printf '\rkrill: %s %s ' "$1" "${line%%]*}]" >&2
        elif [[ ! $shown ]]; then
          say "$1"
        fi
        shown=1
        ;;
      *) printf '%s\n' "$line" >&2 ;;
    esac
  done
  [[ ! -t 2 || ! $shown ]] || echo >&2
}

# configure PRESET: once; later changes of CMake files are seen by the build
configure() {
  local tree=$root/build/$1
  [[ ! -f $tree/build.ninja ]] || return 0
  say "configuring build/$1"
  mkdir -p "$tree"
  (cd "$root" && cmake --preset "$1") >"$tree/configure.log" 2>&1 || { cat "$tree/configure.log" >&2; die "cmake failed"; }
  sed -n 's/^-- CUDA:/krill: CUDA:/p' "$tree/configure.log" >&2
}

# build PRESET [TARGET...]: says nothing when there was nothing to do
build() {
  local preset=$1
  shift
  configure "$preset"
  ninja -C "$root/build/$preset" -j "$jobs" "$@" | progress "building build/$preset"
}
