/* What threads of compiled code wait for, by the functions on their stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "load/wait_names.h"
#include "profile/profile.h"

struct native {
	const char *module, *name, *file;
	uint32_t line;
};

#define LIBC      "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LIBSTDCXX "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"
#define HEADER    "/usr/include/c++/12/bits/std_mutex.h"

/* The outermost first. */
static struct stack_id add_stack(struct profile *profile, const struct native *frames)
{
	struct stack_id stack = { 0 };

	for (; frames->name; frames++) {
		const struct function function = {
			.language = LANGUAGE_NATIVE,
			.module = profile_add_module(
				profile, &(struct module){ .path = frames->module }),
			.name = frames->name,
			.file = frames->file,
			.line = 1,
		};

		stack = profile_add_stack(
			profile, stack,
			profile_add_frame(profile,
					  &(struct frame){ .function = profile_add_function(
								   profile, &function),
							   .line = frames->line }));
	}
	return stack;
}

static void assert_named(const struct native *frames, const char *name, const char *expected)
{
	CLEANUP(profile_freep) struct profile *profile = profile_new();
	CLEANUP(text_done) struct text text = { 0 };

	assert_int_equal(wait_names_add(profile, add_stack(profile, frames), name, &text),
			 *expected != '\0');
	assert_string_equal(text_string(&text), expected);
}

static void a_lock_is_called_by_its_kind_and_place(void **state)
{
	const struct native condition[] = {
		{ "/srv/pool", "Pool::work()", "/srv/pool.cpp", 22 },
		{ "/srv/pool", "std::condition_variable::wait(…)", HEADER, 100 },
		{ LIBSTDCXX, "std::condition_variable::wait(std::unique_lock<std::mutex>&)",
		  NULL, 0 },
		{ LIBC, "pthread_cond_wait", NULL, 0 },
		{ 0 },
	};
	const struct native mutex[] = {
		{ "/srv/pool", "update", "/srv/pool.cpp", 30 },
		{ "/srv/pool", "__gthread_mutex_lock", "/usr/include/x/gthr-default.h", 749 },
		{ LIBC, "pthread_mutex_lock", NULL, 0 },
		{ LIBC, "lll_mutex_lock_optimized", NULL, 0 },
		{ LIBC, "__lll_lock_wait", NULL, 0 },
		{ 0 },
	};
	const struct native barrier[] = {
		{ "/srv/app", "app::step", "/srv/app.rs", 14 },
		{ "/srv/app", "<std::sync::barrier::Barrier>::wait", NULL, 0 },
		{ "/srv/app", "<std::sys::sync::condvar::futex::Condvar>::wait", NULL, 0 },
		{ "/srv/app", "std::sys::pal::unix::futex::futex_wait", NULL, 0 },
		{ 0 },
	};
	const struct native team[] = {
		{ "/srv/sum", "main", "/srv/sum.c", 20 },
		{ "/usr/lib/libgomp.so.1.0.0", "GOMP_parallel", NULL, 0 },
		{ "/usr/lib/libgomp.so.1.0.0", "libgomp.so.1.0.0+0x1f780", NULL, 0 },
		{ 0 },
	};
	const struct native critical[] = {
		{ "/srv/sum", "main", "/srv/sum.c", 21 },
		{ "/usr/lib/libgomp.so.1.0.0", "GOMP_critical_start", NULL, 0 },
		{ 0 },
	};
	const struct native worker[] = {
		{ LIBC, "start_thread", NULL, 0 },
		{ "/usr/lib/libgomp.so.1.0.0", "libgomp.so.1.0.0+0x1cc40", NULL, 0 },
		{ 0 },
	};
	const struct native queue[] = {
		{ "/srv/app", "serve", "/srv/app.c", 7 },
		{ "/usr/lib/libglib-2.0.so.0.7400.6", "g_async_queue_pop", NULL, 0 },
		{ "/usr/lib/libglib-2.0.so.0.7400.6", "g_cond_wait", NULL, 0 },
		{ LIBC, "syscall", NULL, 0 },
		{ 0 },
	};
	const struct native glib[] = {
		{ "/srv/app", "serve", "/srv/app.c", 8 },
		{ "/usr/lib/libglib-2.0.so.0.7400.6", "libglib-2.0.so.0.7400.6+0xa8970", NULL,
		  0 },
		{ LIBC, "syscall", NULL, 0 },
		{ 0 },
	};
	const struct native allocator[] = {
		{ "/srv/pool", "update", "/srv/pool.cpp", 31 },
		{ LIBSTDCXX, "operator new(unsigned long)", NULL, 0 },
		{ LIBC, "__libc_malloc", NULL, 0 },
		{ LIBC, "_int_malloc", NULL, 0 },
		{ LIBC, "__lll_lock_wait_private", NULL, 0 },
		{ 0 },
	};
	const struct native stripped[] = {
		{ "/usr/bin/server", "bioProcessBackgroundJobs", NULL, 0 },
		{ LIBC, "sem_wait", NULL, 0 },
		{ 0 },
	};

	const struct native in_static[] = {
		{ "/srv/static", "work", NULL, 0 },
		{ "/srv/static", "__pthread_mutex_lock", NULL, 0 },
		{ "/srv/static", "__lll_lock_wait", NULL, 0 },
		{ 0 },
	};
	const struct native in_musl[] = {
		{ "/srv/musl", "work", NULL, 0 },
		{ "/srv/musl", "__pthread_mutex_timedlock", NULL, 0 },
		{ "/srv/musl", "__timedwait_cp", NULL, 0 },
		{ "/srv/musl", "__syscall_cp_c", NULL, 0 },
		{ 0 },
	};

	(void)state;
	assert_named(condition, "futex", "futex(condition at pool.cpp:22)");
	assert_named(in_static, "futex(mutex 0x5555)", "futex(mutex in work)");
	assert_named(in_musl, "futex", "futex(mutex in work)");
	assert_named(mutex, "futex(mutex 0x5555)", "futex(mutex at pool.cpp:30)");
	assert_named(queue, "futex", "futex(queue at app.c:7)");
	assert_named(glib, "futex", "futex(mutex at app.c:8)");
	assert_named(glib, "futex(stats)", "futex(mutex stats)");
	assert_named(allocator, "futex", "futex(lock of malloc at pool.cpp:31)");
	assert_named(stripped, "futex", "futex(semaphore in bioProcessBackgroundJobs)");
	assert_named(condition, "futex(ready)", "futex(condition ready)");
	assert_named(barrier, "futex", "futex(barrier at app.rs:14)");
	assert_named(team, "futex", "futex(OpenMP barrier at sum.c:20)");
	assert_named(critical, "futex", "futex(OpenMP lock at sum.c:21)");
	assert_named(worker, "futex", "futex(OpenMP's next parallel region)");
}

/* It calls the kernel itself: for what is not known, but where. */
static void a_programs_own_futex_is_a_word(void **state)
{
	const struct native own[] = {
		{ "/srv/database", "commit", "/srv/commit.cc", 40 },
		{ 0 },
	};
	const struct native go[] = {
		{ "/srv/go", "main.main", "/srv/main.go", 5 },
		{ "/srv/go", "runtime.futex", NULL, 0 },
		{ 0 },
	};

	(void)state;
	assert_named(own, "futex", "futex(word at commit.cc:40)");
	assert_named(go, "futex", "");
}

static void parking_lot_is_a_library_by_its_path_alone(void **state)
{
	const struct native parked[] = {
		{ "/srv/app", "app::cache::get", "/srv/cache.rs", 9 },
		{ "/srv/app",
		  "<lock_api::mutex::Mutex<parking_lot::raw_mutex::RawMutex, u8>>::lock", NULL,
		  0 },
		{ "/srv/app", "<parking_lot::raw_mutex::RawMutex>::lock_slow", NULL, 0 },
		{ "/srv/app", "parking_lot_core::parking_lot::park", NULL, 0 },
		{ LIBC, "syscall", NULL, 0 },
		{ 0 },
	};
	const struct native parking[] = {
		{ "/srv/town", "main", "/srv/town.c", 50 },
		{ "/srv/town", "parking_lot_enter", "/srv/town.c", 40 },
		{ LIBC, "pthread_mutex_lock", NULL, 0 },
		{ 0 },
	};

	(void)state;
	assert_named(parked, "futex", "futex(mutex at cache.rs:9)");
	assert_named(parking, "futex", "futex(mutex at town.c:40)");
}

static void what_the_recorder_has_named_stays(void **state)
{
	const struct native frames[] = {
		{ "/srv/pool", "update", "/srv/pool.cpp", 30 },
		{ LIBC, "pthread_mutex_lock", NULL, 0 },
		{ 0 },
	};
	const struct native condition[] = {
		{ "/usr/lib/libruby.so", "native_sleep", NULL, 0 },
		{ LIBC, "pthread_cond_timedwait", NULL, 0 },
		{ 0 },
	};

	(void)state;
	assert_named(frames, "futex(mutex stats_lock)", "");
	assert_named(frames, "futex(GIL)", "");
	/* Ruby sleeps by a condition. */
	assert_named(condition, "futex(sleep)", "");
	assert_named(frames, "read", "");
	/* But names of C++'s are put in its words. */
	assert_named(frames, "futex(mutex _ZN5stats4lockE+0x28)",
		     "futex(mutex stats::lock+0x28)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_is_called_by_its_kind_and_place),
		cmocka_unit_test(a_programs_own_futex_is_a_word),
		cmocka_unit_test(parking_lot_is_a_library_by_its_path_alone),
		cmocka_unit_test(what_the_recorder_has_named_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
