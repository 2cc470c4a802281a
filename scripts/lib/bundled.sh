# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The shared libraries that a program brings along where the target system may have none or others. Source common.sh first.

# Left to the target: glibc, whose parts must match its kernel and each other; the C++ runtime, which what the target's
# compiler makes of people's sources is loaded beside (a glibc that is new enough comes with one that is); the driver and the
# CUDA toolkit.
of_the_target='^(linux-vdso|ld-linux|libc\.|libm\.|libmvec\.|libdl\.|libpthread\.|librt\.|libresolv\.|libstdc\+\+|libgcc_s|'
of_the_target+='libcuda\.|libnvidia-|'
of_the_target+='libcudart|libcupti|libcublas|libcudnn|libcufft|libnvrtc|libnvperf|libnvJitLink)'

# libraries_of PROGRAM: "NAME PATH" of each library that it loads, directly or not, but those of the target.
libraries_of() {
  local name path
  while read -r name _ path _; do
    [[ ${name##*/} =~ $of_the_target ]] || printf '%s %s\n' "$name" "$path"
  done < <(ldd "$1")
}

# bundle_libraries PROGRAM FOLDER
bundle_libraries() {
  local name path
  mkdir -p "$2"
  while read -r name path; do
    [[ $path == /* ]] || die "$1 needs $name, which was not found"
    [[ ! -e $2/$name ]] || continue  # another program of the bundle needs it too
    cp --dereference "$path" "$2/$name"
    strip --strip-unneeded "$2/$name"
  done < <(libraries_of "$1")
}

# name_sources PROGRAM FOLDER: what the libraries of the program are made from, as their licences ask. Call it before they are
# in the folder.
name_sources() {
  local name path package
  mkdir -p "$2"
  while read -r name path; do
    path=$(realpath "$path")  # by its last part: Debian may know its folder by another path
    package=$(dpkg-query --search "*/${path##*/}" 2>/dev/null) || die "no Debian package has $path: its sources are not known"
    dpkg-query --show --showformat="$name: \${source:Package} \${source:Version}\n" "${package%%:*}"
  done < <(libraries_of "$1") >"$2/SOURCES"
}
