// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbol_fixtures.h"
#include "unwind/debuginfod.h"
#include "unwind/locate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ID_INL5 "0123456789abcdef0123456789abcdef01234511"

/* A directory of its own for each test, with the files that the test wants. */
struct place {
	char dir[64];
	struct pev_locate_options options;
	struct pev_locate_counters counters;
	struct pev_located located;
	char system_dir[96], cache[96];
};

static int setup(void **state)
{
	struct place *const p = calloc(1, sizeof(*p));

	assert_non_null(p);
	(void)snprintf(p->dir, sizeof(p->dir), "/tmp/pevrec-locate-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	(void)snprintf(p->system_dir, sizeof(p->system_dir), "%s/system", p->dir);
	(void)snprintf(p->cache, sizeof(p->cache), "%s/cache", p->dir);
	p->options.system_dir = p->system_dir;
	p->options.perf_cache = p->cache;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *const p = *state;
	char command[128];

	pev_located_done(&p->located);
	(void)snprintf(command, sizeof(command), "rm -rf %s", p->dir);
	assert_int_equal(system(command), 0);
	free(p);
	return 0;
}

/* Copies fixture @name to @to below the directory. */
static void put(const struct place *p, const char *name, const char *to)
{
	char command[3 * PATH_MAX];

	(void)snprintf(command, sizeof(command), "mkdir -p $(dirname %s/%s) && cp %s %s/%s", p->dir,
		       to, fixture(name), p->dir, to);
	assert_int_equal(system(command), 0);
}

static struct pev_build_id id_of(const char *hex)
{
	struct pev_build_id id = { .size = (uint8_t)(strlen(hex) / 2) };

	for (size_t i = 0; i < id.size; i++) {
		unsigned byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		id.bytes[i] = (uint8_t)byte;
	}
	return id;
}

/* Looks for @path, which is below the directory unless it is none at all. */
static void locate(struct place *p, const char *path, const char *hex)
{
	const struct pev_build_id id = id_of(hex);
	struct pev_err err = PEV_ERR_INIT;
	char full[256];

	(void)snprintf(full, sizeof(full), "%s%s", path[0] == '/' ? p->dir : "", path);
	pev_located_done(&p->located);
	if (pev_locate(&p->options, full, &id, &p->located, &p->counters, &err) < 0)
		fail_msg("%s", err.msg);
}

static int code_of(const struct place *p, const char *end)
{
	for (size_t i = 0; i < p->located.nr_tried; i++) {
		const char *const path = p->located.tried[i].path;

		if (strlen(path) >= strlen(end) &&
		    strcmp(path + strlen(path) - strlen(end), end) == 0)
			return p->located.tried[i].code;
	}
	fail_msg("%s was not tried", end);
	return 0;
}

static void the_recorded_path(void **state)
{
	struct place *const p = *state;
	static const char *const paths[] = { "/app/inl5", "/app/inl5 (deleted)" };

	put(p, "inl5", "app/inl5");
	for (size_t i = 0; i < PEV_ARRAY_SIZE(paths); i++) {
		locate(p, paths[i], ID_INL5);
		assert_non_null(p->located.main);
		assert_int_equal(p->located.main_source, PEV_SOURCE_RECORDED);
		assert_false(p->located.unverified);
		/* It has its DWARF itself. */
		assert_null(p->located.debug);
		assert_int_equal(p->located.nr_tried, 1);
	}
	/* Without a build-id in the trace it is taken on trust. */
	locate(p, "/app/inl5", "");
	assert_non_null(p->located.main);
	assert_true(p->located.unverified);
	assert_int_equal(p->counters.modules, 3);
	assert_int_equal(p->counters.not_found, 0);
}

static void never_another_build_id(void **state)
{
	struct place *const p = *state;
	_cleanup_buf_ struct pev_buf text = { 0 };
	const struct pev_build_id id = id_of("1a2b3c4d");

	put(p, "inl5", "app/inl5");
	locate(p, "/app/inl5", "1a2b3c4d");
	assert_null(p->located.main);
	assert_null(p->located.debug);
	assert_int_equal(code_of(p, "/app/inl5"), -ESTALE);
	assert_int_equal(p->counters.stale, 1);
	assert_int_equal(p->counters.not_found, 1);
	pev_located_explain(&p->located, "/app/inl5", &id, &text);
	pev_buf_u8(&text, 0);
	assert_non_null(strstr((char *)text.data, "/app/inl5 (build-id 1a2b3c4d): not found; "));
	assert_non_null(strstr((char *)text.data, "/app/inl5: another build-id"));

	/* Nor one that has none, when the trace knows one. */
	put(p, "tiny.o", "app/none");
	locate(p, "/app/none", ID_INL5);
	assert_null(p->located.main);
	assert_int_equal(p->counters.stale, 2);
}

static void a_gone_file(void **state)
{
	struct place *const p = *state;
	_cleanup_buf_ struct pev_buf text = { 0 };

	locate(p, "/app/gone", "");
	assert_null(p->located.main);
	assert_int_equal(code_of(p, "/app/gone"), -ENOENT);
	pev_located_explain(&p->located, "/app/gone", NULL, &text);
	pev_buf_u8(&text, 0);
	assert_non_null(strstr((char *)text.data, "/app/gone (no build-id): not found; "));
	assert_non_null(strstr((char *)text.data, "/app/gone: No such file or directory"));
}

static void what_is_no_path(void **state)
{
	static const char *const names[] = { "[vdso]",         "//anon",
					     "/memfd:jit",     "/dev/zero (deleted)",
					     "/SYSV00000000",  "[stack]",
					     "/anon_hugepage", "" };
	struct place *const p = *state;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(names); i++) {
		struct pev_err err = PEV_ERR_INIT;

		pev_located_done(&p->located);
		assert_int_equal(
			pev_locate(&p->options, names[i], NULL, &p->located, &p->counters, &err),
			0);
		assert_null(p->located.main);
		assert_int_equal(p->located.nr_tried, 0);
	}
	/* perf keeps the vDSO in its cache. */
	put(p, "tiny.so", "cache/.build-id/01/23456789abcdef0123456789abcdef01234501/vdso");
	locate(p, "[vdso]", "0123456789abcdef0123456789abcdef01234501");
	assert_non_null(p->located.main);
	assert_int_equal(p->located.main_source, PEV_SOURCE_PERF_CACHE);
}

static void symfs(void **state)
{
	struct place *const p = *state;
	char root[128], below[256];

	/* The file at the recorded path is of another machine; that below --symfs is right. */
	put(p, "inl4", "app/inl5");
	(void)snprintf(root, sizeof(root), "%s/root", p->dir);
	(void)snprintf(below, sizeof(below), "root%s/app/inl5", p->dir);
	put(p, "inl5", below);
	p->options.symfs = root;
	locate(p, "/app/inl5", ID_INL5);
	assert_non_null(p->located.main);
	assert_int_equal(p->located.main_source, PEV_SOURCE_SYMFS);
	/* Without a build-id only what is below it counts. */
	locate(p, "/app/other", "");
	assert_null(p->located.main);
	put(p, "inl5", "app/other");
	locate(p, "/app/other", "");
	assert_null(p->located.main);
	/* All files in one directory will do, too. */
	put(p, "inl5", "root/other");
	locate(p, "/app/other", "");
	assert_non_null(p->located.main);
}

static void separate_debug_files(void **state)
{
	static const char *const tail =
		"/.build-id/01/23456789abcdef0123456789abcdef01234511.debug";
	static const struct {
		const char *to;
		enum pev_source source;
	} cases[] = {
		{ "extra%s", PEV_SOURCE_DEBUG_DIR },
		{ "system%s", PEV_SOURCE_SYSTEM },
	};
	struct place *const p = *state;
	char extra[96], to[256];
	const char *const dirs[] = { extra };

	(void)snprintf(extra, sizeof(extra), "%s/extra", p->dir);
	p->options.debug_dirs = dirs;
	p->options.nr_debug_dirs = 1;
	put(p, "link/inl5", "app/inl5");
	locate(p, "/app/inl5", ID_INL5);
	assert_non_null(p->located.main);
	assert_null(p->located.debug);
	assert_int_equal(p->counters.no_debug_info, 1);
	/* From the last to be asked to the first. */
	put(p, "link/.debug/inl5.debug",
	    "cache/.build-id/01/23456789abcdef0123456789abcdef01234511/debug");
	locate(p, "/app/inl5", ID_INL5);
	assert_non_null(p->located.debug);
	assert_int_equal(p->located.debug_source, PEV_SOURCE_PERF_CACHE);
	put(p, "link/.debug/inl5.debug", "app/.debug/inl5.debug");
	locate(p, "/app/inl5", ID_INL5);
	assert_int_equal(p->located.debug_source, PEV_SOURCE_DEBUGLINK);
	for (size_t i = PEV_ARRAY_SIZE(cases); i-- > 0;) {
		char name[64];

		(void)snprintf(name, sizeof(name), "%.*s", (int)(strlen(cases[i].to) - 2),
			       cases[i].to);
		(void)snprintf(to, sizeof(to), "%s%s", name, tail);
		put(p, "link/.debug/inl5.debug", to);
		locate(p, "/app/inl5", ID_INL5);
		assert_non_null(p->located.debug);
		assert_int_equal(p->located.debug_source, cases[i].source);
		assert_true(pev_image_has(p->located.debug, ".debug_info"));
	}
	/* The debug file alone, when the program is gone. */
	locate(p, "/app/gone", ID_INL5);
	assert_null(p->located.main);
	assert_non_null(p->located.debug);
}

/* Writes "GNU" build-id notes out of a copy: then only the CRC can tell. */
static void strip_build_id(const struct place *p, const char *path)
{
	char command[512];

	(void)snprintf(command, sizeof(command),
		       "objcopy --remove-section .note.gnu.build-id %s/%s", p->dir, path);
	assert_int_equal(system(command), 0);
}

static void the_crc_of_a_debuglink(void **state)
{
	struct place *const p = *state;
	char command[1024];

	if (system("objcopy --version >/dev/null 2>&1") != 0)
		skip();
	put(p, "link/.debug/inl5.debug", "app/inl5.debug");
	put(p, "link/inl5", "app/inl5");
	strip_build_id(p, "app/inl5.debug");
	strip_build_id(p, "app/inl5");
	/* The link holds the CRC of the file as it was. */
	locate(p, "/app/inl5", "");
	assert_non_null(p->located.main);
	assert_null(p->located.debug);
	assert_int_equal(code_of(p, "/app/inl5.debug"), -ESTALE);
	(void)snprintf(command, sizeof(command),
		       "cd %s/app && objcopy --remove-section .gnu_debuglink inl5 && "
		       "objcopy --add-gnu-debuglink=inl5.debug inl5",
		       p->dir);
	assert_int_equal(system(command), 0);
	locate(p, "/app/inl5", "");
	assert_non_null(p->located.debug);
	assert_int_equal(p->located.debug_source, PEV_SOURCE_DEBUGLINK);
}

static void the_file_of_dwz(void **state)
{
	struct place *const p = *state;

	put(p, "dwz/one", "app/one");
	locate(p, "/app/one", ID_INL5);
	assert_non_null(p->located.main);
	assert_null(p->located.alt);
	put(p, "dwz/common", "app/common");
	locate(p, "/app/one", ID_INL5);
	assert_non_null(p->located.alt);
}

static void mini_debuginfo(void **state)
{
	struct place *const p = *state;

	put(p, "mini/inl5", "app/inl5");
	locate(p, "/app/inl5", ID_INL5);
	assert_non_null(p->located.mini);
	/* Not needed when there is more. */
	put(p, "link/.debug/inl5.debug",
	    "system/.build-id/01/23456789abcdef0123456789abcdef01234511.debug");
	locate(p, "/app/inl5", ID_INL5);
	assert_non_null(p->located.debug);
	assert_null(p->located.mini);
}

static int store(void *arg, const struct pev_build_id *id, enum pev_wanted wanted,
		 struct pev_image **ret, struct pev_err *err)
{
	char text[PEV_BUILD_ID_TEXT];

	assert_string_equal(pev_build_id_text(id, text), ID_INL5);
	if (wanted != PEV_WANTED_MODULE)
		return -ENOENT;
	return pev_image_open(arg, ret, err);
}

static void the_store_of_the_trace(void **state)
{
	struct place *const p = *state;
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s", fixture("inl5"));
	p->options.store = store;
	p->options.store_arg = path;
	locate(p, "/app/gone", ID_INL5);
	assert_non_null(p->located.main);
	assert_int_equal(p->located.main_source, PEV_SOURCE_STORE);
	/* What it gives is held against the build-id as well. */
	(void)snprintf(path, sizeof(path), "%s", fixture("inl4"));
	locate(p, "/app/gone", ID_INL5);
	assert_null(p->located.main);
	assert_int_equal(p->counters.stale, 1);
}

/* A server on the loopback that answers debuginfod's requests from fixtures, or never. */
struct server {
	int fd;
	uint16_t port;
	pthread_t thread;
	bool silent;
	char path[PATH_MAX]; /* what it gives for any executable or debug info of ID_INL5 */
	unsigned requests;
};

static void answer(struct server *s, int client)
{
	char request[4096] = "", head[256];
	_cleanup_buf_ struct pev_buf body = { 0 };
	ssize_t n = 0, k;

	while (!strstr(request, "\r\n\r\n") &&
	       (k = read(client, request + n, sizeof(request) - 1 - (size_t)n)) > 0)
		n += k;
	__atomic_add_fetch(&s->requests, 1, __ATOMIC_SEQ_CST);
	if (!strstr(request, "/buildid/" ID_INL5 "/") ||
	    pev_read_path(s->path, 1 << 24, &body) < 0) {
		static const char none[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
					   "Connection: close\r\n\r\n";

		(void)pev_write_all(client, none, strlen(none));
		return;
	}
	(void)snprintf(head, sizeof(head),
		       "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		       body.size);
	(void)pev_write_all(client, head, strlen(head));
	(void)pev_write_all(client, body.data, body.size);
}

static void *serve(void *arg)
{
	struct server *const s = arg;

	for (;;) {
		_cleanup_close_ int client = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
		char byte;

		if (client < 0)
			return NULL;
		if (s->silent) {
			/* Until the other side gives up. */
			while (read(client, &byte, 1) > 0)
				;
			__atomic_add_fetch(&s->requests, 1, __ATOMIC_SEQ_CST);
		} else {
			answer(s, client);
		}
	}
}

static void server_start(struct server *s, const struct place *p)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t size = sizeof(addr);
	char url[64], cache[128];

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(s->fd >= 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(s->fd, 8), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&addr, &size), 0);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(addr.sin_port));
	(void)snprintf(cache, sizeof(cache), "%s/debuginfod", p->dir);
	assert_int_equal(setenv("DEBUGINFOD_URLS", url, 1), 0);
	assert_int_equal(setenv("DEBUGINFOD_CACHE_PATH", cache, 1), 0);
	(void)unsetenv("http_proxy");
	(void)unsetenv("HTTP_PROXY");
	(void)unsetenv("all_proxy");
	(void)unsetenv("ALL_PROXY");
}

static void server_stop(struct server *s)
{
	(void)shutdown(s->fd, SHUT_RDWR);
	assert_int_equal(pthread_join(s->thread, NULL), 0);
	(void)close(s->fd);
	(void)unsetenv("DEBUGINFOD_URLS");
}

static struct pev_debuginfod *debuginfod(uint64_t timeout_ms, pev_debuginfod_progress progress,
					 void *arg)
{
	struct pev_debuginfod *d = NULL;
	struct pev_err err = PEV_ERR_INIT;
	const int r = pev_debuginfod_new(timeout_ms, progress, arg, &d, &err);

	if (r == -ENOSYS) {
		assert_non_null(strstr(err.msg, "libdebuginfod1"));
		print_message("libdebuginfod.so.1 is not installed\n");
		skip();
	}
	assert_int_equal(r, 0);
	return d;
}

static int note_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
	char *const text = arg;

	assert_true(done <= total || total == 0);
	(void)snprintf(text, 256, "%s", what);
	return 0;
}

static void from_debuginfod(void **state)
{
	struct place *const p = *state;
	struct server server = { 0 };
	struct pev_debuginfod *d;
	char progress[256] = "";

	(void)snprintf(server.path, sizeof(server.path), "%s", fixture("inl5"));
	server_start(&server, p);
	d = debuginfod(60000, note_progress, progress);
	p->options.debuginfod = d;
	locate(p, "/app/gone", ID_INL5);
	assert_non_null(p->located.main);
	assert_int_equal(p->located.main_source, PEV_SOURCE_DEBUGINFOD);
	assert_int_equal(p->counters.fetched, 1);
	/* What it has not got is a story, not an error. */
	locate(p, "/app/gone", "1a2b3c4d");
	assert_null(p->located.main);
	assert_int_equal(code_of(p, "debuginfod"), -ENOENT);
	/* A server that lies is found out. */
	(void)snprintf(server.path, sizeof(server.path), "%s", fixture("inl4"));
	put(p, "link/inl5", "app/inl5");
	locate(p, "/app/inl5", ID_INL5);
	assert_non_null(p->located.main);
	assert_null(p->located.debug);
	assert_int_equal(p->counters.stale, 1);
	pev_debuginfod_free(d);
	server_stop(&server);
}

static void a_silent_debuginfod(void **state)
{
	struct place *const p = *state;
	struct server server = { .silent = true };
	static const char *const ids[] = { "aa01", "aa02", "aa03" };
	struct pev_debuginfod *d;
	struct pev_err err = PEV_ERR_INIT;
	char *path = NULL;
	int fd = -1;

	server_start(&server, p);
	d = debuginfod(1, NULL, NULL);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(ids); i++) {
		const struct pev_build_id id = id_of(ids[i]);

		assert_int_equal(
			pev_debuginfod_find(d, &id, true, "debug info of /app", &fd, &path, &err),
			-ETIMEDOUT);
		assert_non_null(strstr(err.msg, "/app"));
	}
	/* After two that did not come, the third was not asked for. */
	assert_non_null(strstr(err.msg, "too slow before"));
	pev_debuginfod_free(d);
	server_stop(&server);
	assert_int_equal(server.requests, 2);
}

static int cancel(void *arg, const char *what, uint64_t done, uint64_t total)
{
	(void)what;
	(void)done;
	(void)total;
	++*(unsigned *)arg;
	return 1;
}

static void a_cancelled_debuginfod(void **state)
{
	struct place *const p = *state;
	struct server server = { .silent = true };
	const struct pev_build_id id = id_of(ID_INL5);
	struct pev_err err = PEV_ERR_INIT;
	struct pev_debuginfod *d;
	unsigned calls = 0;
	char *path = NULL;
	int fd = -1, r;

	server_start(&server, p);
	d = debuginfod(600000, cancel, &calls);
	r = pev_debuginfod_find(d, &id, false, "/app", &fd, &path, &err);
	assert_int_equal(r, -ECANCELED);
	assert_true(calls > 0);
	pev_debuginfod_free(d);
	server_stop(&server);
}

static void no_debuginfod(void **state)
{
	struct pev_debuginfod *d = NULL;

	(void)state;
	(void)unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(pev_debuginfod_new(1000, NULL, NULL, &d, NULL), -ENOENT);
	assert_int_equal(setenv("DEBUGINFOD_URLS", "", 1), 0);
	assert_int_equal(pev_debuginfod_new(1000, NULL, NULL, &d, NULL), -ENOENT);
	(void)unsetenv("DEBUGINFOD_URLS");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_recorded_path),
		TEST(never_another_build_id),
		TEST(a_gone_file),
		TEST(what_is_no_path),
		TEST(symfs),
		TEST(separate_debug_files),
		TEST(the_crc_of_a_debuglink),
		TEST(the_file_of_dwz),
		TEST(mini_debuginfo),
		TEST(the_store_of_the_trace),
		TEST(from_debuginfod),
		TEST(a_silent_debuginfod),
		TEST(a_cancelled_debuginfod),
		TEST(no_debuginfod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
