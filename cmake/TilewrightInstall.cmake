# `cmake --install`: static libraries, public headers, the tools, and a package configuration, so
# that find_package(Tilewright) gives Tilewright::tilewright. Users write
# #include <tilewright/runtime/runtime.h>; the headers include each other as "runtime/...", so both
# include directories are exported.
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

configure_package_config_file(cmake/TilewrightConfig.cmake.in
  ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TilewrightConfig.cmake
              ${CMAKE_BINARY_DIR}/TilewrightConfigVersion.cmake DESTINATION ${package_dir})
