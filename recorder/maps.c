// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two ways to the same mappings. The query walks addresses upwards: "the first mapping that is
 * wanted at or after this address", until the kernel says ENOENT. The text is read whole first,
 * then parsed line by line; a process that maps and unmaps meanwhile may be seen torn in either
 * way, and what it maps is told again by the records of the running events.
 */
#include "recorder/maps.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* A million mappings (sysctl vm.max_map_count allows it) with long names stay below this. */
#define TEXT_MAX_BYTES (512U << 20)

/* struct procmap_query of include/uapi/linux/fs.h, Linux 6.11; here because older headers lack it.
 */
struct procmap_query_abi {
	uint64_t size; /* of this struct */
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t vma_name_size; /* in: room, out: bytes with the NUL, 0 without a name */
	uint32_t build_id_size; /* in: room, out: bytes */
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};
static_assert(sizeof(struct procmap_query_abi) == 104, "procmap_query");

#define QUERY_IOCTL _IOWR('f', 17, struct procmap_query_abi)

#define QUERY_READABLE         0x01
#define QUERY_WRITABLE         0x02
#define QUERY_EXECUTABLE       0x04
#define QUERY_SHARED           0x08
#define QUERY_COVERING_OR_NEXT 0x10

static bool has_prefix(const char *s, size_t len, const char *prefix, size_t prefix_len)
{
	return len >= prefix_len && memcmp(s, prefix, prefix_len) == 0;
}
#define HAS_PREFIX(m, literal) has_prefix((m)->name, (m)->name_len, literal, sizeof(literal) - 1)

static void rename_to(struct pev_mapping *m, char *name, const char *to)
{
	m->name_len = strlen(to);
	memcpy(name, to, m->name_len + 1);
	m->name = name;
}

/* Turns the name that /proc shows, in @name, into the one of the kernel's records. */
static void settle_name(struct pev_mapping *m, char *name)
{
	m->name = name;
	if (!m->name_len || HAS_PREFIX(m, "[anon:"))
		rename_to(m, name, "//anon");
	else if (HAS_PREFIX(m, "[anon_shmem:"))
		rename_to(m, name, "/dev/zero (deleted)");
	else if (HAS_PREFIX(m, "/anon_hugepage"))
		m->flags |= MAP_HUGETLB;
}

/*
 * The text.
 */

/* A hexadecimal number and the @stop after it. */
static bool parse_hex(const uint8_t **p, const uint8_t *end, uint8_t stop, uint64_t *ret)
{
	const uint8_t *q = *p;
	uint64_t v = 0;

	for (; q < end && *q != stop; q++) {
		const uint8_t c = *q;
		uint8_t digit;

		if (c >= '0' && c <= '9')
			digit = (uint8_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (uint8_t)(c - 'a' + 10);
		else
			return false;
		if (v >> 60)
			return false;
		v = v << 4 | digit;
	}
	if (q == end || q == *p)
		return false;
	*p = q + 1;
	*ret = v;
	return true;
}

/* The inode, which ends at a blank or at the end of the line. */
static bool parse_inode(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
	const uint8_t *q = *p;
	uint64_t v = 0;

	for (; q < end && *q != ' '; q++) {
		const uint8_t digit = (uint8_t)(*q - '0');

		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	if (q == *p)
		return false;
	*p = q;
	*ret = v;
	return true;
}

/* "r-xp " */
static bool parse_perms(const uint8_t **p, const uint8_t *end, struct pev_mapping *m)
{
	static const char letters[] = "rwx";
	static const uint32_t bits[] = { PROT_READ, PROT_WRITE, PROT_EXEC };
	const uint8_t *const q = *p;

	if (end - q < 5 || q[4] != ' ')
		return false;
	for (int i = 0; i < 3; i++) {
		if (q[i] == (uint8_t)letters[i])
			m->prot |= bits[i];
		else if (q[i] != '-')
			return false;
	}
	if (q[3] != 's' && q[3] != 'p')
		return false;
	m->flags = q[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	*p = q + 5;
	return true;
}

/* Copies the name, in which the kernel writes a newline as \012. False when it is too long. */
static bool copy_name(const uint8_t *p, const uint8_t *end, char *name, size_t *ret_len)
{
	size_t n = 0;

	if (memchr(p, '\\', (size_t)(end - p)) == NULL) {
		n = (size_t)(end - p);
		if (n >= PEV_MAPPING_NAME_MAX)
			return false;
		memcpy(name, p, n);
	} else {
		while (p < end) {
			if (n == PEV_MAPPING_NAME_MAX - 1)
				return false;
			if (end - p >= 4 && memcmp(p, "\\012", 4) == 0) {
				name[n++] = '\n';
				p += 4;
			} else {
				name[n++] = (char)*p++;
			}
		}
	}
	name[n] = 0;
	*ret_len = n;
	return true;
}

static bool parse_line(const uint8_t *p, const uint8_t *end, char *name, struct pev_mapping *ret)
{
	struct pev_mapping m = { .prot = 0 };
	uint64_t maj, min;

	if (!parse_hex(&p, end, '-', &m.start) || !parse_hex(&p, end, ' ', &m.end) ||
	    m.start >= m.end || !parse_perms(&p, end, &m) || !parse_hex(&p, end, ' ', &m.pgoff) ||
	    !parse_hex(&p, end, ':', &maj) || !parse_hex(&p, end, ' ', &min) || maj > UINT32_MAX ||
	    min > UINT32_MAX || !parse_inode(&p, end, &m.ino))
		return false;
	m.maj = (uint32_t)maj;
	m.min = (uint32_t)min;
	while (p < end && *p == ' ')
		p++;
	if (memchr(p, 0, (size_t)(end - p)))
		return false;
	if (copy_name(p, end, name, &m.name_len))
		settle_name(&m, name);
	else
		rename_to(&m, name, "//toolong");
	*ret = m;
	return true;
}

int pev_maps_parse(struct pev_cursor *text, char name[PEV_MAPPING_NAME_MAX],
		   struct pev_mapping *ret)
{
	for (;;) {
		const uint8_t *const line = text->p;
		const uint8_t *end;

		if (line == text->end)
			return 0;
		end = memchr(line, '\n', pev_cursor_left(text));
		if (!end) {
			text->p = text->end;
			return -ENODATA;
		}
		text->p = end + 1;
		if (!parse_line(line, end, name, ret))
			return -EBADMSG;
		if (!HAS_PREFIX(ret, "[vsyscall]"))
			return 1;
	}
}

/*
 * The query.
 */

static int query(int fd, struct procmap_query_abi *q)
{
	q->size = sizeof(*q);
	return ioctl(fd, QUERY_IOCTL, q) < 0 ? -errno : 0;
}

static int query_next(struct pev_maps *m, struct pev_mapping *ret)
{
	const struct procmap_query_abi ask = {
		.query_flags = QUERY_COVERING_OR_NEXT | (m->exec_only ? QUERY_EXECUTABLE : 0),
		.query_addr = m->next,
		.vma_name_size = sizeof(m->name),
		.vma_name_addr = (uintptr_t)m->name,
	};
	struct procmap_query_abi q = ask;
	bool too_long = false;
	int r;

	r = query(m->fd, &q);
	if (r == -ENAMETOOLONG) {
		too_long = true;
		q = ask;
		q.vma_name_size = 0;
		q.vma_name_addr = 0;
		r = query(m->fd, &q);
	}
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	m->next = q.vma_end;
	*ret = (struct pev_mapping){
		.start = q.vma_start,
		.end = q.vma_end,
		.pgoff = q.vma_offset,
		.maj = q.dev_major,
		.min = q.dev_minor,
		.ino = q.inode,
		.prot = (q.vma_flags & QUERY_READABLE ? PROT_READ : 0) |
			(q.vma_flags & QUERY_WRITABLE ? PROT_WRITE : 0) |
			(q.vma_flags & QUERY_EXECUTABLE ? PROT_EXEC : 0),
		.flags = (q.vma_flags & QUERY_SHARED ? MAP_SHARED : MAP_PRIVATE) |
			 (q.vma_page_size > m->page_size ? MAP_HUGETLB : 0),
		.name_len = q.vma_name_size ? q.vma_name_size - 1 : 0,
	};
	if (too_long)
		rename_to(ret, m->name, "//toolong");
	else
		settle_name(ret, m->name);
	return 1;
}

/* Finds out, once, whether the kernel knows the ioctl: before 6.11 this file has none (ENOTTY). */
static void probe_query(struct pev_maps *m)
{
	struct procmap_query_abi q = { .query_flags = QUERY_COVERING_OR_NEXT };
	const int r = query(m->fd, &q);

	if (r == -ESRCH) /* a process without memory tells nothing; read its empty text */
		return;
	m->way = r == 0 || r == -ENOENT ? PEV_MAPS_QUERY : PEV_MAPS_TEXT;
}

static int query_build_id(const struct pev_maps *m, const struct pev_mapping *mapping,
			  struct pev_buildid *ret)
{
	struct pev_buildid id = { .size = 0 };
	struct procmap_query_abi q = {
		.query_addr = mapping->start,
		.build_id_size = sizeof(id.bytes),
		.build_id_addr = (uintptr_t)id.bytes,
	};
	const int r = query(m->fd, &q);

	if (r == -ENOENT)
		return -ESRCH;
	if (r < 0)
		return r;
	if (q.inode != mapping->ino || q.dev_major != mapping->maj || q.dev_minor != mapping->min)
		return -ESRCH; /* another file is mapped there by now */
	if (q.build_id_size <= sizeof(id.bytes))
		id.size = (uint8_t)q.build_id_size;
	*ret = id;
	return 0;
}

/*
 * The file.
 */

/* Only regular files are opened: opening a device can do things. */
static int open_regular(int procfd, const char *path, struct stat *ret)
{
	int fd;

	if (fstatat(procfd, path, ret, 0) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -EACCES;
	fd = openat(procfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* File systems that span devices show one here and another in stat(2); both have major 0. */
static bool same_device(dev_t dev, const struct pev_mapping *m)
{
	return dev == makedev(m->maj, m->min) || !major(dev) || !m->maj;
}

static int open_mapped(const struct pev_maps *m, const struct pev_mapping *mapping)
{
	char path[PEV_MAPPING_NAME_MAX + 32];
	_cleanup_close_ int fd = -1;
	struct stat st;

	(void)snprintf(path, sizeof(path), "%d/map_files/%" PRIx64 "-%" PRIx64, m->pid,
		       mapping->start, mapping->end);
	fd = open_regular(m->procfd, path, &st);
	if (fd >= 0)
		return TAKE_FD(fd);
	(void)snprintf(path, sizeof(path), "%d/root/%s", m->pid, mapping->name);
	fd = open_regular(m->procfd, path, &st);
	if (fd >= 0 && (st.st_ino != mapping->ino || !same_device(st.st_dev, mapping)))
		return -ESTALE;
	return TAKE_FD(fd);
}

static int file_build_id(const struct pev_maps *m, const struct pev_mapping *mapping,
			 struct pev_buildid *ret)
{
	_cleanup_close_ int fd = open_mapped(m, mapping);
	int r;

	if (fd < 0)
		return fd;
	r = pev_buildid_from_file(fd, ret);
	if (r == -ENOENT || r == -ENOEXEC || r == -EBADMSG || r == -ENODATA || r == -E2BIG) {
		ret->size = 0; /* no ELF file, or none that has one */
		return 0;
	}
	return r;
}

int pev_maps_build_id(const struct pev_maps *m, const struct pev_mapping *mapping,
		      struct pev_buildid *ret)
{
	return m->way == PEV_MAPS_QUERY ? query_build_id(m, mapping, ret)
					: file_build_id(m, mapping, ret);
}

/*
 * Either.
 */

void pev_maps_init(struct pev_maps *m)
{
	const long page_size = sysconf(_SC_PAGESIZE);

	*m = (struct pev_maps){
		.fd = -1,
		.page_size = page_size > 0 ? (uint64_t)page_size : 4096,
	};
}

void pev_maps_done(struct pev_maps *m)
{
	pev_closep(&m->fd);
	m->fd = -1;
	pev_buf_done(&m->text);
}

int pev_maps_open(struct pev_maps *m, int procfd, pid_t pid, bool exec_only)
{
	char path[32];
	int r;

	pev_closep(&m->fd);
	(void)snprintf(path, sizeof(path), "%d/maps", pid);
	m->fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	m->procfd = procfd;
	m->pid = pid;
	m->exec_only = exec_only;
	m->next = 0;
	if (m->way == PEV_MAPS_UNKNOWN)
		probe_query(m);
	if (m->way == PEV_MAPS_QUERY)
		return 0;
	pev_buf_reset(&m->text);
	r = pev_read_fd(m->fd, TEXT_MAX_BYTES, &m->text);
	if (r < 0)
		return r;
	m->cursor = pev_cursor(m->text.data, m->text.size);
	return 0;
}

int pev_maps_next(struct pev_maps *m, struct pev_mapping *ret)
{
	const uint32_t wanted = m->exec_only ? PROT_EXEC : PROT_EXEC | PROT_READ;

	for (;;) {
		const int r = m->way == PEV_MAPS_QUERY ? query_next(m, ret)
						       : pev_maps_parse(&m->cursor, m->name, ret);

		if (r <= 0 || ret->prot & wanted)
			return r;
	}
}
