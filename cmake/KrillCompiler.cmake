# How everything is compiled. Sets krill_with_cuda.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR
   AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)  # with the compilers that were tried; later ones may know new warnings
endif()

find_program(KRILL_CCACHE ccache)
mark_as_advanced(KRILL_CCACHE)
foreach(language IN ITEMS CXX CUDA)
  if(KRILL_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    # With precompiled headers, ccache has to be told that they may hold __TIME__ and macros that it does not see.
    set(CMAKE_${language}_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${KRILL_CCACHE})
  endif()
endforeach()

set(krill_with_cuda OFF)
if(NOT KRILL_CUDA STREQUAL "OFF" AND NOT KRILL_SANITIZE)
  # Tested with 13.0. Who asks for CUDA gets it with 12.4, too, the first where a stream is captured into a loop.
  set(krill_least_cuda 13.0)
  if(KRILL_CUDA STREQUAL "ON")
    set(krill_least_cuda 12.4)
  endif()
  find_package(CUDAToolkit ${krill_least_cuda} QUIET)
  if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
    set(krill_with_cuda ON)
  elseif(KRILL_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA: no toolkit >= ${krill_least_cuda} found, building for the host only")
  else()
    message(FATAL_ERROR "KRILL_CUDA=ON, but no CUDA toolkit >= ${krill_least_cuda} was found (looked for nvcc "
                        "on PATH and in /usr/local/cuda; CUDAToolkit_ROOT names another place)")
  endif()
endif()

if(krill_with_cuda)
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    # The architecture of the devices that are there, so that no kernel is compiled for others.
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE no_device)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
    list(REMOVE_DUPLICATES capabilities)
    string(REPLACE "." "" capabilities "${capabilities}")
    if(no_device OR NOT capabilities)
      set(capabilities 90)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES "${capabilities}" CACHE STRING "CUDA architectures to compile for")
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # what CMake 3.25 does not know of nvcc
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  message(STATUS "CUDA: ${CUDAToolkit_VERSION}, architecture ${CMAKE_CUDA_ARCHITECTURES} "
                 "(for other devices: -DCMAKE_CUDA_ARCHITECTURES=\"80;90\")")
endif()

option(KRILL_LINEINFO "Keep the lines of kernels for profilers; takes 5 % of a .cu's time, and twice the room" OFF)
mark_as_advanced(KRILL_LINEINFO)
# GCC looks for memory to free from half a gigabyte on: a file takes a seventh less time and 0.9 GB in place of 0.65.
set(krill_gcc_memory --param=ggc-min-heapsize=524288 --param=ggc-min-expand=200)
list(JOIN krill_gcc_memory "," krill_gcc_memory_of_host_parts)

add_compile_options(
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${krill_gcc_memory}>"
  "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CXX_COMPILER_ID:GNU>>:-Xcompiler=${krill_gcc_memory_of_host_parts}>"
  "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${KRILL_LINEINFO}>>:-lineinfo>"
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic>"
  # Compressed, kernels take a fourth of the room, and carrying programs to a GPU is cheap; --compress-mode=size would
  # save another third of that, and cost a quarter of the time of a .cu.
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;--expt-relaxed-constexpr>"
  "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<VERSION_GREATER_EQUAL:$<CUDA_COMPILER_VERSION>,12.8>>:--compress-mode=balance>"
  # What GCC guesses after inlining: 12 sees overlapping copies in std::string's operator+ (its bug 105651), 13 accesses
  # outside of vectors that were just allocated.
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>"
  "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds;-Wno-stringop-overflow>"
  # Messages and debug records name files from the project's root, wherever it lies.
  "$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>")

# krill_precompile(TARGET [HEADER...]): precompiles what most files include, and HEADERs, for the C++ files of TARGET. Files
# still include what they use: tools/lint reads them without.
function(krill_precompile target)
  target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/common_headers.hpp>")
  foreach(header IN LISTS ARGN)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
endfunction()

option(KRILL_UNITY "Compile several files of apps/ and tests/ as one, which takes a third of the time" ON)
mark_as_advanced(KRILL_UNITY)

if(KRILL_SANITIZE STREQUAL "THREAD")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(KRILL_SANITIZE)
  # Accesses by null are the address sanitizer's business as well, and Eigen loads std::complex<float> as a double,
  # whatever its alignment; without both checks the compiler takes two thirds of the time.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,alignment -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# Programs find shared libraries that lie in lib/ beside them (tools/bundle) or in ../lib (installed), and so do those
# libraries: an RPATH reaches the libraries of libraries, a RUNPATH would not.
set(CMAKE_INSTALL_RPATH "$ORIGIN/lib;$ORIGIN/../lib")
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
add_link_options(LINKER:--disable-new-dtags)
