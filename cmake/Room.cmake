# SPDX-License-Identifier: LGPL-2.1-or-later
# pevrec_room(NAME SOURCES file... [LINK target...]): one static library per room, all with the same flags.
function(pevrec_room name)
	cmake_parse_arguments(ROOM "" "" "SOURCES;LINK" ${ARGN})
	add_library(pev_${name} STATIC ${ROOM_SOURCES})
	target_link_libraries(pev_${name} PUBLIC ${ROOM_LINK} PRIVATE pevrec_flags)
endfunction()
