#!/usr/bin/env bash
# tests/package.sh BUILD: makes the Debian package of a build and solves a system with the program in it, away from the tree.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpack -G DEB --config "$1/CPackConfig.cmake" -B "$work" >"$work/cpack.log" 2>&1 || { cat "$work/cpack.log"; exit 1; }
dpkg-deb -x "$work"/krill_*.deb "$work/root"
dpkg-deb -f "$work"/krill_*.deb Depends | grep -q libfmt
cd "$work"
for file in lib/libkrill_solvers.a lib/libkrill.so lib/pkgconfig/krill.pc lib/cmake/krill/krillConfig.cmake include/krill/krill.hpp share/man/man1/krill.1 share/doc/krill/LICENSE; do
  [[ -e root/usr/$file ]] || { echo "the package lacks $file"; exit 1; }
done
printf 'matrix: {generate: poisson2d, nx: 30}\nsolver: {type: pcg}\npreconditioner: {type: jacobi}\noutput: {plot: false}\n' >case.yaml
root/usr/bin/krill solve case.yaml --backend host
