# The installed library: find_package(krill) gives krill::sparse and krill::solvers. krill_WITH_CUDA says whether they have
# the CUDA backend, krill_CUDA_ARCHITECTURES for which devices. examples/ shows how they are used.
include(CMakePackageConfigHelpers)
set(krill_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/krill)

set_target_properties(krill_sparse PROPERTIES EXPORT_NAME sparse)
set_target_properties(krill_solvers PROPERTIES EXPORT_NAME solvers)
install(TARGETS krill_sparse krill_solvers EXPORT krill)
install(EXPORT krill NAMESPACE krill:: FILE krillTargets.cmake DESTINATION ${krill_package_dir})
if(TARGET krill)
  install(TARGETS krill)
  include(cmake/KrillTexts.cmake)
endif()

install(DIRECTORY ${krill_include_dir}/krill DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(cmake/krillConfig.cmake.in ${PROJECT_BINARY_DIR}/krillConfig.cmake
  INSTALL_DESTINATION ${krill_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/krillConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/krillConfig.cmake ${PROJECT_BINARY_DIR}/krillConfigVersion.cmake
  DESTINATION ${krill_package_dir})
