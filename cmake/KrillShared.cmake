# libkrill.so, of the objects that the static libraries hold: nothing is compiled twice. Programs and tests of this tree link
# the static libraries.
add_library(krill_shared SHARED $<TARGET_OBJECTS:krill_sparse> $<TARGET_OBJECTS:krill_solvers>)
add_library(krill::shared ALIAS krill_shared)
set_target_properties(krill_sparse krill_solvers PROPERTIES POSITION_INDEPENDENT_CODE ON)
foreach(library IN ITEMS krill_sparse krill_solvers)
  # No other library replaces a function of Krill by one of the same name, so calls within a file may be inlined as ever.
  target_compile_options(${library} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>"
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CXX_COMPILER_ID:GNU>>:-Xcompiler=-fno-semantic-interposition>")
endforeach()
set_target_properties(krill_shared PROPERTIES
  OUTPUT_NAME krill
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}  # until 1.0, a minor release may change what is there
  LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# What its users need is what those of the static library need.
foreach(property IN ITEMS INTERFACE_INCLUDE_DIRECTORIES INTERFACE_COMPILE_FEATURES INTERFACE_COMPILE_OPTIONS)
  get_target_property(value krill_sparse ${property})
  if(value)
    set_property(TARGET krill_shared PROPERTY ${property} ${value})
  endif()
endforeach()
target_link_libraries(krill_shared PUBLIC fmt::fmt OpenMP::OpenMP_CXX PRIVATE LibArchive::LibArchive ZLIB::ZLIB
  ${krill_optional_libraries})
if(krill_with_cuda)  # a CUDA runtime of its own, whatever runtime a program has
  target_link_libraries(krill_shared PRIVATE CUDA::cudart_static CUDA::nvtx3)
  target_link_options(krill_shared PRIVATE LINKER:--exclude-libs,libcudart_static.a)
endif()
