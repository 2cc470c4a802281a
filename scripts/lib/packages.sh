# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The Debian packages that mprof needs, in one place. The CUDA toolkit is never installed, only found.

# shellcheck disable=SC2034  # read by the scripts that source this file
build_packages=(
  ca-certificates
  cmake
  dataset-fashion-mnist
  duktape-dev
  g++
  git
  libboost-dev
  libboost-program-options-dev
  libcmark-gfm-dev
  libcmark-gfm-extensions-dev
  libdnnl-dev
  libfmt-dev
  libkainjow-mustache-dev
  libmd-dev
  libopenblas-pthread-dev
  libsimdjson-dev
  libsqlite3-dev
  libtomlplusplus-dev
  ninja-build
  nlohmann-json3-dev
  zlib1g-dev
)

# shellcheck disable=SC2034
test_packages=(
  bubblewrap
  buildah
  chromium
  clang
  debootstrap
  dpkg-dev
  fonts-dejavu-core
  libclang-rt-dev
  libgmock-dev
  libgtest-dev
  lld
  llvm
  munge
  parallel
  python3-pandas
  python3-venv
  python3-wheel
  slurm-client
  slurmctld
  slurmd
)

# shellcheck disable=SC2034
check_packages=(
  clang-format-14
  clang-tidy-14
  shellcheck
)
