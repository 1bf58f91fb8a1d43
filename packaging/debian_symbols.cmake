# SPDX-License-Identifier: Apache-2.0
# CPack runs it when it has made the packages: the checksums in the package of symbols name files of the build's folder, by a
# fault of CPack 3.25. They get the names that the files have when they are installed.
foreach(package ${CPACK_PACKAGE_FILES})
  if(package MATCHES "[.]ddeb$")
    set(folder ${CPACK_TOPLEVEL_DIRECTORY}/symbols)
    execute_process(COMMAND dpkg-deb -R ${package} ${folder} COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${folder}/DEBIAN/md5sums sums)
    string(REGEX REPLACE "  [^\n]*-dbgsym/" "  " sums "${sums}")
    file(WRITE ${folder}/DEBIAN/md5sums "${sums}")
    execute_process(COMMAND dpkg-deb --root-owner-group -Zgzip -b ${folder} ${package} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${folder})
  endif()
endforeach()
