# Compile options of every target, and helpers that define a folder's library and its tests.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_library(tilewright_options INTERFACE)
target_include_directories(tilewright_options INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:include>)
target_compile_features(tilewright_options INTERFACE cxx_std_20)
target_compile_options(tilewright_options INTERFACE $<BUILD_INTERFACE:-Wall$<SEMICOLON>-Wextra$<SEMICOLON>-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With optimisation, GCC 12 sees uninitialised storage in absl::InlinedVector where there is none.
  target_compile_options(tilewright_options INTERFACE $<BUILD_INTERFACE:-Wno-maybe-uninitialized>)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(tilewright_options INTERFACE $<BUILD_INTERFACE:-g1>)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlapping copies in `"literal" + std::string()` (its bug 105651).
  target_compile_options(tilewright_options INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)
endif()
if(TILEWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${TILEWRIGHT_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TILEWRIGHT_SANITIZE})
endif()

# tilewright_library(name LIBS ... [SOURCES ...] [EXCLUDE REGEX]): every .cc of the current folder and
# its subfolders, and SOURCES. Stems that end in _main are left to executables.
function(tilewright_library name)
  cmake_parse_arguments(ARG "" "EXCLUDE" "LIBS;SOURCES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_main\\.cc$")
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ARG_EXCLUDE}")
  endif()
  if(sources OR ARG_SOURCES)
    add_library(${name} STATIC ${sources} ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC tilewright_options ${ARG_LIBS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE tilewright_options ${ARG_LIBS})
  endif()
endfunction()

# tilewright_tests(module LIBS ...): one executable a tier from tests/<module>/. A file named
# *_full_test.cc, *_nightly_test.cc or *_gpu_test.cc is of that tier, any other *_test.cc is smoke.
function(tilewright_tests module)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/tests/${module})
  file(GLOB all CONFIGURE_DEPENDS ${dir}/*_test.cc)
  file(GLOB support CONFIGURE_DEPENDS ${dir}/*.cc)
  list(FILTER support EXCLUDE REGEX "_test\\.cc$|_main\\.cc$")
  foreach(tier smoke full nightly gpu)
    set(sources ${all})
    if(tier STREQUAL "smoke")
      list(FILTER sources EXCLUDE REGEX "_(full|nightly|gpu)_test\\.cc$")
    else()
      list(FILTER sources INCLUDE REGEX "_${tier}_test\\.cc$")
    endif()
    if(sources)
      set(target ${module}_${tier}_tests)
      add_executable(${target} ${sources} ${support})
      target_link_libraries(${target} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main)
      # tilewright_smoke_tests, tilewright_full_tests, ...: what a tier needs, and no more.
      if(NOT TARGET tilewright_${tier}_tests)
        add_custom_target(tilewright_${tier}_tests)
      endif()
      add_dependencies(tilewright_${tier}_tests ${target})
      target_compile_definitions(${target} PRIVATE TILEWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
      # A sanitizer takes up to ten times as long.
      set(timeout 900)
      if(TILEWRIGHT_SANITIZE)
        set(timeout 3600)
      endif()
      # "[  SKIPPED ] Suite.Test", its brackets as dots: CMake 4 quotes properties in brackets of its own.
      gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60
        PROPERTIES LABELS ${tier} TIMEOUT ${timeout} SKIP_REGULAR_EXPRESSION ".  SKIPPED . ")
    endif()
  endforeach()
endfunction()
