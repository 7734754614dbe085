include(GoogleTest)

# krill_test(name sources...): the test program test_<name>, with each of its cases known to ctest. Cases run in the
# project's root; KRILL_PROGRAM names the krill program.
function(krill_test name)
  set(program test_${name})
  add_executable(${program} ${ARGN})
  target_link_libraries(${program} PRIVATE krill_test_support)
  target_precompile_headers(${program} REUSE_FROM krill_test_support)
  set(test_filter *)
  if(NOT krill_with_cuda)  # each would be a process that skips
    set(test_filter "-*/cuda:*/cuda_*")
  endif()
  if(KRILL_SANITIZE)  # without what is long and goes by way of code that other cases run on small inputs
    string(APPEND test_filter ":BenchSolversProgram.*:BadCaseText.every_key_with_a_wrong_letter_*:VerifyConfigs.*:BenchCommandLine.*:*VerifySuites.pass_on_the_gallery/*:*PlannedPeak.with_every_format/*:MultigridIterations.of_pcg_*:MultigridIterations.of_elasticity_*")
  endif()
  gtest_discover_tests(${program}
    TEST_PREFIX ${name}/
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    TEST_FILTER "${test_filter}"
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 120
    PROPERTIES TIMEOUT 300)

  # OpenMP's threads wait passively: where cores are few, active waiting costs a thousand times the work.
  set(environment "OMP_WAIT_POLICY=passive;OMP_NUM_THREADS=2")
  if(KRILL_SANITIZE STREQUAL "THREAD")  # which does not see the barriers of OpenMP's library
    string(APPEND environment ";OMP_THREAD_LIMIT=1")
  endif()
  if(TARGET krill)
    add_dependencies(${program} krill)
    string(APPEND environment ";KRILL_PROGRAM=$<TARGET_FILE:krill>")
  endif()
  # gtest_discover_tests splits a property that is a list, so ctest sets this one, on the list that it discovered.
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${program}_environment.cmake)
  file(GENERATE OUTPUT ${script} CONTENT
    "if(${program}_TESTS)\n  set_tests_properties(\${${program}_TESTS} PROPERTIES ENVIRONMENT \"${environment}\")\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()
