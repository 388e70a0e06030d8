// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/explain.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/pmu.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>

static int64_t sysctl_number(const char *name)
{
	char path[64];
	int64_t v;

	(void)snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return pev_read_path_i64(path, &v) < 0 ? PEV_FACT_UNKNOWN : v;
}

/* The CapEff line of /proc/self/status (proc(5)); none when it cannot be read. */
static uint64_t effective_capabilities(void)
{
	_cleanup_buf_ struct pev_buf status = { 0 };
	const char *line;

	if (pev_read_path("/proc/self/status", 1 << 16, &status) < 0)
		return 0;
	line = strstr((const char *)status.data, "\nCapEff:");
	return line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
}

/* The first user namespace maps all ids to themselves; perf_event_open(2) asks for capabilities in
 * that one alone (user_namespaces(7)). */
static bool in_user_namespace(void)
{
	_cleanup_free_ char *line = NULL;
	unsigned long inside, outside, count;

	if (pev_read_path_line("/proc/self/uid_map", &line) < 0)
		return false;
	return sscanf(line, "%lu %lu %lu", &inside, &outside, &count) != 3 || inside || outside ||
	       count != UINT32_MAX;
}

static bool has_core_pmu(void)
{
	_cleanup_pmus_ struct pev_pmus pmus = { 0 };

	if (pev_pmus_read(PEV_EVENT_SOURCES_DEFAULT.pmus, &pmus, NULL) < 0)
		return false;
	for (size_t i = 0; i < pmus.nr; i++)
		if (pmus.pmus[i].core)
			return true;
	return false;
}

static bool is_foreign(pid_t pid)
{
	char path[32];
	struct stat st;

	if (pid <= 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 && st.st_uid != geteuid();
}

static bool is_offline(int cpu)
{
	int64_t online;
	char path[64];

	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return cpu >= 0 && pev_read_path_i64(path, &online) == 0 && !online;
}

static bool is_missing(int cpu)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	return cpu >= 0 && access("/sys/devices/system/cpu", X_OK) == 0 && access(path, F_OK) < 0;
}

static uint64_t soft_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

static unsigned kernel_version(void)
{
	struct utsname u;
	unsigned major, minor;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return 0;
	return major * 1000 + minor;
}

void pev_facts_read(int cpu, pid_t pid, struct pev_facts *ret)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*ret = (struct pev_facts){
		.capabilities = effective_capabilities(),
		.user_namespace = in_user_namespace(),
		.core_pmu = has_core_pmu(),
		.foreign = is_foreign(pid),
		.offline = is_offline(cpu),
		.no_cpu = is_missing(cpu),
		.paranoid = sysctl_number("perf_event_paranoid"),
		.max_sample_rate = sysctl_number("perf_event_max_sample_rate"),
		.max_stack = sysctl_number("perf_event_max_stack"),
		.mlock_kb = sysctl_number("perf_event_mlock_kb"),
		.nofile = soft_limit(RLIMIT_NOFILE),
		.memlock = soft_limit(RLIMIT_MEMLOCK),
		.kernel = kernel_version(),
		.cpus = cpus > 0 ? (unsigned)cpus : 1,
		.page_bytes = (size_t)sysconf(_SC_PAGESIZE),
	};
}
