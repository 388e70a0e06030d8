// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/kallsyms.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static const char sample[] = "0000000000000000 A fixed_percpu_data\n"
			     "ffffffff81000000 T _stext\n"
			     "ffffffff81000000 T _text\n"
			     "ffffffff81000040 t _text_of_another\n"
			     "ffffffff82209988 T _etext\n"
			     "ffffffff83000000 D _edata\n"
			     "ffffffffc0000000 t init_once\t[fuse]\n"
			     "ffffffffc0000000 T _text\t[fuse]\n"
			     "ffffffffc0200100 t bpf_prog_0011223344556677_two\t[bpf]\n"
			     "ffffffffc0200000 t bpf_prog_0011223344556677_one\t[bpf]\n"
			     "ffffffffc0300000 t bpf_trampoline_6442\t[bpf]\n";

static int read_text(const char *text, size_t size, bool want_bpf, struct pev_kallsyms *ret,
		     struct pev_err *err)
{
	_cleanup_close_ int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(pev_write_all(fd, text, size), 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return pev_kallsyms_read(path, want_bpf, ret, err);
}

static void test_all(void **state)
{
	_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };
	static const char *const names[] = { "bpf_prog_0011223344556677_one",
					     "bpf_prog_0011223344556677_two",
					     "bpf_trampoline_6442" };

	(void)state;
	assert_int_equal(read_text(sample, sizeof(sample) - 1, true, &k, NULL), 0);
	assert_int_equal(k.text, 0xffffffff81000000);
	assert_int_equal(k.stext, 0xffffffff81000000);
	assert_int_equal(k.etext, 0xffffffff82209988);
	assert_int_equal(k.edata, 0xffffffff83000000);
	assert_false(k.hidden);
	assert_int_equal(k.nr_bpf, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal((const char *)k.names.data + k.bpf[i].name, names[i]);
	assert_int_equal(k.bpf[1].addr, 0xffffffffc0200100);
}

/* Without BPF nothing after the kernel's own symbols is looked at, not even for its shape. */
static void test_kernel_only(void **state)
{
	static const char text[] =
		"ffffffff81000000 T _text\nffffffffc0000000 t x\t[fuse]\nrubbish\n";
	_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };

	(void)state;
	assert_int_equal(read_text(text, sizeof(text) - 1, false, &k, NULL), 0);
	assert_int_equal(k.text, 0xffffffff81000000);
	assert_int_equal(k.nr_bpf, 0);
	assert_int_equal(read_text(text, sizeof(text) - 1, true, &k, NULL), -EBADMSG);
}

static void test_hidden(void **state)
{
	static const char text[] = "0000000000000000 T _text\n0000000000000000 T _etext\n"
				   "0000000000000000 t bpf_prog_0011223344556677_one\t[bpf]\n";
	_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };

	(void)state;
	assert_int_equal(read_text(text, sizeof(text) - 1, true, &k, NULL), 0);
	assert_true(k.hidden);
	assert_int_equal(k.text, 0);
	assert_int_equal(k.nr_bpf, 0);
	assert_int_equal(read_text("", 0, true, &k, NULL), 0);
	assert_false(k.hidden);
}

/* More text than one read brings, with lines across every boundary. */
static void test_long(void **state)
{
	_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };
	_cleanup_buf_ struct pev_buf text = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 20000; i++)
		pev_buf_printf(&text, "ffffffff81%06x t symbol_number_%u\n", i, i);
	pev_buf_printf(&text, "ffffffff82000000 T _etext\n");
	for (unsigned int i = 0; i < 5000; i++)
		pev_buf_printf(&text, "ffffffffc1%06x t bpf_prog_%u\t[bpf]\n", 5000 - i, i);
	assert_int_equal(pev_buf_status(&text), 0);
	assert_int_equal(read_text((const char *)text.data, text.size, true, &k, NULL), 0);
	assert_int_equal(k.etext, 0xffffffff82000000);
	assert_int_equal(k.nr_bpf, 5000);
	for (size_t i = 1; i < k.nr_bpf; i++)
		assert_true(k.bpf[i - 1].addr < k.bpf[i].addr);
}

static void test_errors(void **state)
{
	static const char *const bad[] = {
		"ffffffff81000000\n",
		"ffffffff81000000 T\n",
		"ffffffff8100000g T _text\n",
		" T _text\n",
		"1ffffffff81000000 T _text\n",
		"ffffffff81000000 T _text\tfuse\n",
		"ffffffff81000000 T _text\t[\n",
		"ffffffff81000000 T _text",
	};
	struct pev_kallsyms k = { .text = 1 };
	struct pev_err err = PEV_ERR_INIT;
	static char endless[100000];

	(void)state;
	assert_int_equal(pev_kallsyms_read("/nonexistent/kallsyms", true, &k, &err), -ENOENT);
	assert_err(&err, -ENOENT, "cannot open /nonexistent/kallsyms: No such file or directory");
	for (size_t i = 0; i < PEV_ARRAY_SIZE(bad); i++) {
		err = PEV_ERR_INIT;
		assert_int_equal(read_text(bad[i], strlen(bad[i]), true, &k, &err), -EBADMSG);
		assert_int_equal(err.code, -EBADMSG);
		assert_non_null(strstr(err.msg, ": line 1 is not \"address type name\""));
	}
	memset(endless, 'a', sizeof(endless));
	assert_int_equal(read_text(endless, sizeof(endless), true, &k, &err), -EBADMSG);
	assert_int_equal(k.text, 1);
}

static void test_damaged(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(sample); n++) {
		_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };
		const int r = read_text(sample, n, true, &k, NULL);

		assert_int_equal(r, n == 0 || sample[n - 1] == '\n' ? 0 : -EBADMSG);
	}
	for (size_t bit = 0; bit < (sizeof(sample) - 1) * 8; bit += 3) {
		_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };
		char copy[sizeof(sample)];

		memcpy(copy, sample, sizeof(sample));
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		(void)read_text(copy, sizeof(sample) - 1, true, &k, NULL);
	}
}

static void test_without_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned int n = 1; failed; n++) {
		_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };
		int r;

		alloc_fail_at(n);
		r = read_text(sample, sizeof(sample) - 1, true, &k, NULL);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_kernel_only),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
