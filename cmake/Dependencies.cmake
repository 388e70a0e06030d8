# SPDX-License-Identifier: LGPL-2.1-or-later
# Every library is found by pkg-config; a missing one is one sentence that says what to install.
find_package(PkgConfig QUIET)
if(NOT PKG_CONFIG_FOUND)
	message(FATAL_ERROR "pkg-config is missing: install it (Debian: apt-get install pkg-config)")
endif()

# pevrec_dependency(NAME MODULE DEBIAN-PACKAGE) makes the target PkgConfig::NAME.
function(pevrec_dependency name module package)
	pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${module})
	if(NOT ${name}_FOUND)
		message(FATAL_ERROR "${module} is missing: pkg-config does not know it; install its development files "
			"(Debian: apt-get install ${package}), or run ./quickstart, which does")
	endif()
endfunction()

pevrec_dependency(ZSTD libzstd>=1.4.5 libzstd-dev)
pevrec_dependency(ZLIB zlib zlib1g-dev)
pevrec_dependency(ELF libelf libelf-dev)
pevrec_dependency(DW libdw>=0.188 libdw-dev)
pevrec_dependency(LZMA liblzma liblzma-dev)
pevrec_dependency(JANSSON jansson>=2.12 libjansson-dev)
# Only the header: the library itself is loaded when DEBUGINFOD_URLS asks for it (unwind/debuginfod.c).
pevrec_dependency(DEBUGINFOD libdebuginfod libdebuginfod-dev)

# libiberty has no pkg-config file.
find_library(IBERTY_LIBRARY iberty)
find_path(IBERTY_INCLUDE_DIR libiberty/demangle.h)
if(NOT IBERTY_LIBRARY OR NOT IBERTY_INCLUDE_DIR)
	message(FATAL_ERROR "libiberty is missing: libiberty.a and libiberty/demangle.h were not found; install them "
		"(Debian: apt-get install libiberty-dev), or run ./quickstart, which does")
endif()
add_library(iberty INTERFACE IMPORTED GLOBAL)
target_link_libraries(iberty INTERFACE ${IBERTY_LIBRARY})
target_include_directories(iberty INTERFACE ${IBERTY_INCLUDE_DIR})
if(PEVREC_TESTS)
	pevrec_dependency(CMOCKA cmocka libcmocka-dev)
endif()
