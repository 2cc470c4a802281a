# SPDX-License-Identifier: MIT
# The .deb, which `scripts/package deb` makes of an optimized build with CPack. Manual pages and completions belong to the
# install() rules of CMakeLists.txt: share/man/man1, share/bash-completion/completions, share/zsh/vendor-completions,
# share/fish/vendor_completions.d.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mprof)
set(CPACK_PACKAGE_CONTACT "The mprof authors <mprof@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# What is linked, by dpkg-shlibdeps. The rest is looked for when it is needed: images for the family conv, a compiler for
# sources of the user's, Chromium for reports in PDF, CUDA for what runs on a GPU.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, dataset-fashion-mnist")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bubblewrap, chromium, nvidia-cuda-toolkit, libcupti-dev")
set(CPACK_PACKAGE_DESCRIPTION " Measures CUDA kernels and whole programs, shows that their outputs are right and their
 times valid, explains why one variant is faster than another, and writes reports.")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian.cmake)
include(CPack)
