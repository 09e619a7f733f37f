# `cmake --install`: static libraries, public headers, the tools, and a package configuration, so
# that find_package(Tilewright) gives Tilewright::tilewright. Users write
# #include <tilewright/runtime/runtime.h>. In the tree headers include each other as "runtime/...";
# installed ones as <tilewright/runtime/...>, so that a header of the same name in the user's own
# include directories is never taken for one of ours.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
set(header_dir ${CMAKE_INSTALL_INCLUDEDIR}/tilewright)

install(TARGETS tilewright tilewright_kernels tilewright_cache tilewright_autotune
                tilewright_manifest tilewright_manifest_core tilewright_options
  EXPORT TilewrightTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tilewright_cli_main tilewright_worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT TilewrightTargets NAMESPACE Tilewright:: DESTINATION ${package_dir})

# Recipes' headers share parameter structs with the templates: those headers go along.
foreach(folder manifest autotune cache kernel_templates runtime)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${folder} DESTINATION ${header_dir}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh" PATTERN "ledger" EXCLUDE)
endforeach()
install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/tilewright/ DESTINATION ${header_dir}
        FILES_MATCHING PATTERN "*.h")
install(CODE "set(header_dir ${header_dir})")
install(CODE [[
  file(GLOB_RECURSE headers "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${header_dir}/*.h"
                            "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${header_dir}/*.cuh")
  foreach(header ${headers})
    file(READ "${header}" text)
    string(REGEX REPLACE "#include \"((manifest|autotune|cache|kernel_templates|runtime)/[^\"]+)\""
                         "#include <tilewright/\\1>" installed "${text}")
    if(NOT installed STREQUAL text)
      file(WRITE "${header}" "${installed}")
    endif()
  endforeach()
]])

configure_package_config_file(cmake/TilewrightConfig.cmake.in
  ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
              ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake DESTINATION ${package_dir})
