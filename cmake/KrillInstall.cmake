# The installed library: find_package(krill) gives krill::sparse and krill::solvers, which are static, and krill::shared.
# krill_WITH_CUDA says whether they have the CUDA backend, krill_CUDA_ARCHITECTURES for which devices. examples/ shows how
# they are used.
include(CMakePackageConfigHelpers)
set(krill_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/krill)

set_target_properties(krill_sparse PROPERTIES EXPORT_NAME sparse)
set_target_properties(krill_solvers PROPERTIES EXPORT_NAME solvers)
install(TARGETS krill_sparse krill_solvers EXPORT krill)
if(TARGET krill_shared)
  set_target_properties(krill_shared PROPERTIES EXPORT_NAME shared)
  install(TARGETS krill_shared EXPORT krill)
endif()
install(EXPORT krill NAMESPACE krill:: FILE krillTargets.cmake DESTINATION ${krill_package_dir})
if(TARGET krill)
  install(TARGETS krill)
  include(cmake/KrillTexts.cmake)
endif()

install(DIRECTORY ${krill_include_dir}/krill DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/krillConfig.cmake.in ${PROJECT_BINARY_DIR}/krillConfig.cmake
  INSTALL_DESTINATION ${krill_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/krillConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/krillConfig.cmake ${PROJECT_BINARY_DIR}/krillConfigVersion.cmake
  DESTINATION ${krill_package_dir})

# Other build systems ask pkg-config: for krill, the shared library, or krill-static.
file(RELATIVE_PATH krill_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
function(krill_install_pc name requires)
  set(krill_pc_name ${name})
  set(krill_pc_requires ${requires})
  list(JOIN ARGN " " krill_pc_libs)
  configure_file(cmake/krill.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
set(krill_cuda_libs)
if(krill_with_cuda)
  set(krill_cuda_libs ${CUDA_cudart_static_LIBRARY} -lrt -lpthread -ldl)
endif()
krill_install_pc(krill-static "fmt libarchive zlib" -lkrill_solvers -lkrill_sparse ${krill_optional_libraries} ${krill_cuda_libs})
if(TARGET krill_shared)
  krill_install_pc(krill fmt -lkrill)
endif()

# `cpack -G DEB` makes a package for this release of Debian or Ubuntu; it names the libraries that the program needs.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_VENDOR Krill)
  set(CPACK_PACKAGE_CONTACT "the authors of Krill")
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SECTION math)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  include(CPack)
endif()
