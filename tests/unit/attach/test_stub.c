/* The stub runs where it was copied to, and leaves nothing behind. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/stub.h"

#define BYTES 4096

static char agent;
static bool is_mapped;
static int closed_code;
static struct attach_order seen;

static void *fake_dlopen(const char *path, int flags)
{
	(void)flags;
	if (strcmp(path, "agent.so") == 0)
		return is_mapped ? &agent : NULL;
	return strncmp(path, "/proc/self/fd/", 14) == 0 ? &agent : NULL;
}

static int fake_entry(const struct attach_order *order)
{
	seen = *order;
	return ATTACH_ENTERED;
}

static void *fake_dlsym(void *handle, const char *name)
{
	int (*entry)(const struct attach_order *) = fake_entry;
	void *address;

	memcpy(&address, &entry, sizeof address);
	return handle == &agent && strcmp(name, "entry") == 0 ? address : NULL;
}

static char *fake_dlerror(void)
{
	return (char *)(uintptr_t) "no such thing";
}

static int fake_munmap(void *address, size_t bytes)
{
	closed_code++;
	return munmap(address, bytes);
}

/* What a stub thread needs; the memory goes with it. */
static struct stub_block *new_block(uint32_t *no_first_thread, uint32_t patience_ms)
{
	struct stub_block *block =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(block != MAP_FAILED);
	if (code == MAP_FAILED) {
		print_message("skipped: no memory may be executed that was written\n");
		skip();
	}
	memcpy(code, stub_begin, (size_t)(stub_end - stub_begin));
	*block = (struct stub_block){
		.dlopen = (uintptr_t)fake_dlopen,
		.dlsym = (uintptr_t)fake_dlsym,
		.dlerror = (uintptr_t)fake_dlerror,
		.munmap = (uintptr_t)fake_munmap,
		.code = (uintptr_t)code,
		.data = (uintptr_t)block,
		.code_bytes = BYTES,
		.data_bytes = BYTES,
		.first_thread = (uintptr_t)no_first_thread,
		.patience_ms = patience_ms,
		.object_name = "object",
		.soname = "agent.so",
		.entry_name = "entry",
		.order = { .bytes = 77 },
	};
	return block;
}

static pthread_t start(struct stub_block *block)
{
	const uintptr_t address =
		block->code + ((uintptr_t)stub_second - (uintptr_t)stub_begin);
	void *(*run)(void *);
	pthread_t thread;

	memcpy(&run, &address, sizeof run);
	assert_int_equal(pthread_create(&thread, NULL, run, block), 0);
	return thread;
}

static void wait_for(struct stub_block *block, uint32_t state)
{
	while (__atomic_load_n(&block->state, __ATOMIC_ACQUIRE) != state)
		usleep(100);
}

static void say(struct stub_block *block, uint32_t go)
{
	__atomic_store_n(&block->go, go, __ATOMIC_RELEASE);
}

static void test_it_loads_an_object_that_it_is_given(void **state)
{
	uint32_t no_thread = 0;
	struct stub_block *block = new_block(&no_thread, 60000);
	const pthread_t thread = start(block);

	(void)state;
	is_mapped = false;
	closed_code = 0;
	wait_for(block, STUB_WANTS_OBJECT);
	assert_int_equal(write(block->object_fd, "x", 1), 1);
	const int fd = block->object_fd;

	strcpy(block->path, "/proc/self/fd/9");
	say(block, STUB_GO);
	wait_for(block, STUB_DONE);
	assert_int_equal(block->result, ATTACH_ENTERED);
	assert_int_equal(seen.bytes, 77);
	assert_false(block->was_mapped);
	say(block, STUB_LEAVE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(closed_code, 1);
	assert_int_equal(write(fd, "x", 1), -1);
}

static void test_it_uses_an_agent_that_is_there(void **state)
{
	uint32_t no_thread = 0;
	struct stub_block *block = new_block(&no_thread, 60000);

	(void)state;
	is_mapped = true;
	const pthread_t thread = start(block);

	wait_for(block, STUB_DONE);
	assert_true(block->was_mapped);
	assert_int_equal(block->object_fd, 0);
	say(block, STUB_LEAVE);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_it_leaves_a_recorder_that_says_nothing(void **state)
{
	uint32_t no_thread = 0;
	struct stub_block *block = new_block(&no_thread, 2);

	(void)state;
	is_mapped = false;
	closed_code = 0;
	assert_int_equal(pthread_join(start(block), NULL), 0);
	assert_int_equal(closed_code, 1);
}

static void test_it_says_why_nothing_was_loaded(void **state)
{
	uint32_t no_thread = 0;
	struct stub_block *block = new_block(&no_thread, 60000);

	(void)state;
	is_mapped = false;
	const pthread_t thread = start(block);

	wait_for(block, STUB_WANTS_OBJECT);
	strcpy(block->path, "/nothing");
	say(block, STUB_GO);
	wait_for(block, STUB_FAILED);
	assert_string_equal(block->error, "no such thing");
	say(block, STUB_LEAVE);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_loads_an_object_that_it_is_given),
		cmocka_unit_test(test_it_uses_an_agent_that_is_there),
		cmocka_unit_test(test_it_leaves_a_recorder_that_says_nothing),
		cmocka_unit_test(test_it_says_why_nothing_was_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
