# Writes ${HEADER} with the page of `krill evaluate`: ${FOLDER}/page.html with its style and its scripts in it.
cmake_minimum_required(VERSION 3.25)
file(READ ${FOLDER}/page.html html)
foreach(part IN ITEMS page.css page_data.js page_charts.js page.js)
  file(READ ${FOLDER}/${part} text)
  string(REPLACE "{{${part}}}" "${text}" html "${html}")
endforeach()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT
  "#pragma once\n#include <string_view>\n\nnamespace krill::apps::evaluate {\ninline constexpr std::string_view page_template = R\"krill(@html@)krill\";\n}\n")
