// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/kernel_features.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

int pev_perf_event_open(struct pev_attr *attr, int pid, int cpu, int group_fd, unsigned long flags)
{
	long fd;

	/* No longer than needed: an old kernel refuses a longer attr only when what it does not
	 * know is not zero. */
	attr->size = attr->config4   ? PEV_ATTR_SIZE_VER9
		     : attr->config3 ? PEV_ATTR_SIZE_VER8
				     : PEV_ATTR_SIZE_VER7;
	do
		fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

/* True unless the kernel says that it does not understand @attr. */
static bool understood(struct pev_attr attr)
{
	_cleanup_close_ int fd = -1;

	attr.type = PEV_TYPE_SOFTWARE;
	attr.config = PEV_SW_DUMMY;
	attr.sample_period = 1;
	attr.flags |= PEV_ATTR_DISABLED | PEV_ATTR_EXCLUDE_KERNEL | PEV_ATTR_EXCLUDE_HV;
	fd = pev_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd >= 0 || fd == -EACCES || fd == -EPERM;
}

void pev_kernel_features_probe(struct pev_kernel_features *ret)
{
	static const uint64_t flags[] = {
		PEV_ATTR_MMAP2,          PEV_ATTR_COMM_EXEC,  PEV_ATTR_USE_CLOCKID,
		PEV_ATTR_CONTEXT_SWITCH, PEV_ATTR_NAMESPACES, PEV_ATTR_KSYMBOL,
		PEV_ATTR_BPF_EVENT,      PEV_ATTR_CGROUP,     PEV_ATTR_TEXT_POKE,
		PEV_ATTR_BUILD_ID,
	};
	static const uint64_t samples[] = {
		PEV_SAMPLE_PHYS_ADDR,
		PEV_SAMPLE_CGROUP,
		PEV_SAMPLE_DATA_PAGE_SIZE,
		PEV_SAMPLE_CODE_PAGE_SIZE,
	};
	struct pev_kernel_features f = { 0 };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (understood((struct pev_attr){ .flags = flags[i], .clockid = CLOCK_MONOTONIC }))
			f.attr_flags |= flags[i];
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		if (understood((struct pev_attr){ .sample_type = samples[i] }))
			f.sample_type |= samples[i];
	if (understood((struct pev_attr){ .read_format = PEV_FORMAT_LOST }))
		f.read_format |= PEV_FORMAT_LOST;
	*ret = f;
}
