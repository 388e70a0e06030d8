// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "unwind/demangle.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *raw, *full, *brief; /* ->brief NULL: like ->full */
} names[] = {
	/* C, Go, kernel: as they are */
	{ "main", "main", NULL },
	{ "pp", "pp", NULL }, /* not the operator that __cxa_demangle() takes it for */
	{ "i", "i", NULL },
	{ "", "", NULL },
	{ "_start", "_start", NULL },
	{ "runtime.(*mheap).alloc.func1", "runtime.(*mheap).alloc.func1", NULL },
	{ "_DYNAMIC", "_DYNAMIC", NULL },
	{ "_Z", "_Z", NULL },
	{ "_ZTuncated", "_ZTuncated", NULL },
	/* C++ */
	{ "_ZN3app3runEib", "app::run(int, bool)", "app::run" },
	{ "_ZNK3app3Set4sizeEv", "app::Set::size() const", "app::Set::size" },
	{ "_Z4sortIiEvPT_", "void sort<int>(int*)", "sort<int>" },
	{ "_ZN3app3runEi.isra.0", "app::run(int) [clone .isra.0]", "app::run" },
	{ "_ZN3app3runEi.cold", "app::run(int) [clone .cold]", "app::run" },
	{ "_ZTV3app", "vtable for app", NULL },
	{ "_ZZ4mainENKUlT_E_clIiEEDaS_",
	  "auto main::{lambda(auto:1)#1}::operator()<int>(int) const",
	  "main::{lambda(auto:1)#1}::operator()<int>" },
	/* what hangs behind stays */
	{ "_ZN3app3runEi@plt", "app::run(int)@plt", "app::run@plt" },
	{ "_ZNSs6appendEPKc@@GLIBCXX_3.4", "std::string::append(char const*)@@GLIBCXX_3.4",
	  "std::string::append@@GLIBCXX_3.4" },
	{ "puts@plt", "puts@plt", NULL },
	{ "memcpy@@GLIBC_2.14", "memcpy@@GLIBC_2.14", NULL },
	/* Rust: the hash goes */
	{ "_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place", NULL },
	{ "_ZN4core3ptr13drop_in_place17h0123456789abcdefE.llvm.1234567890",
	  "core::ptr::drop_in_place", NULL },
	{ "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
	  "<alloc::string::String as core::fmt::Debug>::fmt", NULL },
	{ "_RNvCs21hi0yVfW1J_7mycrate4main", "mycrate::main", NULL },
	{ "_RNvMs_NtCsz4W5yBh8pn_6flate23memNtB4_8Compress12compress_vec",
	  "<flate2::mem::Compress>::compress_vec", NULL },
	{ "_RNvCs21hi0yVfW1J_7mycrate4main.llvm.1234", "mycrate::main", NULL },
	{ "_RNvCs21hi0yVfW1J_7mycrate4main.specialized.1", "mycrate::main.specialized.1", NULL },
	{ "_RNvCs21hi0yVfW1J_7mycrate4main@plt", "mycrate::main@plt", NULL },
	/* D */
	{ "_Dmain", "D main", NULL },
	{ "_D3std5stdio7writelnFAyaZv", "std.stdio.writeln(immutable(char)[])", NULL },
};

static void known_names(void **state)
{
	struct pev_demangler *const full = pev_demangler_new(PEV_DEMANGLE_FULL);
	struct pev_demangler *const brief = pev_demangler_new(PEV_DEMANGLE_SHORT);
	struct pev_demangler *const off = pev_demangler_new(PEV_DEMANGLE_OFF);

	(void)state;
	/* Twice: the second time it comes from the cache. */
	for (size_t i = 0; i < 2 * PEV_ARRAY_SIZE(names); i++) {
		const char *const raw = names[i / 2].raw, *const want = names[i / 2].full;

		assert_string_equal(pev_demangle(full, raw), want);
		assert_string_equal(pev_demangle(brief, raw),
				    names[i / 2].brief ? names[i / 2].brief : want);
		assert_string_equal(pev_demangle(off, raw), raw);
	}
	pev_demangler_free(full);
	pev_demangler_free(brief);
	pev_demangler_free(off);
}

static void equal_names_have_equal_pointers(void **state)
{
	struct pev_demangler *const d = pev_demangler_new(PEV_DEMANGLE_FULL);
	char copy[] = "_ZN3FooC1Ev";

	(void)state;
	/* Both constructors are "Foo::Foo()". */
	assert_ptr_equal(pev_demangle(d, "_ZN3FooC1Ev"), pev_demangle(d, "_ZN3FooC2Ev"));
	assert_ptr_equal(pev_demangle(d, "_ZN3FooC1Ev"), pev_demangle(d, copy));
	copy[0] = 'x';
	assert_string_equal(pev_demangle(d, "_ZN3FooC1Ev"), "Foo::Foo()");
	for (unsigned i = 0; i < 5000; i++) {
		char raw[32], want[32];

		(void)snprintf(raw, sizeof(raw), "_Z5f%04uv", i);
		(void)snprintf(want, sizeof(want), "f%04u()", i);
		assert_string_equal(pev_demangle(d, raw), want);
	}
	assert_string_equal(pev_demangle(d, "_Z5f0000v"), "f0000()");
	pev_demangler_free(d);
}

/* Each argument is a pair of the one before, twice: 2^40 names when written out. */
static void names_that_explode_stay_mangled(void **state)
{
	struct pev_demangler *const d = pev_demangler_new(PEV_DEMANGLE_FULL);
	char raw[1024] = "_Z1fSt4pairIiiE";

	(void)state;
	for (unsigned i = 0; i < 36; i++) {
		const char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10);
		const size_t n = strlen(raw);

		(void)snprintf(raw + n, sizeof(raw) - n, "S_IS%c_S%c_E", digit, digit);
	}
	assert_string_equal(pev_demangle(d, raw), raw);
	assert_string_equal(pev_demangle(d, "_ZN3FooC1Ev"), "Foo::Foo()");
	pev_demangler_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_names),
		cmocka_unit_test(equal_names_have_equal_pointers),
		cmocka_unit_test(names_that_explode_stay_mangled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
