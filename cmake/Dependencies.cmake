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
if(PEVREC_TESTS)
	pevrec_dependency(CMOCKA cmocka libcmocka-dev)
endif()
