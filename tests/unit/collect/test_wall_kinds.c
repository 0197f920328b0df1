/* Threads on the wall clock of one kind: they have the same program, from its exec on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* cmocka.h expects those before it. */
#include <cmocka.h>

#include "base/error.h"
#include "collect/events/sideband_event.h"
#include "collect/processes/image.h"
#include "collect/session/state.h"
#include "collect/session/wall.h"
#include "record/writer.h"

static struct session session;
static uint64_t time_ns = 1000000000;

static int setup(void **state)
{
	struct recording_writer *writer;
	char path[64];
	struct error err;

	snprintf(path, sizeof path, "/tmp/test-wall-kinds-%d.fathom", (int)getpid());
	if (recording_writer_create(path, &writer, &err) < 0)
		return -1;
	unlink(path);
	session = (struct session){ .wall.is_on = true };
	tree_init(&session.tree, writer, 0);
	wall_init(&session.wall.threads, NULL, 0);
	*state = writer;
	return 0;
}

static int teardown(void **state)
{
	wall_done(&session.wall.threads);
	tree_close(&session.tree);
	recording_writer_close(*state, NULL);
	return 0;
}

static void take(struct sideband_event event)
{
	event.time_ns = time_ns += 1000000000;
	tree_take(&session.tree, &event);
	session_wall_take(&session, &event);
}

static const struct wall_kind *kind_of(int pid)
{
	const uint32_t row = image_find_thread(tree_find(&session.tree, pid), pid)->row;
	const struct wall_thread *thread = wall_find(&session.wall.threads, row);

	assert_non_null(thread);
	assert_non_null(thread->kind);
	return thread->kind;
}

static const struct wall_kind *kind_of_forked(int parent, int pid)
{
	take((struct sideband_event){ .kind = SIDEBAND_FORK,
				      .pid = pid,
				      .tid = pid,
				      .parent_pid = parent,
				      .parent_tid = parent });
	return kind_of(pid);
}

static const struct wall_kind *kind_of_program(int pid, const char *name)
{
	take((struct sideband_event){
		.kind = SIDEBAND_NAME, .pid = pid, .tid = pid, .is_exec = true, .name = name });
	return kind_of(pid);
}

static void a_program_that_a_shell_starts_is_not_of_the_shells_kind(void **state)
{
	const struct wall_kind *shell, *cat;

	(void)state;
	kind_of_forked(1, 10);
	shell = kind_of_program(10, "bash");
	assert_ptr_equal(kind_of_forked(10, 11), shell);
	cat = kind_of_program(11, "cat");
	assert_ptr_not_equal(cat, shell);
	assert_ptr_equal(kind_of(10), shell);
	kind_of_forked(10, 12);
	assert_ptr_equal(kind_of_program(12, "cat"), cat);
	kind_of_forked(10, 13);
	assert_ptr_not_equal(kind_of_program(13, "sleep"), cat);
}

/* A name is copied over the parent's, which may be longer. */
static void a_kind_is_the_name_up_to_its_end(void **state)
{
	const struct wall_kind *shell;

	(void)state;
	kind_of_forked(1, 20);
	kind_of_program(20, "python3.11");
	kind_of_forked(20, 21);
	shell = kind_of_program(21, "sh");
	kind_of_forked(21, 22);
	kind_of_program(22, "ruby");
	kind_of_forked(22, 23);
	assert_ptr_equal(kind_of_program(23, "sh"), shell);
	kind_of_forked(23, 24);
	kind_of_program(24, "abcdefghijklmno");
	kind_of_forked(24, 25);
	assert_ptr_equal(kind_of_program(25, "sh"), shell);
}

static void its_other_threads_are_a_kind_of_their_own(void **state)
{
	const struct wall_kind *first;

	(void)state;
	kind_of_forked(1, 30);
	first = kind_of_program(30, "server");
	take((struct sideband_event){ .kind = SIDEBAND_FORK,
				      .pid = 30,
				      .tid = 31,
				      .parent_pid = 30,
				      .parent_tid = 30 });
	const uint32_t row = image_find_thread(tree_find(&session.tree, 30), 31)->row;

	assert_ptr_not_equal(wall_find(&session.wall.threads, row)->kind, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_program_that_a_shell_starts_is_not_of_the_shells_kind, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_kind_is_the_name_up_to_its_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(its_other_threads_are_a_kind_of_their_own,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
