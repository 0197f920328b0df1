/* What made threads wait, of recordings made by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "by_hand.h"
#include "load/late_names.h"
#include "load/load.h"
#include "profile/blame.h"
#include "profile/info.h"
#include "profile/profile.h"
#include "record/keys.h"
#include "record/writer.h"

#define MS 1000000LL

enum { WORK = 1, REST, WAITS, SHORT, WOKEN };

/* Thread 1 is there; 2 and 3 as well, and stacks of one frame each. */
static struct recording_writer *begin(const char *name)
{
	struct recording_writer *writer = by_hand_create(name);
	uint32_t module, thread, code, frame;

	by_hand_add_thread(writer);
	for (uint32_t i = 2; i <= 3; i++)
		recording_writer_add_thread(writer,
					    &(struct recording_thread){ .process = 1,
									.tid = 76 + (int)i,
									.name = "other",
									.end_ns = 5000,
									.cpu_ns = 10 },
					    &thread);
	module = by_hand_add_module(writer, MODULE_KIND_INTERPRETED, "");
	for (int i = WORK; i <= WOKEN; i++) {
		static const char *const names[] = { "",
						     "work",
						     "rest",
						     "waits",
						     "[waits too short to read]",
						     "[waits for a CPU]" };

		code = by_hand_add_code(writer,
					i >= SHORT ? RECORDING_LANGUAGE_FATHOM
						   : RECORDING_LANGUAGE_PYTHON,
					names[i], NULL, i >= SHORT ? NULL : "a.py", 1);
		frame = by_hand_add_stack(writer, 0, module, (uint64_t)code << 32 | 1);
		assert_int_equal(frame, i);
	}
	recording_writer_set(writer, KEY_MODE, "sample");
	recording_writer_set(writer, KEY_CLOCK, "wall");
	return writer;
}

/* It ended then, and took so many milliseconds. */
static void add(struct recording_writer *writer, uint32_t thread, uint32_t stack,
		uint32_t state, int64_t end_ms, int64_t ms)
{
	assert_int_equal(recording_writer_add_sample(
				 writer, &(struct recording_sample){ .time_ns = end_ms * MS,
								     .thread = thread,
								     .stack = stack,
								     .state = state,
								     .weight_ns = ms * MS }),
			 0);
}

static void add_owner(struct recording_writer *writer, uint32_t thread, uint32_t owner,
		      int64_t ms)
{
	assert_int_equal(
		recording_writer_add_owner(
			writer, &(struct recording_owner){ ms * MS, thread, owner, 0, 0 }),
		0);
}

/* The same with the stack of the wait, and that in which the owner waits; 0: it runs. */
static void add_mark(struct recording_writer *writer, const struct recording_owner *mark)
{
	assert_int_equal(recording_writer_add_owner(writer, mark), 0);
}

static struct profile *end(struct recording_writer *writer, const char *name)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	CLEANUP(late_names_freep) struct late_names *late = NULL;
	const struct load_options options = { .wants_blame = true };
	struct profile *profile = NULL;
	struct error err;

	by_hand_close(writer);
	if (load_recording(by_hand_path(name), &options, notes, &profile, &late, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

static const char *name_of(const struct profile *profile, struct stack_id id)
{
	const struct stack *stack = profile_get_stack(profile, id);

	return stack ? profile_get_function(profile,
					    profile_get_frame(profile, stack->frame)->function)
			       ->name
		     : "";
}

/* Of that owner, doing that, to that waiter. */
static uint64_t blamed_ms(const struct profile *profile, uint32_t owner, const char *doing,
			  uint32_t waiter, enum thread_state state)
{
	const struct blames *blames = profile_get_info(profile)->blames;
	uint64_t ns = 0;

	for (size_t i = 0; i < blames->count; i++) {
		const struct blame *row = &blames->rows[i];

		if (row->owner.n == owner && row->waiter.n == waiter && row->state == state &&
		    strcmp(name_of(profile, row->owner_stack), doing) == 0)
			ns += row->ns;
	}
	return ns / (uint64_t)MS;
}

/* What has no owner. */
static uint64_t unowned_ms(const struct profile *profile, enum thread_state state)
{
	const struct blames *blames = profile_get_info(profile)->blames;
	uint64_t ns = 0;

	for (size_t i = 0; i < blames->count; i++) {
		if (blames->rows[i].owner.n == 0 && blames->rows[i].state == state)
			ns += blames->rows[i].ns;
	}
	return ns / (uint64_t)MS;
}

static void a_wait_is_divided_among_what_its_owner_did(void **state)
{
	struct recording_writer *writer = begin("divided.fathom");

	(void)state;
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 30, 30);
	add(writer, 2, REST, THREAD_STATE_SLEEP, 100, 70);
	add(writer, 1, WAITS, THREAD_STATE_LOCK, 100, 100);
	add_owner(writer, 1, 2, 0);
	CLEANUP(profile_freep) struct profile *profile = end(writer, "divided.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_LOCK), 30);
	assert_int_equal(blamed_ms(profile, 2, "rest", 1, THREAD_STATE_LOCK), 70);
	assert_int_equal(unowned_ms(profile, THREAD_STATE_LOCK), 0);
}

static void owners_that_take_turns_have_their_time_each(void **state)
{
	struct recording_writer *writer = begin("turns.fathom");

	(void)state;
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 60, 60);
	add(writer, 3, REST, THREAD_STATE_RUNNING, 100, 40);
	add(writer, 1, WAITS, THREAD_STATE_GVL, 50, 50);
	add(writer, 1, WAITS, THREAD_STATE_GVL, 100, 50); /* the same wait goes on */
	add_owner(writer, 1, 2, 0);
	add_owner(writer, 1, 3, 60);
	CLEANUP(profile_freep) struct profile *profile = end(writer, "turns.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_GVL), 60);
	assert_int_equal(blamed_ms(profile, 3, "rest", 1, THREAD_STATE_GVL), 40);
}

/*
 * Two waits of 14 ms, and ticks of 10: two looks in the one, one in the other.  Each look stands for
 * 10 ms, whether a wait's edge is near or not; the looks together have the waits' time.
 */
static void each_look_at_an_owner_stands_for_as_much(void **state)
{
	struct recording_writer *writer = begin("edges.fathom");

	(void)state;
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 300, 300);
	add(writer, 3, REST, THREAD_STATE_SLEEP, 300, 300);
	add(writer, 1, WAITS, THREAD_STATE_LOCK, 114, 14);
	add(writer, 1, WAITS, THREAD_STATE_LOCK, 214, 14);
	add_owner(writer, 1, 2, 97);
	add_owner(writer, 1, 3, 107);
	add_owner(writer, 1, 0, 117);
	add_owner(writer, 1, 3, 202);
	add_owner(writer, 1, 0, 212);
	CLEANUP(profile_freep) struct profile *profile = end(writer, "edges.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_LOCK), 28 * 10 / 30);
	assert_int_equal(blamed_ms(profile, 3, "rest", 1, THREAD_STATE_LOCK), 28 * 20 / 30);
}

static void what_has_no_owner_is_not_blamed_on_any(void **state)
{
	struct recording_writer *writer = begin("none.fathom");

	(void)state;
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 100, 100);
	add(writer, 1, WAITS, THREAD_STATE_GIL, 10, 10);
	add(writer, 1, SHORT, THREAD_STATE_GIL, 20, 5);
	add(writer, 1, WAITS, THREAD_STATE_LOCK, 50, 20);
	add(writer, 1, WAITS, THREAD_STATE_IO, 60, 10);
	/* For a child process. */
	add(writer, 1, WAITS, THREAD_STATE_WAIT, 70, 10);
	add_owner(writer, 1, 2, 3);
	add_owner(writer, 1, 0, 12);
	CLEANUP(profile_freep) struct profile *profile = end(writer, "none.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_GIL), 10);
	assert_int_equal(unowned_ms(profile, THREAD_STATE_GIL), 5);
	assert_int_equal(unowned_ms(profile, THREAD_STATE_LOCK), 20);
	assert_int_equal(unowned_ms(profile, THREAD_STATE_IO), 0);
	assert_int_equal(unowned_ms(profile, THREAD_STATE_WAIT), 0);
}

static void an_owner_that_wants_a_cpu_is_where_it_runs_on(void **state)
{
	struct recording_writer *writer = begin("preempted.fathom");

	(void)state;
	add(writer, 2, SHORT, THREAD_STATE_RUNNABLE, 90, 90);
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 100, 10);
	add(writer, 1, WAITS, THREAD_STATE_GIL, 100, 100);
	add_owner(writer, 1, 2, 5);
	CLEANUP(profile_freep) struct profile *profile = end(writer, "preempted.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_GIL), 100);
}

static void those_that_ran_are_blamed_for_a_cpu_by_how_long_they_ran(void **state)
{
	struct recording_writer *writer = begin("cpu.fathom");

	(void)state;
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 30, 30);
	add(writer, 3, WORK, THREAD_STATE_RUNNING, 40, 10);
	add(writer, 3, WORK, THREAD_STATE_RUNNING, 80, 20);
	add(writer, 1, WAITS, THREAD_STATE_RUNNABLE, 40, 40);
	CLEANUP(profile_freep) struct profile *profile = end(writer, "cpu.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_RUNNABLE), 30);
	assert_int_equal(blamed_ms(profile, 3, "work", 1, THREAD_STATE_RUNNABLE), 10);
}

/* A mark names the wait's stack: the GIL is not blamed for the lock that was waited for before. */
static void a_mark_is_of_the_wait_with_its_stack(void **state)
{
	struct recording_writer *writer = begin("stack.fathom");

	(void)state;
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 100, 100);
	add(writer, 1, REST, THREAD_STATE_LOCK, 50, 50);
	add(writer, 1, WAITS, THREAD_STATE_GIL, 54, 4);
	add_mark(writer, &(struct recording_owner){ 45 * MS, 1, 2, WAITS, 0 });
	add_mark(writer, &(struct recording_owner){ 55 * MS, 1, 0, 0, 0 });
	CLEANUP(profile_freep) struct profile *profile = end(writer, "stack.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_GIL), 4);
	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_LOCK), 0);
	assert_int_equal(unowned_ms(profile, THREAD_STATE_LOCK), 50);
}

static void what_the_owner_waited_in_is_what_it_did(void **state)
{
	struct recording_writer *writer = begin("owner_stack.fathom");

	(void)state;
	/* Its short sleep stands for a tick; behind it, without the lock, it works. */
	add(writer, 2, REST, THREAD_STATE_SLEEP, 12, 2);
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 30, 18);
	add(writer, 1, WAITS, THREAD_STATE_LOCK, 20, 20);
	add_mark(writer, &(struct recording_owner){ 1 * MS, 1, 2, WAITS, REST });
	add_mark(writer, &(struct recording_owner){ 21 * MS, 1, 0, 0, 0 });
	CLEANUP(profile_freep) struct profile *profile = end(writer, "owner_stack.fathom");

	assert_int_equal(blamed_ms(profile, 2, "rest", 1, THREAD_STATE_LOCK), 20);
}

/* It slept too briefly to be read, and is met as it waits for a CPU. */
static void what_was_woken_executes_what_it_goes_on_with(void **state)
{
	struct recording_writer *writer = begin("woken.fathom");

	(void)state;
	add(writer, 2, REST, THREAD_STATE_RUNNING, 10, 10);
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 30, 10);
	add(writer, 1, WAITS, THREAD_STATE_LOCK, 20, 8);
	add_mark(writer, &(struct recording_owner){ 12 * MS, 1, 2, WAITS, WOKEN });
	add_mark(writer, &(struct recording_owner){ 20 * MS, 1, 0, 0, 0 });
	/* Nothing is known of what the third one does. */
	add(writer, 1, WAITS, THREAD_STATE_LOCK, 50, 8);
	add(writer, 3, WAITS, THREAD_STATE_LOCK, 100, 8);
	add_mark(writer, &(struct recording_owner){ 42 * MS, 1, 3, WAITS, WOKEN });
	add_mark(writer, &(struct recording_owner){ 50 * MS, 1, 0, 0, 0 });
	CLEANUP(profile_freep) struct profile *profile = end(writer, "woken.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_LOCK), 8);
	assert_int_equal(blamed_ms(profile, 3, "[waits for a CPU]", 1, THREAD_STATE_LOCK), 8);
}

/* Looks that found no holder have their part of the wait. */
static void an_owner_that_is_not_known_has_its_part(void **state)
{
	struct recording_writer *writer = begin("unknown.fathom");

	(void)state;
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 100, 100);
	add(writer, 1, WAITS, THREAD_STATE_LOCK, 100, 100);
	add_mark(writer, &(struct recording_owner){ 0, 1, 2, WAITS, 0 });
	add_mark(writer, &(struct recording_owner){ 25 * MS, 1, 0, WAITS, 0 });
	CLEANUP(profile_freep) struct profile *profile = end(writer, "unknown.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_LOCK), 25);
	assert_int_equal(unowned_ms(profile, THREAD_STATE_LOCK), 75);
}

/*
 * Of the owner there are rows of waits for the very same, shorter than a tick, which reach into the
 * hold, and no sample in it: the next one stands for what it ran.
 */
static void an_owner_does_not_wait_for_what_it_holds(void **state)
{
	struct recording_writer *writer = begin("holds.fathom");

	(void)state;
	add(writer, 2, WAITS, THREAD_STATE_GIL, 18, 10);
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 50, 10);
	add(writer, 1, WAITS, THREAD_STATE_GIL, 20, 10);
	add_mark(writer, &(struct recording_owner){ 10 * MS, 1, 2, WAITS, 0 });
	add_mark(writer, &(struct recording_owner){ 20 * MS, 1, 0, 0, 0 });
	CLEANUP(profile_freep) struct profile *profile = end(writer, "holds.fathom");

	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_GIL), 10);
}

/* It was met in its own wait for the GIL, which was over when it was found to have it. */
static void a_mark_does_not_have_an_owner_wait_for_itself(void **state)
{
	struct recording_writer *writer = begin("itself.fathom");

	(void)state;
	add(writer, 2, WAITS, THREAD_STATE_GIL, 10, 10);
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 50, 40);
	add(writer, 1, WAITS, THREAD_STATE_GIL, 50, 40);
	add_mark(writer, &(struct recording_owner){ 10 * MS, 1, 2, WAITS, WAITS });
	add_mark(writer, &(struct recording_owner){ 50 * MS, 1, 0, 0, 0 });
	CLEANUP(profile_freep) struct profile *profile = end(writer, "itself.fathom");

	assert_int_equal(blamed_ms(profile, 2, "waits", 1, THREAD_STATE_GIL), 0);
	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_GIL), 40);
}

/* Marks are of the middle between ticks: the owner may have released it and wait by then. */
static void a_call_that_waits_does_not_hold_the_interpreters_lock(void **state)
{
	struct recording_writer *writer = begin("released.fathom");

	(void)state;
	add(writer, 2, WORK, THREAD_STATE_RUNNING, 20, 5);
	add(writer, 2, REST, THREAD_STATE_IO, 70, 50);
	add(writer, 1, WAITS, THREAD_STATE_GIL, 25, 10);
	add_mark(writer, &(struct recording_owner){ 15 * MS, 1, 2, WAITS, 0 });
	add_mark(writer, &(struct recording_owner){ 25 * MS, 1, 0, 0, 0 });
	CLEANUP(profile_freep) struct profile *profile = end(writer, "released.fathom");

	assert_int_equal(blamed_ms(profile, 2, "rest", 1, THREAD_STATE_GIL), 0);
	assert_int_equal(blamed_ms(profile, 2, "work", 1, THREAD_STATE_GIL), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_is_divided_among_what_its_owner_did),
		cmocka_unit_test(owners_that_take_turns_have_their_time_each),
		cmocka_unit_test(each_look_at_an_owner_stands_for_as_much),
		cmocka_unit_test(what_has_no_owner_is_not_blamed_on_any),
		cmocka_unit_test(what_was_woken_executes_what_it_goes_on_with),
		cmocka_unit_test(an_owner_that_wants_a_cpu_is_where_it_runs_on),
		cmocka_unit_test(those_that_ran_are_blamed_for_a_cpu_by_how_long_they_ran),
		cmocka_unit_test(a_mark_is_of_the_wait_with_its_stack),
		cmocka_unit_test(what_the_owner_waited_in_is_what_it_did),
		cmocka_unit_test(a_call_that_waits_does_not_hold_the_interpreters_lock),
		cmocka_unit_test(an_owner_that_is_not_known_has_its_part),
		cmocka_unit_test(an_owner_does_not_wait_for_what_it_holds),
		cmocka_unit_test(a_mark_does_not_have_an_owner_wait_for_itself),
	};

	return cmocka_run_group_tests(tests, by_hand_make_folder, by_hand_remove_folder);
}
