# SPDX-License-Identifier: LGPL-2.1-or-later
# Joins the page of the flame graph and writes it as C arrays, cut where the data goes:
# cmake -D SOURCE=this-folder -D OUT=file.c -P join.cmake
set(scripts model graph timeline table page)

file(READ ${SOURCE}/page.html page)
file(READ ${SOURCE}/style.css style)
set(script "")
foreach(name IN LISTS scripts)
	file(READ ${SOURCE}/${name}.js part)
	string(APPEND script "${part}")
endforeach()
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(FIND "${page}" "@DATA@" cut)
string(SUBSTRING "${page}" 0 ${cut} head)
math(EXPR behind "${cut} + 6")
string(SUBSTRING "${page}" ${behind} -1 tail)

function(to_array text name)
	file(WRITE ${OUT}.part "${text}")
	file(READ ${OUT}.part hex HEX)
	file(REMOVE ${OUT}.part)
	string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
	file(APPEND ${OUT} "const unsigned char pev_flamegraph_${name}[] = {${bytes}};\n"
		"const size_t pev_flamegraph_${name}_size = sizeof(pev_flamegraph_${name});\n")
endfunction()

file(WRITE ${OUT} "#include \"report/flamegraph_page.h\"\n")
to_array("${head}" head)
to_array("${tail}" tail)
