# SPDX-License-Identifier: LGPL-2.1-or-later
# For the integration tests, which source it first: a folder of their own, skipping, failing, perf.
set -euo pipefail

skip() {
	echo "skipped: $*"
	exit 77
}

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# need_program NAME...: skips unless all of them are installed.
need_program() {
	local program
	for program; do
		command -v "$program" >/dev/null || skip "needs $program"
	done
}

# each_perf COMMAND...: runs it once for every perf that is there, with the path of that perf in $P.
each_perf() {
	local seen=0
	for P in "${PERF:-}" "${PERF_TRIXIE:-}" "${PERF_SID:-}"; do
		[ -n "$P" ] && [ -x "$P" ] || continue
		seen=1
		echo "== $("$P" --version)"
		"$@"
	done
	[ $seen = 1 ] || skip "needs perf (./tests/run gets it)"
}

# wait_for SECONDS COMMAND...: until the command succeeds; fails after SECONDS.
wait_for() {
	local -i until=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $until ] || fail "never came true: $*"
		sleep 0.05
	done
}

# at_exit COMMAND...: runs when the test ends, however it ends; the last one comes first.
at_exit() {
	EXIT_COMMANDS=("$(printf '%q ' "$@")" "${EXIT_COMMANDS[@]}")
}

run_exit_commands() {
	local command
	for command in "${EXIT_COMMANDS[@]}"; do
		eval "$command" || true
	done
}

EXIT_COMMANDS=()
trap run_exit_commands EXIT

# The current folder is the test's own. perf keeps its build-id cache below HOME.
TEST_DIR=$(mktemp -d "${TMPDIR:-/tmp}/pevrec-test.XXXXXX")
at_exit rm -rf "$TEST_DIR"
export HOME=$TEST_DIR/home
unset DEBUGINFOD_URLS
mkdir "$HOME"
cd "$TEST_DIR"
