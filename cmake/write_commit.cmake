# Writes ${output}, which defines krill::git_commit(), unless it says the right thing already.
set(commit unknown)
if(git AND EXISTS ${source}/.git)
  execute_process(COMMAND ${git} --no-optional-locks -C ${source} describe --always --abbrev=12 --exclude=* --dirty
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${output} CONTENT
  "#include \"sparse/core/config.hpp\"\n\nstd::string_view krill::git_commit() noexcept { return \"${commit}\"; }\n")
