// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The walk goes breadth-first with a queue of paths, so that one directory is open at a time
 * however deep the tree is. cgroups come and go meanwhile; what cannot be opened is left out.
 */
#include "recorder/cgroups.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/dents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MOUNTINFO_MAX_BYTES (64 << 20)

/*
 * mountinfo.
 */

/* The next word of the line, which becomes shorter; empty at its end. */
static struct pev_cursor next_word(struct pev_cursor *line)
{
	const uint8_t *const start = line->p;
	const uint8_t *const blank = memchr(start, ' ', pev_cursor_left(line));
	const uint8_t *const end = blank ? blank : line->end;

	line->p = blank ? blank + 1 : line->end;
	return (struct pev_cursor){ .p = start, .end = end };
}

static bool word_is(const struct pev_cursor *word, const char *what)
{
	return pev_cursor_left(word) == strlen(what) &&
	       memcmp(word->p, what, pev_cursor_left(word)) == 0;
}

/* Whether @what is among the comma-separated options. */
static bool has_option(struct pev_cursor options, const char *what)
{
	const size_t len = strlen(what);

	while (pev_cursor_left(&options) >= len) {
		const uint8_t *const comma = memchr(options.p, ',', pev_cursor_left(&options));
		const uint8_t *const end = comma ? comma : options.end;

		if ((size_t)(end - options.p) == len && memcmp(options.p, what, len) == 0)
			return true;
		if (!comma)
			return false;
		options.p = comma + 1;
	}
	return false;
}

/* Whether @p starts with \ooo, an escaped byte (octal). */
static bool is_escape(const uint8_t *p, const uint8_t *end)
{
	return end - p >= 4 && p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' &&
	       p[2] <= '7' && p[3] >= '0' && p[3] <= '7';
}

/* A path of mountinfo, in which blanks, newlines and backslashes are escaped. */
static bool decode_path(struct pev_cursor word, char ret[PATH_MAX])
{
	const uint8_t *p = word.p;
	size_t n = 0;

	while (p < word.end) {
		uint8_t byte = *p;

		if (n == PATH_MAX - 1)
			return false;
		if (is_escape(p, word.end)) {
			byte = (uint8_t)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 3;
		}
		ret[n++] = (char)byte;
		p++;
	}
	ret[n] = 0;
	return n > 0 && ret[0] == '/';
}

/* "36 35 98:0 /root /mount/point rw,noatime master:1 - cgroup2 cgroup2 rw": 2 for a v1 mount that
 * has perf_event, 1 for a v2 mount, 0 for all else. */
static int parse_mount(struct pev_cursor line, struct pev_cgroup_mount *ret)
{
	struct pev_cursor root, path, word, options;
	int rank;

	for (int i = 0; i < 3; i++)
		(void)next_word(&line); /* id, parent, device */
	root = next_word(&line);
	path = next_word(&line);
	do {
		if (!pev_cursor_left(&line))
			return 0;
		word = next_word(&line);
	} while (!word_is(&word, "-"));
	word = next_word(&line);
	(void)next_word(&line); /* source */
	options = next_word(&line);
	if (word_is(&word, "cgroup2"))
		rank = 1;
	else if (word_is(&word, "cgroup") && has_option(options, "perf_event"))
		rank = 2;
	else
		return 0;
	return decode_path(path, ret->path) && decode_path(root, ret->root) ? rank : 0;
}

int pev_cgroup_find_mount(struct pev_cursor *mountinfo, struct pev_cgroup_mount *ret)
{
	struct pev_cgroup_mount mount;
	int best = 0;

	while (pev_cursor_left(mountinfo)) {
		const uint8_t *const start = mountinfo->p;
		const uint8_t *const newline = memchr(start, '\n', pev_cursor_left(mountinfo));
		const uint8_t *const end = newline ? newline : mountinfo->end;
		const int rank = parse_mount((struct pev_cursor){ .p = start, .end = end }, &mount);

		mountinfo->p = newline ? newline + 1 : mountinfo->end;
		if (rank > best) {
			best = rank;
			*ret = mount;
		}
	}
	return best ? 0 : -ENOENT;
}

/*
 * The walk.
 */

struct walk {
	struct pev_emit *emit;
	const char *prefix; /* what comes before the path below the mount: "" for the whole tree */
	int mountfd;
	struct pev_buf queue; /* paths below the mount, "" first, each with its NUL */
	struct pev_dents dents;
	uint64_t count;
};

/* kernfs hands out its 64-bit node id as the file handle; the inode number is the same where ino_t
 * has 64 bits. */
static uint64_t cgroup_id(int fd, const struct stat *st)
{
	union {
		struct file_handle handle;
		uint8_t bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	} u = { .handle = { .handle_bytes = sizeof(uint64_t) } };
	uint64_t id;
	int mount_id;

	if (name_to_handle_at(fd, "", &u.handle, &mount_id, AT_EMPTY_PATH) < 0 ||
	    u.handle.handle_bytes != sizeof(id))
		return st->st_ino;
	memcpy(&id, u.bytes + sizeof(struct file_handle), sizeof(id));
	return id;
}

static int put_cgroup(struct walk *w, const char *path, uint64_t id)
{
	char full[2 * PATH_MAX];
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_CGROUP },
		.cgroup = { .id = id, .path = full },
	};

	(void)snprintf(full, sizeof(full), "%s%s", w->prefix, path);
	if (!full[0])
		rec.cgroup.path = "/";
	w->count++;
	return pev_emit(w->emit, 0, 0, &rec);
}

/* Queues the children of the cgroup @path, which is open as @fd. */
static int queue_children(struct walk *w, const char *path, int fd)
{
	const struct dirent64 *entry;
	int r;

	pev_dents_start(&w->dents, fd);
	while ((r = pev_dents_next(&w->dents, &entry)) > 0) {
		const size_t len = strlen(path), name_len = strlen(entry->d_name);

		if (entry->d_type != DT_DIR || len + 1 + name_len >= PATH_MAX)
			continue;
		pev_buf_put(&w->queue, path, len);
		pev_buf_u8(&w->queue, '/');
		pev_buf_put(&w->queue, entry->d_name, name_len + 1);
	}
	return pev_buf_status(&w->queue);
}

static int visit(struct walk *w, const char *path)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	fd = openat(w->mountfd, path[0] ? path + 1 : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == EMFILE || errno == ENFILE ? -errno : 0;
	r = put_cgroup(w, path, cgroup_id(fd, &st));
	if (r < 0)
		return r;
	/* Beside itself and its parent a directory is linked from each child. */
	return st.st_nlink == 2 ? 0 : queue_children(w, path, fd);
}

static int walk_tree(struct walk *w)
{
	char path[PATH_MAX];
	int r;

	pev_buf_u8(&w->queue, 0);
	r = pev_buf_status(&w->queue);
	for (size_t at = 0; r >= 0 && at < w->queue.size;) {
		const size_t size = strlen((const char *)w->queue.data + at) + 1;

		memcpy(path, w->queue.data + at, size); /* the queue may move */
		at += size;
		r = visit(w, path);
	}
	return r;
}

int pev_cgroups_below(struct pev_emit *e, const struct pev_cgroup_mount *mount, uint64_t *ret_count,
		      struct pev_err *err)
{
	_cleanup_close_ int mountfd = open(mount->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ struct walk *w = NULL;
	int r;

	if (mountfd < 0)
		return pev_err_set(err, -errno, "cannot open the cgroup mount %s: %s", mount->path,
				   pev_errno_str(errno));
	w = calloc(1, sizeof(*w));
	if (!w)
		return pev_err_set(err, -ENOMEM, "out of memory");
	w->emit = e;
	w->mountfd = mountfd;
	/* Seen from within a cgroup namespace the root may be above it ("/.."); nothing better is
	 * known than to name what is there from here on. */
	w->prefix = strcmp(mount->root, "/") == 0 || strncmp(mount->root, "/..", 3) == 0
			    ? ""
			    : mount->root;
	r = walk_tree(w);
	pev_buf_done(&w->queue);
	if (r < 0)
		return pev_err_set(err, r, "cannot tell the cgroups of %s to the trace: %s",
				   mount->path, pev_errno_str(r));
	*ret_count = w->count;
	return 0;
}

int pev_cgroups(struct pev_emit *e, uint64_t *ret_count, struct pev_err *err)
{
	_cleanup_buf_ struct pev_buf text = { 0 };
	struct pev_cgroup_mount mount;
	struct pev_cursor c;
	int r;

	r = pev_read_path("/proc/self/mountinfo", MOUNTINFO_MAX_BYTES, &text);
	if (r < 0)
		return pev_err_set(err, r, "cannot read /proc/self/mountinfo: %s",
				   pev_errno_str(r));
	c = pev_cursor(text.data, text.size);
	r = pev_cgroup_find_mount(&c, &mount);
	if (r < 0 || faccessat(AT_FDCWD, mount.path, R_OK | X_OK, AT_EACCESS) < 0) {
		*ret_count = 0;
		return 0;
	}
	return pev_cgroups_below(e, &mount, ret_count, err);
}
