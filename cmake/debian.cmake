# SPDX-License-Identifier: MIT
# What Debian's policy asks of a package's documentation, in the folder that CPack is about to pack.
set(folder ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/mprof)
file(READ ${folder}/LICENSE license)
file(READ ${folder}/THIRD_PARTY_NOTICES notices)
file(WRITE ${folder}/copyright "${license}\n${notices}")
file(REMOVE ${folder}/LICENSE ${folder}/THIRD_PARTY_NOTICES)
execute_process(COMMAND gzip --best --no-name ${folder}/CHANGELOG.md COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${folder}/CHANGELOG.md.gz ${folder}/changelog.gz)
