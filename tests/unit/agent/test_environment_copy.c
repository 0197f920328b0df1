/* The environment of the next image: the program's entries, and the two that start the agent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/resource.h>

#include "agent/exec/environment_copy.c"

#define RECORDER "FATHOM_RECORDER=default:/lib/agent.so:/run/agents"
#define PRELOAD  "LD_PRELOAD=/lib/agent.so"
#define NEAR     (5U << 20) /* bytes: with 16 MiB of stack four of them are taken */

static struct {
	char recorder[64], preload[64];
	bool has_recorder, has_scratch;
	const void *unreadable; /* an address in a page that cannot be read */
	u64 *scratch;
	size_t scratch_bytes;
	int given; /* scratches given back */
} made;

const char *environment_agent_path(void)
{
	return "/lib/agent.so";
}

bool environment_entries(bool is_trap_ignored, bool is_brief,
			 struct environment_entries *out_entries)
{
	(void)is_trap_ignored;
	(void)is_brief;
	*out_entries = (struct environment_entries){ made.recorder, made.preload };
	return made.has_recorder;
}

bool memory_probe(u64 addr)
{
	return addr != ((u64)made.unreadable & ~(MEMORY_PAGE - 1));
}

struct scratch *scratch_take(size_t bytes)
{
	if (!made.has_scratch)
		return NULL;
	made.scratch_bytes = bytes;
	made.scratch = calloc(1, bytes);
	return (struct scratch *)made.scratch;
}

void *scratch_memory(const struct scratch *scratch)
{
	assert_ptr_equal(scratch, made.scratch);
	return made.scratch;
}

void scratch_give(struct scratch *scratch)
{
	assert_ptr_equal(scratch, made.scratch);
	free(made.scratch);
	made.scratch = NULL;
	made.given++;
}

static int set_up(void **state)
{
	(void)state;
	memset(&made, 0, sizeof made);
	strcpy(made.recorder, RECORDER);
	strcpy(made.preload, PRELOAD);
	made.has_recorder = made.has_scratch = true;
	return 0;
}

static const struct next_image plain;
static char *const no_arguments[] = { (char *)"program", NULL };

/* The copy has these entries; theirs are the program's own strings. */
static void assert_copied(char *const *theirs, const struct next_image *image,
			  const char *const *expected)
{
	struct environment_copy copy;
	size_t count = 0;

	assert_true(environment_copy(&copy, theirs, no_arguments, image, false));
	for (; expected[count] != NULL; count++)
		assert_string_equal(copy.entries[count], expected[count]);
	assert_null(copy.entries[count]);
	assert_true((count + 1) * sizeof(char *) <= made.scratch_bytes);
	for (size_t i = 0; theirs != NULL && theirs[i] != NULL; i++)
		assert_ptr_equal(copy.entries[i], theirs[i]);
	environment_copy_done(&copy);
	assert_int_equal(made.given, 1);
}

/* No image is entered with these entries, and no scratch is held. */
static void assert_left_alone(char *const *theirs, char *const *argv)
{
	struct environment_copy copy;

	assert_false(environment_copy(&copy, theirs, argv, &plain, false));
	assert_null(made.scratch);
}

static void ours_come_behind_the_programs(void **state)
{
	char *const theirs[] = { (char *)"A=1", (char *)"B=2", NULL };

	(void)state;
	assert_copied(theirs, &plain,
		      (const char *const[]){ "A=1", "B=2", RECORDER, PRELOAD, NULL });
}

static void a_program_without_an_environment_has_ours_alone(void **state)
{
	(void)state;
	assert_copied(NULL, &plain, (const char *const[]){ RECORDER, PRELOAD, NULL });
}

static void what_a_program_preloads_comes_before_the_agent(void **state)
{
	char *const theirs[] = { (char *)"LD_PRELOAD=/lib/own.so", (char *)"A=1", NULL };

	(void)state;
	assert_copied(theirs, &plain,
		      (const char *const[]){ "LD_PRELOAD=/lib/own.so", "A=1", RECORDER,
					     "LD_PRELOAD=/lib/own.so:/lib/agent.so", NULL });
}

static void what_must_be_first_comes_before_the_agent_too(void **state)
{
	struct next_image sanitized = { 0 };
	char *const theirs[] = { (char *)"LD_PRELOAD=/lib/own.so", NULL };

	(void)state;
	strcpy(sanitized.answer.first_libraries, "libasan.so.8");
	assert_copied(theirs, &sanitized,
		      (const char *const[]){
			      "LD_PRELOAD=/lib/own.so", RECORDER,
			      "LD_PRELOAD=/lib/own.so:libasan.so.8:/lib/agent.so", NULL });
}

static void no_recorder_and_another_one_leave_it_as_it_is(void **state)
{
	char *const own[] = { (char *)"FATHOM_RECORDER=default:/other.so:/run/other", NULL };
	char *const none[] = { (char *)"A=1", NULL };

	(void)state;
	assert_left_alone(own, no_arguments);
	assert_true(environment_names_recorder(own));
	assert_false(environment_names_recorder(none));
	made.has_recorder = false;
	assert_left_alone(none, no_arguments);
}

static void ldd_is_left_alone(void **state)
{
	char *const theirs[] = { (char *)"LD_TRACE_LOADED_OBJECTS=1", NULL };

	(void)state;
	assert_left_alone(theirs, no_arguments);
}

static void what_cannot_be_read_is_the_kernels_to_refuse(void **state)
{
	static _Alignas(4096) char page[4096] = "A=1";
	char *const theirs[] = { (char *)"B=2", page, NULL };

	(void)state;
	made.unreadable = page;
	assert_left_alone(theirs, no_arguments);
	assert_left_alone(NULL, theirs);
}

static void where_there_is_no_room_it_goes_without_the_agent(void **state)
{
	char *const theirs[] = { (char *)"A=1", NULL };

	(void)state;
	made.has_scratch = false;
	assert_left_alone(theirs, no_arguments);
}

static void what_comes_near_the_kernels_limit_goes_without_the_agent(void **state)
{
	struct rlimit stack;
	char *large = malloc(NEAR);

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_STACK, &stack), 0);
	const struct rlimit before = stack;

	memset(large, 'x', NEAR - 1);
	large[NEAR - 1] = '\0';
	stack.rlim_cur = 16U << 20;
	if (stack.rlim_max < stack.rlim_cur || setrlimit(RLIMIT_STACK, &stack) != 0) {
		free(large);
		print_message("the hard limit of stacks is below 16 MiB here\n");
		skip();
	}
	assert_left_alone(NULL, (char *const[]){ large, NULL });
	/* Half of that is far from the limit. */
	large[NEAR / 2] = '\0';
	assert_copied((char *const[]){ large, NULL }, &plain,
		      (const char *const[]){ large, RECORDER, PRELOAD, NULL });
	setrlimit(RLIMIT_STACK, &before);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, set_up)
		TEST(ours_come_behind_the_programs),
		TEST(a_program_without_an_environment_has_ours_alone),
		TEST(what_a_program_preloads_comes_before_the_agent),
		TEST(what_must_be_first_comes_before_the_agent_too),
		TEST(no_recorder_and_another_one_leave_it_as_it_is),
		TEST(ldd_is_left_alone),
		TEST(what_cannot_be_read_is_the_kernels_to_refuse),
		TEST(where_there_is_no_room_it_goes_without_the_agent),
		TEST(what_comes_near_the_kernels_limit_goes_without_the_agent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
