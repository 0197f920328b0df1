/* What a system call is on, and circles of threads that wait for each other. */
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "base/text.h"
#include "pages.h"
#include "remote/calls.h"
#include "remote/data_names.h"
#include "remote/deadlock.h"
#include "remote/process.h"
#include "remote/ruby_wait.h"
#include "remote/stack.h"
#include "remote/task.h"
#include "remote/wait.h"
#include "remote/wait_label.h"
#include "remote/wait_lock.h"
#include "target/maps.h"

static void descriptors_are_called_by_what_they_are(void **state)
{
	(void)state;
	assert_string_equal(wait_descriptor_kind("socket:[1234]"), "a socket");
	assert_string_equal(wait_descriptor_kind("pipe:[1]"), "a pipe");
	assert_string_equal(wait_descriptor_kind("anon_inode:[eventpoll]"), "an epoll");
	assert_string_equal(wait_descriptor_kind("/var/log/socket:"), "/var/log/socket:");
}

static void calls_have_names(void **state)
{
	(void)state;
	assert_string_equal(call_find(SYS_futex)->name, "futex");
	assert_int_equal(call_find(SYS_clock_nanosleep)->argument, 2);
	assert_string_equal(call_find(SYS_newfstatat)->name, "newfstatat");
	assert_int_equal(call_find(SYS_newfstatat)->state, WAIT_STATE_IO);
	assert_int_equal(call_find(SYS_mprotect)->state, WAIT_STATE_SYSCALL);
	assert_null(call_find(-1));
	assert_null(call_find(100000));
}

static struct wait_lock lock_of(const int32_t mutex[5], uint64_t command, uint64_t value)
{
	const struct task_call call = { .number = SYS_futex,
					.arguments = { PAGES_BEGIN, command, value } };
	struct remote remote = { .fd = -1 };
	struct pages *pages = pages_new(&remote.mem);
	struct wait_lock lock;

	pages_put(pages, PAGES_BEGIN, mutex, 5 * sizeof *mutex);
	lock = wait_find_lock(&remote, &call);
	table_done(&remote.mutexes);
	memory_done(&remote.mem);
	free(pages);
	return lock;
}

static void a_mutex_is_held_by_what_its_lock_word_says(void **state)
{
	const int32_t held[5] = { 2, 0, 42, 1, 0 };
	const int32_t recursive[5] = { 2, 3, 42, 1, 1 };
	const int32_t of_priority[5] = { (int32_t)(FUTEX_WAITERS | 43), 0, 43, 1, 32 };
	const int32_t robust[5] = { (int32_t)(FUTEX_WAITERS | 44), 0, 44, 1, 16 };

	(void)state;
	assert_int_equal(lock_of(held, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2).inner_owner, 42);
	assert_int_equal(lock_of(held, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2).address,
			 PAGES_BEGIN);
	assert_int_equal(lock_of(recursive, FUTEX_WAIT, 2).inner_owner, 42);
	assert_int_equal(lock_of(of_priority, FUTEX_LOCK_PI, 0).inner_owner, 43);
	assert_int_equal(lock_of(robust, FUTEX_WAIT, FUTEX_WAITERS | 44).inner_owner, 44);
	/* It was another thread's when the wait began. */
	assert_int_equal(lock_of(robust, FUTEX_WAIT, FUTEX_WAITERS | 43).inner_owner, 44);
}

static void what_is_no_mutex_has_no_owner(void **state)
{
	const int32_t free_now[5] = { 0, 0, 0, 0, 0 };
	const int32_t semaphore[5] = { 0, 0, 1, 0, 0 };
	const int32_t condition[5] = { 2, 0, 7, 1, 0x10000000 };
	const int32_t held[5] = { 2, 0, 42, 1, 0 };
	/* Its owner has ended. */
	const int32_t left[5] = { (int32_t)(FUTEX_WAITERS | FUTEX_OWNER_DIED), 0, 44, 1, 16 };

	(void)state;
	assert_int_equal(lock_of(left, FUTEX_WAIT, FUTEX_WAITERS | FUTEX_OWNER_DIED).address,
			 0);
	assert_int_equal(lock_of(free_now, FUTEX_WAIT, 2).address, 0);
	assert_int_equal(lock_of(semaphore, FUTEX_WAIT_BITSET, 0).address, 0);
	assert_int_equal(lock_of(condition, FUTEX_WAIT_BITSET, 2).address, 0);
	assert_int_equal(lock_of(held, FUTEX_WAIT, 1).address, 0);
}

/* Of a thread that waits in word `futex` of the lock, with that word's value. */
static struct wait_lock rwlock_of(const uint32_t words[8], size_t futex)
{
	const struct task_call call = { .number = SYS_futex,
					.arguments = { PAGES_BEGIN + 4 * futex,
						       FUTEX_WAIT_BITSET, words[futex] } };
	struct remote remote = { .fd = -1 };
	struct pages *pages = pages_new(&remote.mem);
	struct wait_lock lock;

	pages_put(pages, PAGES_BEGIN, words, 8 * sizeof *words);
	lock = wait_find_lock(&remote, &call);
	table_done(&remote.mutexes);
	memory_done(&remote.mem);
	free(pages);
	return lock;
}

static void a_read_write_lock_has_a_writer_or_a_number_of_readers(void **state)
{
	const uint32_t written[8] = { 1 | 2 | 8, 0, 3, 3, 0, 0, 42, 0 };
	const uint32_t read_by_two[8] = { 2 | 16, 0, 2, 1, 0, 0, 0, 0 };
	const uint32_t condition[8] = { 2, 7, 3, 3, 1, 0, 42, 0 };

	(void)state;
	assert_int_equal(rwlock_of(written, 2).inner_owner, 42);
	assert_int_equal(rwlock_of(written, 3).inner_owner, 42);
	assert_int_equal(rwlock_of(written, 3).address, PAGES_BEGIN);
	assert_true(rwlock_of(written, 3).is_rwlock);
	assert_int_equal(rwlock_of(read_by_two, 2).inner_owner, 0);
	assert_int_equal(rwlock_of(read_by_two, 2).readers, 2);
	assert_int_equal(rwlock_of(read_by_two, 3).address, 0);
	assert_int_equal(rwlock_of(condition, 2).address, 0);
}

/* What a Ruby thread waits for that is in these methods, the innermost first. */
static const struct ruby_wait *ruby_wait_in(const char *method, const char *caller,
					    int64_t call)
{
	struct stack_frame frames[] = {
		{ .kind = STACK_NATIVE, .address = 1 },
		{ .kind = STACK_RUBY_C, .name = method },
		{ .kind = STACK_NATIVE, .address = 2 },
		{ .kind = STACK_RUBY_C, .name = caller },
	};
	const struct remote_stack stack = { .frames = frames, .count = 4 };

	return ruby_wait_of(&stack, call);
}

static void rubys_methods_say_what_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(ruby_wait_in("Thread::Queue#pop", "Kernel#loop", SYS_futex)->state,
			 WAIT_STATE_LOCK);
	assert_int_equal(ruby_wait_in("Process.waitpid", "Kernel#loop", SYS_futex)->state,
			 WAIT_STATE_WAIT);
	/* To close a pipe of popen() waits for the child; other files' are what the call is on. */
	assert_int_equal(ruby_wait_in("IO#close", "Kernel#loop", SYS_futex)->state,
			 WAIT_STATE_WAIT);
	assert_int_equal(ruby_wait_in("IO#close", "Kernel#loop", SYS_ppoll)->state,
			 WAIT_STATE_WAIT);
	assert_null(ruby_wait_in("IO#close", "Kernel#loop", SYS_close));
	assert_int_equal(ruby_wait_in("TCPSocket#initialize", "Kernel#loop", SYS_futex)->state,
			 WAIT_STATE_IO);
	assert_null(ruby_wait_in("TCPSocket#initialize", "Kernel#loop", SYS_ppoll));
	assert_int_equal(
		ruby_wait_in("Mutex#sleep", "Thread::ConditionVariable#wait", SYS_futex)->state,
		WAIT_STATE_LOCK);
	assert_int_equal(ruby_wait_in("Thread::Mutex#sleep", "Kernel#loop", SYS_futex)->state,
			 WAIT_STATE_SLEEP);
	assert_null(ruby_wait_in("Kernel#loop", "Kernel#sleep", SYS_futex));
	assert_true(ruby_wait_is_in(SYS_futex));
	assert_false(ruby_wait_is_in(SYS_pread64));
	assert_false(ruby_wait_is_in(-1));
}

/* The state of a thread that a stop interrupted in a call with this code before its end. */
static enum wait_state resumed_state(const uint8_t *code, size_t size)
{
	struct remote remote = { .fd = -1, .maps = maps_parse("", 0) };
	struct pages *pages = pages_new(&remote.mem);
	const struct wait_thread thread = {
		.state = 'S',
		.call = { .number = SYS_restart_syscall,
			  .arguments = { 0, 1 },
			  .pc = PAGES_BEGIN + 0x100 },
	};
	struct wait wait;

	pages_put(pages, PAGES_BEGIN + 0x100 - size, code, size);
	wait_read(&remote, &thread, &wait);
	maps_free(remote.maps);
	data_names_done(&remote.data_names);
	intern_done(&remote.labels);
	table_done(&remote.mutexes);
	memory_done(&remote.mem);
	free(pages);
	return (enum wait_state)wait.state;
}

static void a_call_that_a_stop_ended_is_the_one_it_was(void **state)
{
	/* mov $202,%eax; syscall, and with an instruction in between. */
	const uint8_t futex[] = { 0xb8, 0xca, 0, 0, 0, 0x0f, 0x05 };
	const uint8_t nap[] = { 0xb8, 0xe6, 0, 0, 0, 0x31, 0xd2, 0x0f, 0x05 };
	/* syscall(3): the number is in a register. */
	const uint8_t any[] = { 0x48, 0x89, 0xf8, 0x0f, 0x05 };

	(void)state;
#if defined(__x86_64__)
	assert_int_equal(resumed_state(futex, sizeof futex), WAIT_STATE_LOCK);
#endif
	assert_int_equal(resumed_state(nap, sizeof nap), WAIT_STATE_SLEEP);
	assert_int_equal(resumed_state(any, sizeof any), WAIT_STATE_SLEEP);
}

static void other_calls_are_said_by_number(void **state)
{
	const struct task_call unknown = { .number = 9999 }, none = { .number = -1 };
	struct remote remote = { .fd = -1 };
	struct text text = { 0 };

	(void)state;
	wait_describe(&remote, &none, false, &text);
	assert_string_equal(text_string(&text), "");
	wait_describe(&remote, &unknown, false, &text);
	assert_string_equal(text_string(&text), "system call 9999");
	text_done(&text);
}

static void a_circle_is_found_from_each_of_its_threads_and_from_no_other(void **state)
{
	const struct deadlock_edge edges[] = {
		{ 10, 12 }, { 11, 0 },  { 12, 13 }, { 13, 10 },
		{ 14, 10 }, { 15, 15 }, { 16, 99 },
	};
	size_t circle[7];

	(void)state;
	assert_int_equal(deadlock_find(edges, 7, 0, circle), 3);
	assert_int_equal(circle[0], 0);
	assert_int_equal(circle[1], 2);
	assert_int_equal(circle[2], 3);
	assert_int_equal(deadlock_find(edges, 7, 3, circle), 3);
	assert_int_equal(deadlock_find(edges, 7, 1, circle), 0);
	assert_int_equal(deadlock_find(edges, 7, 4, circle), 0);
	assert_int_equal(deadlock_find(edges, 7, 5, circle), 1);
	assert_int_equal(deadlock_find(edges, 7, 6, circle), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors_are_called_by_what_they_are),
		cmocka_unit_test(calls_have_names),
		cmocka_unit_test(a_mutex_is_held_by_what_its_lock_word_says),
		cmocka_unit_test(what_is_no_mutex_has_no_owner),
		cmocka_unit_test(a_read_write_lock_has_a_writer_or_a_number_of_readers),
		cmocka_unit_test(rubys_methods_say_what_is_waited_for),
		cmocka_unit_test(a_call_that_a_stop_ended_is_the_one_it_was),
		cmocka_unit_test(other_calls_are_said_by_number),
		cmocka_unit_test(a_circle_is_found_from_each_of_its_threads_and_from_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
