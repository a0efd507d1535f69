# The files that `cmake --install` installs, and the Debian package that `cpack` builds from them
# (scripts/package). The top-level CMakeLists.txt includes this file.
include(GNUInstallDirs)

# The configuration of the service: conf/zsetd.conf with the directories of the package.
set(service_conf ${CMAKE_CURRENT_BINARY_DIR}/service/zsetd.conf)
file(READ ${PROJECT_SOURCE_DIR}/conf/zsetd.conf text)
function(replace_line old new)
  string(FIND "${text}" "\n${old}\n" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "conf/zsetd.conf has no line '${old}'")
  endif()
  string(REPLACE "\n${old}\n" "\n${new}\n" text "${text}")
  set(text "${text}" PARENT_SCOPE)
endfunction()
replace_line("dir ./" "dir /var/lib/zsetd")
replace_line("rewrite-file \"\"" "rewrite-file /var/lib/zsetd/rewritten.conf")
replace_line("logfile \"\"" "logfile /var/log/zsetd/zsetd.log")
replace_line("pidfile \"\"" "pidfile /run/zsetd/zsetd.pid")
file(CONFIGURE OUTPUT ${service_conf} CONTENT "${text}" @ONLY)

# Compresses a file into the build folder, always to the same bytes.
function(compress file result)
  execute_process(COMMAND gzip -9 --no-name --stdout ${file} OUTPUT_FILE ${result} COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()

set(packaging ${PROJECT_SOURCE_DIR}/conf/packaging)
set(compressed ${CMAKE_CURRENT_BINARY_DIR}/compressed)
file(MAKE_DIRECTORY ${compressed})
compress(${PROJECT_SOURCE_DIR}/docs/man/zsetd.1 ${compressed}/zsetd.1.gz)
compress(${PROJECT_SOURCE_DIR}/docs/man/zsetd.conf.5 ${compressed}/zsetd.conf.5.gz)
install(TARGETS zsetd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${compressed}/zsetd.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${compressed}/zsetd.conf.5.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES ${packaging}/completion/zsetd.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME zsetd)
install(FILES ${packaging}/completion/_zsetd DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/SECURITY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/conf/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)
install(FILES ${PROJECT_SOURCE_DIR}/conf/zsetd.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# The service uses these paths regardless of the prefix, so only the package contains these files.
install(FILES ${packaging}/zsetd.service DESTINATION /lib/systemd/system COMPONENT service EXCLUDE_FROM_ALL)
install(FILES ${service_conf} DESTINATION /etc/zsetd COMPONENT service EXCLUDE_FROM_ALL)
install(FILES ${packaging}/zsetd.logrotate DESTINATION /etc/logrotate.d RENAME zsetd COMPONENT service
        EXCLUDE_FROM_ALL)
set(CPACK_INSTALL_CMAKE_PROJECTS ${CMAKE_BINARY_DIR} zsetd ALL / ${CMAKE_BINARY_DIR} zsetd service /)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME zsetd)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
if(DEFINED ENV{ZSETD_PACKAGE_VERSION})
  set(CPACK_PACKAGE_VERSION $ENV{ZSETD_PACKAGE_VERSION})
endif()
# Debian's changelog names the version. Its date is that of the last release, so that builds are reproducible.
file(STRINGS ${PROJECT_SOURCE_DIR}/CHANGELOG.md releases REGEX "^## \\[[0-9.]+\\] - ")
list(GET releases 0 release)
string(REGEX MATCH "[0-9-]+$" release_date "${release}")
execute_process(COMMAND date --utc --rfc-email --date=${release_date} OUTPUT_VARIABLE release_date
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CPACK_PACKAGE_CONTACT "The zsetd authors <zsetd@localhost>")
file(CONFIGURE OUTPUT ${compressed}/changelog CONTENT "zsetd (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${release_date}
" @ONLY)
compress(${compressed}/changelog ${compressed}/changelog.gz)
install(FILES ${compressed}/changelog.gz DESTINATION /usr/share/doc/zsetd COMPONENT service EXCLUDE_FROM_ALL)
install(FILES ${packaging}/lintian-overrides DESTINATION /usr/share/lintian/overrides RENAME zsetd COMPONENT service
        EXCLUDE_FROM_ALL)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "in-memory sorted-set server that speaks the protocol of Redis")
set(CPACK_PACKAGE_DESCRIPTION "Keeps sorted sets, strings, hashes, lists and sets in memory,
and on disk in the formats of Redis. Clients and configuration files of
Redis work.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.51)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "redis-tools, logrotate")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${packaging}/postinst ${packaging}/prerm ${packaging}/postrm
    ${packaging}/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
