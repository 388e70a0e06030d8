// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The machine as the header of a trace tells it. The sources, and what is done when one is missing,
 * are those of tools/perf/util/header.c and tools/perf/arch: perf on the same machine must print
 * the same lines for our traces and for its own.
 */
#include "recorder/host.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/host_part.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

/* No machine has this many CPUs or nodes (the kernel's NR_CPUS ends at 8192). */
#define MAX_LIST_NUMBER 65535

__attribute__((format(printf, 3, 0))) static int
format_path(const struct pev_host *h, char path[PATH_MAX], const char *fmt, va_list ap)
{
	const int n = snprintf(path, PATH_MAX, "%s", h->root);
	int k;

	if (n < 0 || n >= PATH_MAX)
		return -ENAMETOOLONG;
	k = vsnprintf(path + n, (size_t)(PATH_MAX - n), fmt, ap);
	return k < 0 || k >= PATH_MAX - n ? -ENAMETOOLONG : 0;
}

int pev_host_line(const struct pev_host *h, char **ret, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = format_path(h, path, fmt, ap);
	va_end(ap);
	return r < 0 ? r : pev_read_path_line(path, ret);
}

int pev_host_int(const struct pev_host *h, int32_t *ret, const char *fmt, ...)
{
	_cleanup_free_ char *line = NULL;
	char path[PATH_MAX], *end;
	va_list ap;
	long v;
	int r;

	va_start(ap, fmt);
	r = format_path(h, path, fmt, ap);
	va_end(ap);
	if (r >= 0)
		r = pev_read_path_line(path, &line);
	if (r < 0)
		return r;
	errno = 0;
	v = strtol(line, &end, 10);
	if (errno || end == line || v < INT32_MIN || v > UINT32_MAX)
		return -EBADMSG;
	*ret = (int32_t)v;
	return 0;
}

bool pev_host_exists(const struct pev_host *h, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = format_path(h, path, fmt, ap);
	va_end(ap);
	return r >= 0 && access(path, F_OK) == 0;
}

static bool take_number(const char **s, uint32_t *ret)
{
	unsigned long v;
	char *end;

	if (!isdigit((unsigned char)**s))
		return false;
	v = strtoul(*s, &end, 10);
	if (v > MAX_LIST_NUMBER)
		return false;
	*s = end;
	*ret = (uint32_t)v;
	return true;
}

bool pev_host_range(const char **list, uint32_t *ret_first, uint32_t *ret_last)
{
	uint32_t first, last;

	if (!take_number(list, &first))
		return false;
	last = first;
	if (**list == '-') {
		(*list)++;
		if (!take_number(list, &last) || last < first)
			return false;
	}
	if (**list == ',')
		(*list)++;
	*ret_first = first;
	*ret_last = last;
	return true;
}

int pev_host_list_end(const struct pev_host *h, const char *path, uint32_t *ret)
{
	_cleanup_free_ char *line = NULL;
	uint32_t first, last, end = 0;
	int r;

	r = pev_host_line(h, &line, "%s", path);
	if (r < 0)
		return r;
	for (const char *s = line; pev_host_range(&s, &first, &last);)
		end = PEV_MAX(end, last + 1);
	if (!end)
		return -EBADMSG;
	*ret = end;
	return 0;
}

/* The first line of a file of /proc that starts with @prefix, newline and all, heap-allocated. The
 * rest of the file is not read: /proc/cpuinfo is slow on big machines. */
static int find_line(const struct pev_host *h, const char *file, const char *prefix, char **ret)
{
	_cleanup_fclose_ FILE *in = NULL;
	_cleanup_free_ char *line = NULL;
	char path[PATH_MAX];
	size_t size = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", h->root, file) >= sizeof(path))
		return -ENAMETOOLONG;
	in = fopen(path, "re");
	if (!in)
		return -errno;
	while (getline(&line, &size, in) > 0) {
		if (strncmp(line, prefix, strlen(prefix)) == 0) {
			*ret = TAKE_PTR(line);
			return 0;
		}
	}
	return -ENODATA;
}

static int set_str(const struct pev_host *h, enum pev_feat feat, const char **field, const char *s)
{
	char *const copy = pev_features_str(h->f, s, strlen(s));

	if (!copy)
		return -ENOMEM;
	*field = copy;
	pev_features_set(h->f, feat);
	return 0;
}

static int gather_names(const struct pev_host *h)
{
	struct utsname uts;
	int r;

	if (uname(&uts) < 0)
		return -errno;
	r = set_str(h, PEV_FEAT_HOSTNAME, &h->f->hostname, uts.nodename);
	if (r >= 0)
		r = set_str(h, PEV_FEAT_OSRELEASE, &h->f->osrelease, uts.release);
	if (r >= 0)
		r = set_str(h, PEV_FEAT_VERSION, &h->f->version, "pevrec " PEVREC_VERSION);
	if (r >= 0)
		r = set_str(h, PEV_FEAT_ARCH, &h->f->arch, uts.machine);
	return r;
}

static int gather_nrcpus(const struct pev_host *h)
{
	_cleanup_free_ char *online = NULL;
	uint32_t avail, nr = 0, first, last;
	int r;

	r = pev_host_list_end(h, "/sys/devices/system/cpu/present", &avail);
	if (r >= 0)
		r = pev_host_line(h, &online, "/sys/devices/system/cpu/online");
	if (r < 0)
		return r;
	for (const char *s = online; pev_host_range(&s, &first, &last);)
		nr += last - first + 1;
	h->f->nrcpus.avail = avail;
	h->f->nrcpus.online = nr;
	pev_features_set(h->f, PEV_FEAT_NRCPUS);
	return 0;
}

#if defined(__powerpc__)
#define CPUINFO_NAME "cpu"
#elif defined(__s390__)
#define CPUINFO_NAME "vendor_id"
#elif defined(__loongarch__)
#define CPUINFO_NAME "Model Name"
#else
#define CPUINFO_NAME "model name" /* arm64 has no such line, and so no CPUDESC */
#endif

/* Every run of white space becomes one space: some vendors pad the brand string. */
static void squash_spaces(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (!isspace((unsigned char)*s))
			*to++ = *s;
		else if (!isspace((unsigned char)s[1]))
			*to++ = ' ';
	}
	*to = '\0';
}

static int gather_cpudesc(const struct pev_host *h)
{
	_cleanup_free_ char *line = NULL;
	char *value;
	int r;

	r = find_line(h, "/proc/cpuinfo", CPUINFO_NAME, &line);
	if (r < 0)
		return r;
	line[strcspn(line, "\n")] = '\0';
	value = strchr(line, ':');
	value = value && value[1] == ' ' && value[2] ? value + 2 : line;
	squash_spaces(value);
	return set_str(h, PEV_FEAT_CPUDESC, &h->f->cpudesc, value);
}

#if defined(__x86_64__) || defined(__i386__)
/* "AuthenticAMD,26,2,1": vendor, family, model, stepping, from leaves 0 and 1 of CPUID, with the
 * extended fields folded in as the vendors' manuals say. */
static int gather_cpuid(const struct pev_host *h)
{
	unsigned int eax, ebx, ecx, edx, family, model;
	char vendor[13] = "", id[64];

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || eax < 1)
		return -ENODATA;
	memcpy(vendor, &ebx, 4);
	memcpy(vendor + 4, &edx, 4);
	memcpy(vendor + 8, &ecx, 4);
	__get_cpuid(1, &eax, &ebx, &ecx, &edx);
	family = eax >> 8 & 0xf;
	model = eax >> 4 & 0xf;
	if (family == 0xf)
		family += eax >> 20 & 0xff;
	if (family >= 6)
		model += (eax >> 16 & 0xf) << 4;
	(void)snprintf(id, sizeof(id), "%s,%u,%u,%u", vendor, family, model, eax & 0xf);
	return set_str(h, PEV_FEAT_CPUID, &h->f->cpuid, id);
}
#else
/* arm64: the MIDR of the first CPU that has one, as the kernel spells it: 0x00000000410fd083. (perf
 * 6.1 clears variant and revision in it, 7.2 does not.) Elsewhere there is no such file. */
static int gather_cpuid(const struct pev_host *h)
{
	for (uint32_t cpu = 0; cpu < h->f->nrcpus.avail; cpu++) {
		_cleanup_free_ char *midr = NULL;
		const int r = pev_host_line(
			h, &midr,
			"/sys/devices/system/cpu/cpu%" PRIu32 "/regs/identification/midr_el1", cpu);

		if (r >= 0)
			return set_str(h, PEV_FEAT_CPUID, &h->f->cpuid, midr);
		if (r == -ENOMEM)
			return r;
	}
	return -ENODATA;
}
#endif

static int gather_total_mem(const struct pev_host *h)
{
	_cleanup_free_ char *line = NULL;
	int r;

	r = find_line(h, "/proc/meminfo", "MemTotal:", &line);
	if (r < 0)
		return r;
	if (sscanf(line, "MemTotal: %" SCNu64, &h->f->total_mem_kb) != 1)
		return -EBADMSG;
	pev_features_set(h->f, PEV_FEAT_TOTAL_MEM);
	return 0;
}

int pev_host_gather_from(const char *root, struct pev_features *f)
{
	static int (*const gatherers[])(const struct pev_host *) = {
		gather_names,           gather_nrcpus,    gather_cpudesc,
		gather_cpuid,           gather_total_mem, pev_host_cpu_topology,
		pev_host_numa_topology, pev_host_caches,  pev_host_mem_topology,
		pev_host_pmus,
	};
	const struct pev_host h = { .root = root, .f = f };

	for (size_t i = 0; i < PEV_ARRAY_SIZE(gatherers); i++)
		if (gatherers[i](&h) == -ENOMEM)
			return -ENOMEM;
	return 0;
}

int pev_host_gather(struct pev_features *f)
{
	return pev_host_gather_from("", f);
}
