# What the program says of itself, installed: its manual page, completion in shells, and schemas for editors.
set(krill_texts)

# krill_text(FOLDER FILE ARGUMENTS...): what `krill ARGUMENTS` prints becomes share/FOLDER/FILE.
function(krill_text folder file)
  set(text ${PROJECT_BINARY_DIR}/share/${folder}/${file})
  add_custom_command(OUTPUT ${text}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/${folder}
    COMMAND krill ${ARGN} > ${text}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${text}.new ${text}
    DEPENDS krill VERBATIM)
  install(FILES ${text} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
  set(krill_texts ${krill_texts} ${text} PARENT_SCOPE)
endfunction()

krill_text(man/man1 krill.1 man)
krill_text(bash-completion/completions krill completion bash)
krill_text(zsh/site-functions _krill completion zsh)
krill_text(fish/vendor_completions.d krill.fish completion fish)
krill_text(krill case.schema.json schema)
krill_text(krill sweep.schema.json schema --sweep)
add_custom_target(krill_texts ALL DEPENDS ${krill_texts})
