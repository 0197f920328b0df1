/* What attaching needs is found in the C library of this very process. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/libc.h"
#include "base/error.h"
#include "target/maps.h"

/* mov 0x1000(%rip), %rax; add %fs:0, %rax; ret */
static const uint8_t errno_code[] = { 0x48, 0x8b, 0x05, 0x00, 0x10, 0, 0, 0x64, 0x48,
				      0x03, 0x04, 0x25, 0,    0,    0, 0, 0xc3 };

static void test_the_offset_of_errno_is_read_from_code(void **state)
{
	static const uint8_t branch[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[sizeof branch + sizeof errno_code];

	(void)state;
	assert_int_equal(attach_errno_slot(errno_code, sizeof errno_code, 0x4000),
			 0x4000 + 7 + 0x1000);
	memcpy(code, branch, sizeof branch);
	memcpy(code + sizeof branch, errno_code, sizeof errno_code);
	assert_int_equal(attach_errno_slot(code, sizeof code, 0x4000), 0x4000 + 11 + 0x1000);
	for (size_t bytes = 0; bytes < sizeof errno_code - 1; bytes++)
		assert_int_equal(attach_errno_slot(errno_code, bytes, 0x4000), 0);
	code[4] = 0x90;
	assert_int_equal(attach_errno_slot(code, sizeof code, 0x4000), 0);
}

static void test_bytes_are_found(void **state)
{
	(void)state;
	assert_int_equal(attach_find_bytes((const uint8_t *)"abcabd", 6, "abd", 3), 3);
	assert_int_equal(attach_find_bytes((const uint8_t *)"abcabd", 5, "abd", 3), -1);
}

static void test_this_library_has_all_of_it(void **state)
{
	struct maps *maps = NULL;
	struct attach_libc libc;
	struct error err = { "" };

	(void)state;
	assert_int_equal(maps_read(getpid(), &maps, &err), 0);
	const int rc = attach_libc_find(getpid(), maps, &libc, &err);

	maps_free(maps);
	if (rc == -ENOTSUP) {
		print_message("skipped: %s\n", err.text);
		skip();
	}
	assert_int_equal(rc, 0);
	assert_int_equal(libc.munmap, (uintptr_t)dlsym(RTLD_NEXT, "munmap"));
	/* errno lies within libc's variables, below the thread pointer. */
	const uintptr_t thread = (uintptr_t)pthread_self(), place = (uintptr_t)&errno;

	assert_in_range(place, thread - libc.tls_offset,
			thread - libc.tls_offset + libc.tls_bytes - sizeof errno);
	assert_int_equal(*(const uint32_t *)(thread + libc.thread_tid_offset), gettid());
	attach_libc_done(&libc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_offset_of_errno_is_read_from_code),
		cmocka_unit_test(test_bytes_are_found),
		cmocka_unit_test(test_this_library_has_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
