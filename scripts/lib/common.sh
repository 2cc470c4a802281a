# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts share. Source it first: it goes to the root of the repository.

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=packages.sh
source scripts/lib/packages.sh

# A step, so that a long log has headings.
say() { printf '\n==> %s\n' "$*"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 5
}

# as_root COMMAND...: directly, or by sudo; says what to do where neither is possible.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root, and there is no sudo: run \`$*\` as root, then this script again"
  fi
}

is_installed() { [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# install_packages NAME...: those that are missing, and nothing when none is.
install_packages() {
  command -v dpkg-query >/dev/null || die "this script installs Debian packages. Elsewhere, install what
scripts/lib/packages.sh names, then: npm ci && cmake --preset release && cmake --build --preset release"
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "Installing ${missing[*]}"
  as_root apt-get update --quiet=2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}"
}

# Node.js 18 or newer with npm: what is on PATH, otherwise Debian's.
install_node() {
  local version=0
  command -v node >/dev/null && version=$(node --print 'process.versions.node.split(".")[0]')
  if ((version < 18)) || ! command -v npm >/dev/null; then
    install_packages nodejs npm
  fi
}

# The JavaScript packages of the lock file, unless node_modules was made from this very file.
install_node_modules() {
  local stamp=node_modules/.installed-lock
  if ! cmp --silent package-lock.json "$stamp"; then
    say "Installing the JavaScript packages of package-lock.json"
    npm ci --ignore-scripts --no-audit --no-fund
    cp package-lock.json "$stamp"
  fi
}

# install_for GROUP...: the packages of these groups (build, test, check), Node.js and the JavaScript packages.
install_for() {
  local group wanted=()
  for group in "$@"; do
    local -n packages=${group}_packages
    wanted+=("${packages[@]}")
  done
  install_packages "${wanted[@]}"
  install_node
  install_node_modules
}

# build PRESET [TARGET...]: configures and builds.
build() {
  local preset=$1
  shift
  say "Building preset $preset"
  cmake --preset "$preset"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

has_nvidia_driver() { [[ -e /dev/nvidiactl || -e /proc/driver/nvidia/version ]]; }
