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
#include "attach/stub.h"
#include "base/error.h"
#include "target/maps.h"

/* lea 0x1000(%rip), %r8; lea 0x2000(%rip), %rax */
static const uint8_t loads_two[] = { 0x4c, 0x8d, 0x05, 0x00, 0x10, 0, 0,
				     0x48, 0x8d, 0x05, 0x00, 0x20, 0, 0 };
/* nop; lea 0xff8(%rip), %rdx; and what only looks alike, lea 0x2000(%rax), %rax */
static const uint8_t loads_one[] = { 0x90, 0x48, 0x8d, 0x15, 0xf8, 0x0f, 0,
				     0,    0x48, 0x8d, 0x80, 0xf1, 0x1f, 0 };

static void test_an_address_that_two_functions_load_is_found(void **state)
{
	const size_t bytes = sizeof loads_two;

	(void)state;
	assert_int_equal(attach_common_address(loads_two, 0x4000, loads_one, 0x3fff + 8, bytes),
			 0x4000 + 7 + 0x1000);
	assert_int_equal(attach_common_address(loads_two, 0x4000, loads_one, 0x9000, bytes), 0);
	/* An instruction that is cut off. */
	assert_int_equal(attach_common_address(loads_two, 0x4000, loads_one, 0x4007, 6), 0);
}

static void test_bytes_are_found(void **state)
{
	(void)state;
	assert_int_equal(attach_find_bytes((const uint8_t *)"abcabd", 6, "abd", 3), 3);
	assert_int_equal(attach_find_bytes((const uint8_t *)"abcabd", 5, "abd", 3), -1);
}

/* One with a first value, one without. */
static _Thread_local int has_first_value = 4711;
static _Thread_local char is_zero[100];

static void note_end(void *value)
{
	(void)value;
}

/* A new thread's variables are put below an address as libc would, and are what it begins with. */
static void assert_first_values(const struct tls_blocks *tls)
{
	const uintptr_t thread = (uintptr_t)pthread_self();
	const uint64_t below = tls_blocks_below(tls);
	char *memory = test_calloc(1, below);

	has_first_value = 1;
	memset(is_zero, 1, sizeof is_zero);
	for (size_t i = 0; i < tls->count; i++)
		memcpy(memory + below - tls->blocks[i].offset, tls->blocks[i].image,
		       tls->blocks[i].image_bytes);
	const uintptr_t with = thread - (uintptr_t)&has_first_value;
	const uintptr_t without = thread - (uintptr_t)is_zero;
	int value;

	assert_in_range(with, 1, below);
	assert_in_range(without, 1, below);
	memcpy(&value, memory + below - with, sizeof value);
	assert_int_equal(value, 4711);
	assert_int_equal(memory[below - without], 0);
	test_free(memory);
}

/* Its vector is the one that the linker made for this thread, as far as that goes. */
static void assert_vector(const struct tls_blocks *tls)
{
	const uintptr_t thread = (uintptr_t)pthread_self();
	const size_t bytes = tls_blocks_vector_bytes(tls);
	uint64_t *const *tcb = (uint64_t *const *)thread;
	const uint64_t *theirs = tcb[1]; /* tcbhead_t.dtv */
	uint64_t *vector = test_malloc(bytes);

	tls_blocks_write_vector(tls, thread, vector);
	assert_in_range(vector[0], tls->last_number, bytes / 16 - 2);
	assert_int_equal(vector[2], theirs[0]);
	for (size_t i = 0; i < tls->count; i++) {
		const uint64_t at = tls->blocks[i].number;

		assert_int_equal(vector[2 * (at + 1)], theirs[2 * at]);
	}
	test_free(vector);
}

static void assert_keys(const struct attach_libc *libc)
{
	const struct stub_key *keys = (const void *)(uintptr_t)libc->keys;
	pthread_key_t key;

	assert_int_equal(pthread_key_create(&key, note_end), 0);
	assert_int_equal(keys[key].destructor, (uintptr_t)note_end);
	pthread_key_delete(key);
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
	const uintptr_t thread = (uintptr_t)pthread_self();

	assert_int_equal(*(const uint32_t *)(thread + libc.thread_tid_offset), gettid());
	assert_first_values(&libc.tls);
	assert_vector(&libc.tls);
	assert_keys(&libc);
	attach_libc_done(&libc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_address_that_two_functions_load_is_found),
		cmocka_unit_test(test_bytes_are_found),
		cmocka_unit_test(test_this_library_has_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
