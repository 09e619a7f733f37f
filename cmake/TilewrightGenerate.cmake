# Build-time generation: manifest entries, references, recipes and template texts become C++ tables.

# tilewright_generate(OUTPUT MODE INPUTS...): runs `tilewright-generate MODE OUTPUT INPUT...` whenever
# an input changes. OUTPUT is relative to the build folder's generated/.
function(tilewright_generate output mode)
  set(path ${CMAKE_BINARY_DIR}/generated/${output})
  set(list ${path}.inputs)
  list(JOIN ARGN "\n" text)
  file(GENERATE OUTPUT ${list} CONTENT "${text}\n")
  add_custom_command(OUTPUT ${path}
    COMMAND tilewright-generate ${mode} ${CMAKE_SOURCE_DIR} ${list} ${path}
    DEPENDS tilewright-generate ${list} ${ARGN}
    COMMENT "Generating ${output}" VERBATIM)
endfunction()
