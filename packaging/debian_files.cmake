# SPDX-License-Identifier: Apache-2.0
# CPack runs it between installing and packing: adds what Debian wants to see in /usr/share/doc/djtap,
# and puts zsh's completions where Debian's zsh looks.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${root}/doc/djtap)
configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright COPYONLY)

# The same sources have the same package: the date is that of the last change.
if("$ENV{SOURCE_DATE_EPOCH}" STREQUAL "")
  message(FATAL_ERROR "scripts/package makes the package: SOURCE_DATE_EPOCH is not set")
endif()
set(ENV{LC_ALL} C)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH
file(WRITE ${doc}/changelog "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * CHANGELOG.md says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
execute_process(COMMAND gzip -9nf ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)

if(EXISTS ${root}/zsh/site-functions)
  file(MAKE_DIRECTORY ${root}/zsh/vendor-completions)
  file(RENAME ${root}/zsh/site-functions/_djtap ${root}/zsh/vendor-completions/_djtap)
  file(REMOVE_RECURSE ${root}/zsh/site-functions)
endif()
