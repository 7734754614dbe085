# Writes the public headers of ${SOURCE} and ${GENERATED} to ${OUTPUT} as users include them: "sparse/ and "solvers/ in
# their include lines become "krill/sparse/ and "krill/solvers/. Files that say the right thing already stay untouched,
# files whose source is gone are removed.
cmake_minimum_required(VERSION 3.25)
set(headers)
foreach(root IN ITEMS ${SOURCE} ${GENERATED} ${SOURCE}/cmake)
  file(GLOB_RECURSE found RELATIVE ${root} ${root}/sparse/*.hpp ${root}/sparse/*.cuh ${root}/solvers/*.hpp ${root}/solvers/*.cuh)
  if(EXISTS ${root}/krill.hpp)  # the one that includes the others
    list(APPEND found krill.hpp)
  endif()
  list(APPEND headers ${found})
  foreach(header IN LISTS found)
    if(EXISTS ${OUTPUT}/${header} AND NOT ${root}/${header} IS_NEWER_THAN ${OUTPUT}/${header})
      continue()
    endif()
    file(READ ${root}/${header} text)
    string(REGEX REPLACE "(\n#include \")(sparse|solvers)/" "\\1krill/\\2/" text "\n${text}")
    string(SUBSTRING "${text}" 1 -1 text)
    file(WRITE ${OUTPUT}/${header} "${text}")
  endforeach()
endforeach()

file(GLOB_RECURSE written RELATIVE ${OUTPUT} ${OUTPUT}/*)
list(REMOVE_ITEM written ${headers})
foreach(header IN LISTS written)
  file(REMOVE ${OUTPUT}/${header})
endforeach()
