# SPDX-License-Identifier: LGPL-2.1-or-later
# Warnings, hardening and sanitizers, as one interface target that every room links.
include(CheckCCompilerFlag)

add_library(pevrec_flags INTERFACE)
target_include_directories(pevrec_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(pevrec_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64
	PEVREC_VERSION="${PROJECT_VERSION}")

set(warnings -Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Wundef -Wvla -Wcast-qual -Wwrite-strings
	-Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wimplicit-fallthrough -Wlogical-op
	-Wduplicated-cond)
foreach(flag IN LISTS warnings)
	string(MAKE_C_IDENTIFIER "HAVE${flag}" have)
	check_c_compiler_flag(${flag} ${have})
	if(${have})
		target_compile_options(pevrec_flags INTERFACE ${flag})
	endif()
endforeach()
if(PEVREC_WERROR)
	target_compile_options(pevrec_flags INTERFACE -Werror)
endif()

# Frame pointers are kept in every build: a profiler that cannot be profiled is a poor one.
target_compile_options(pevrec_flags INTERFACE -fno-omit-frame-pointer -fno-common)
target_compile_options(pevrec_flags INTERFACE -fstack-protector-strong -fPIE)
target_link_options(pevrec_flags INTERFACE -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
if(PEVREC_SANITIZE)
	target_compile_options(pevrec_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined)
	target_link_options(pevrec_flags INTERFACE -fsanitize=address,undefined)
else()
	target_compile_options(pevrec_flags INTERFACE
		$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()
