# SPDX-License-Identifier: LGPL-2.1-or-later
# The Debian packages that this project needs, in this one place, and how they are installed.
# Sourced by ./quickstart, ./tests/run and .ci/run.

# To build pevrec.
packages_build=(gcc libc6-dev cmake ninja-build pkg-config libzstd-dev zlib1g-dev libelf-dev libdw-dev
	liblzma-dev libiberty-dev libdebuginfod-dev libjansson-dev)
# To look at a trace the way its users do.
packages_perf=(linux-perf)
# To build and run the tests, beside the above.
packages_test=(libcmocka-dev python3 jq strace binutils g++ xz-utils dwz libdebuginfod1
	chromium chromium-driver golang-go)
# For .ci/run, beside the above.
packages_ci=(clang libclang-rt-14-dev clang-format-14)

# install_packages PACKAGE...: installs those that are missing; asks for fresh package lists only
# when apt does not know them or cannot get them as it knows them.
install_packages() {
	local package missing=()
	for package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	echo "Installing ${missing[*]}"
	if [ "$(id -u)" -ne 0 ]; then
		echo "These Debian packages are missing, and only root can install them:" \
			"apt-get install ${missing[*]}" >&2
		return 1
	fi
	apt_install "${missing[@]}" >/dev/null 2>&1 && return 0
	apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 update || return
	apt_install "${missing[@]}"
}

apt_install() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 \
		-o Dpkg::Use-Pty=0 install --yes --no-install-recommends "$@" </dev/null
}
