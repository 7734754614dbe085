# The include tree <build>/include/krill: links to the source folders, so that "krill/sparse/spmv/spmv.hpp" is found
# here as it is where Krill is installed, and the headers that are made by the build.
set(krill_include_dir ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${krill_include_dir}/krill)
foreach(folder IN ITEMS sparse solvers apps)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${krill_include_dir}/krill/${folder} SYMBOLIC)
endforeach()

set(krill_with_cuda_text false)
set(krill_cuda_compiler "")
set(krill_cuda_architectures "")
if(krill_with_cuda)
  set(krill_with_cuda_text true)
  set(krill_cuda_compiler "nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
  set(krill_cuda_architectures "${CMAKE_CUDA_ARCHITECTURES}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/sparse/core/config.hpp.in ${krill_include_dir}/krill/config.hpp @ONLY)

# The commit is looked up in each build and written only when it changed, into one small source file.
find_package(Git QUIET)
add_custom_target(krill_commit
  COMMAND ${CMAKE_COMMAND} -D git=${GIT_EXECUTABLE} -D source=${PROJECT_SOURCE_DIR}
          -D output=${PROJECT_BINARY_DIR}/commit.cpp -P ${CMAKE_CURRENT_LIST_DIR}/write_commit.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/commit.cpp
  COMMENT "Looking up the git commit")
