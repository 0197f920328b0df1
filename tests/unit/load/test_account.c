#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "abi/walk_status.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/notes.h"
#include "by_hand.h"
#include "load/load.h"
#include "profile/profile.h"
#include "record/keys.h"
#include "record/reader.h"
#include "record/writer.h"

static struct profile *load(const char *name)
{
	CLEANUP(notes_freep) struct notes *notes = notes_new();
	struct profile *profile = NULL;
	struct error err;

	if (load_recording(by_hand_path(name), NULL, notes, &profile, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

/* The time on the row of that name; its language must be fathom's. */
static uint64_t row_ns(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile_weight_count(profile); i++) {
		const struct weight *weight = profile_get_weight(profile, i);
		const struct stack *stack = profile_get_stack(profile, weight->stack);
		const struct frame *frame = profile_get_frame(profile, stack->frame);
		const struct function *function =
			profile_get_function(profile, frame->function);

		if (strcmp(function->name, name) == 0 && function->language == LANGUAGE_FATHOM)
			return weight->ns;
	}
	return 0;
}

/* A second process with a thread, whose account is given. */
static void add_thread(struct recording_writer *writer, const char *name, const char *reason,
		       const struct recording_thread *account)
{
	struct recording_thread thread = *account;
	uint32_t id = 0;

	recording_writer_add_process(writer,
				     &(struct recording_process){
					     .pid = 78,
					     .parent = 1,
					     .name = name,
					     .end_ns = RECORDING_UNKNOWN,
					     .period_ns = RECORDING_UNKNOWN,
					     .unentered_reason = reason,
				     },
				     &thread.process);
	recording_writer_add_thread(writer, &thread, &id);
}

static void the_account_becomes_rows_in_brackets_and_closes(void **state)
{
	struct recording_writer *writer = by_hand_create("account.fathom");

	(void)state;
	by_hand_add_thread(writer);
	uint32_t module = by_hand_add_module(writer, MODULE_KIND_ELF, "/bin/prog");

	by_hand_add_samples(writer, by_hand_add_stack(writer, 0, module, 0x100), 10, 1000);
	by_hand_name_frame(writer, 1, 0, "main", 12);
	recording_writer_set(writer, KEY_SYMBOLIZED, "1");
	add_thread(writer, "sub", NULL,
		   &(struct recording_thread){ .startup_ns = 100,
					       .exit_ns = 20,
					       .unentered_ns = 0,
					       .traced_ns = 40,
					       .kernel_unsampled_ns = 3 });
	add_thread(writer, "static", "it is linked statically",
		   &(struct recording_thread){ .startup_ns = 0,
					       .exit_ns = 0,
					       .unentered_ns = 7000,
					       .kernel_unsampled_ns = 0 });
	recording_writer_set_int(writer, KEY_KERNEL_CPU_NS, 17000);
	by_hand_close(writer);

	CLEANUP(profile_freep) struct profile *profile = load("account.fathom");
	const struct profile_info *info = profile_get_info(profile);

	assert_int_equal(info->sampled_ns, 10000);
	assert_int_equal(info->startup_ns, 100);
	assert_int_equal(info->exit_ns, 20);
	assert_int_equal(info->unentered_ns, 7000);
	assert_int_equal(info->kernel_unsampled_ns, 3);
	assert_true(info->has_unexplained);
	assert_int_equal(info->traced_ns, 40);
	assert_int_equal(info->unexplained_ns, 17000 - 10000 - 100 - 20 - 7000 - 3 - 40);
	assert_true(info->unexplained_ns < 0);
	assert_int_equal(row_ns(profile, "[start-up]"), 100);
	assert_int_equal(row_ns(profile, "[exit]"), 20);
	assert_int_equal(row_ns(profile, "[kernel time not sampled]"), 3);
	assert_int_equal(row_ns(profile, "[traced by a debugger]"), 40);
	assert_int_equal(row_ns(profile, "[not entered: static (it is linked statically)]"),
			 7000);
}

/* A stack with a row of fathom's own as its innermost frame. */
static uint32_t add_own_row(struct recording_writer *writer, uint32_t callers, const char *name)
{
	uint32_t code = 0;
	const uint32_t module = by_hand_add_module(writer, MODULE_KIND_INTERPRETED, "[fathom]");

	recording_writer_add_code(
		writer,
		&(struct recording_code){ .language = RECORDING_LANGUAGE_FATHOM, .name = name },
		&code);
	return by_hand_add_stack(writer, callers, module, (uint64_t)code << 32);
}

static void add_own_time(struct recording_writer *writer, uint32_t stack, int64_t ns)
{
	recording_writer_add_sample(writer, &(struct recording_sample){
						    .time_ns = 20,
						    .thread = 1,
						    .stack = stack,
						    .ending = WALK_NO_SAMPLE,
						    .weight_ns = ns,
					    });
}

static void time_that_only_a_thread_is_known_of_is_no_samples(void **state)
{
	struct recording_writer *writer = by_hand_create("short.fathom");

	(void)state;
	by_hand_add_thread(writer);
	const uint32_t module = by_hand_add_module(writer, MODULE_KIND_ELF, "/bin/prog");
	const uint32_t work = by_hand_add_stack(writer, 0, module, 0x100);

	by_hand_add_samples(writer, work, 10, 1000);
	by_hand_name_frame(writer, 1, 0, "work", 12);
	add_own_time(writer, add_own_row(writer, work, "[shorter than a sampling period]"),
		     700);
	add_own_time(writer, add_own_row(writer, 0, "[lost]"), 90);
	recording_writer_set(writer, KEY_SYMBOLIZED, "1");
	recording_writer_set_int(writer, KEY_KERNEL_CPU_NS, 10840);
	by_hand_close(writer);

	CLEANUP(profile_freep) struct profile *profile = load("short.fathom");
	const struct profile_info *info = profile_get_info(profile);

	assert_int_equal(info->samples, 10);
	assert_int_equal(info->sampled_ns, 10000);
	assert_int_equal(info->thread_only_ns, 700);
	assert_int_equal(info->lost_ns, 90);
	assert_int_equal(info->unexplained_ns, 50);
	assert_int_equal(info->stack_tally_count, 1);
	assert_int_equal(row_ns(profile, "[shorter than a sampling period]"), 700);
	assert_int_equal(row_ns(profile, "[lost]"), 90);
}

static void what_was_not_measured_is_unknown_and_no_row(void **state)
{
	struct recording_writer *writer = by_hand_create("unknown.fathom");

	(void)state;
	by_hand_add_thread(writer);
	by_hand_close(writer);
	CLEANUP(profile_freep) struct profile *profile = load("unknown.fathom");
	const struct profile_info *info = profile_get_info(profile);

	assert_true(info->startup_ns == FIGURE_UNKNOWN);
	assert_true(info->kernel_cpu_ns == FIGURE_UNKNOWN);
	assert_true(info->sampling_cost_ns == FIGURE_UNKNOWN);
	assert_false(info->has_unexplained);
	assert_int_equal(profile_weight_count(profile), 0);
	assert_int_equal(info->wall_ns, 5000); /* the thread's end is the last thing known */
}

static void descendants_that_were_not_wanted_count_as_unentered(void **state)
{
	struct recording_writer *writer = by_hand_create("children.fathom");

	(void)state;
	by_hand_add_thread(writer);
	add_thread(writer, "child", NULL,
		   &(struct recording_thread){ .unentered_ns = 500,
					       .startup_ns = RECORDING_UNKNOWN,
					       .exit_ns = RECORDING_UNKNOWN,
					       .kernel_unsampled_ns = RECORDING_UNKNOWN,
					       .traced_ns = RECORDING_UNKNOWN });
	recording_writer_set(writer, KEY_CHILDREN, "0");
	by_hand_close(writer);
	CLEANUP(profile_freep) struct profile *profile = load("children.fathom");

	assert_int_equal(row_ns(profile, "[not entered: child (--no-children)]"), 500);
	assert_int_equal(profile_get_info(profile)->unentered_ns, 500);
}

static void the_time_of_a_process_that_was_not_entered_is_all_unentered(void **state)
{
	struct recording_writer *writer = by_hand_create("whole.fathom");

	(void)state;
	by_hand_add_thread(writer);
	add_thread(writer, "su", "it is setuid",
		   &(struct recording_thread){ .cpu_ns = 900,
					       .unentered_ns = RECORDING_UNKNOWN,
					       .startup_ns = RECORDING_UNKNOWN,
					       .exit_ns = RECORDING_UNKNOWN,
					       .kernel_unsampled_ns = RECORDING_UNKNOWN,
					       .traced_ns = RECORDING_UNKNOWN });
	by_hand_close(writer);
	CLEANUP(profile_freep) struct profile *profile = load("whole.fathom");

	assert_int_equal(row_ns(profile, "[not entered: su (it is setuid)]"), 900);
	assert_int_equal(profile_get_process(profile, (struct process_id){ 2 })->cpu_ns, 900);
	assert_int_equal(profile_get_process(profile, (struct process_id){ 2 })->parent.n, 1);
}

static void the_facts_of_a_recording_are_the_profiles_info(void **state)
{
	struct recording_writer *writer = by_hand_create("facts.fathom");

	(void)state;
	by_hand_add_thread(writer);
	recording_writer_set(writer, KEY_COMMAND, "[\"make\",\"-j2\"]");
	recording_writer_set(writer, KEY_MODE, "sample");
	recording_writer_set(writer, KEY_CLOCK, "cpu");
	recording_writer_set(writer, KEY_TRIGGER, "sigtrap");
	recording_writer_set(writer, KEY_TRIGGER_WHY, "it is the best there is");
	recording_writer_set(writer, KEY_HOST, "Linux 6.1.0 x86_64");
	recording_writer_set(writer, KEY_DIRECTORY, "/srv");
	recording_writer_set(writer, KEY_FATHOM_VERSION, "0.1.0");
	recording_writer_set_int(writer, KEY_RATE_HZ, 1000);
	recording_writer_set_int(writer, KEY_PERIOD_NS, 999983);
	recording_writer_set_int(writer, KEY_WALL_NS, 123456);
	recording_writer_set_int(writer, KEY_START_UNIX_NS, 1700000000000000000);
	recording_writer_set_int(writer, KEY_SAMPLING_COST_NS, 42);
	recording_writer_note(writer, "a note");
	recording_writer_add_lost(writer, "the ring was full", 3);
	by_hand_close(writer);
	CLEANUP(profile_freep) struct profile *profile = load("facts.fathom");
	const struct profile_info *info = profile_get_info(profile);

	assert_int_equal(info->command_count, 2);
	assert_string_equal(info->command[1], "-j2");
	assert_string_equal(info->mode, "sample");
	assert_string_equal(info->clock, "cpu");
	assert_string_equal(info->trigger, "sigtrap");
	assert_string_equal(info->trigger_why, "it is the best there is");
	assert_string_equal(info->host, "Linux 6.1.0 x86_64");
	assert_string_equal(info->directory, "/srv");
	assert_string_equal(info->fathom_version, "0.1.0");
	assert_int_equal(info->rate_hz, 1000);
	assert_int_equal(info->period_ns, 999983);
	assert_int_equal(info->wall_ns, 123456);
	assert_int_equal(info->start_unix_ns, 1700000000000000000);
	assert_int_equal(info->sampling_cost_ns, 42);
	assert_int_equal(info->lost, 3);
	assert_false(info->is_unfinished);
	assert_int_equal(info->note_count, 2);
	assert_string_equal(info->notes[0], "a note");
	assert_string_equal(info->notes[1], "3 samples were lost: the ring was full");
}

static void the_tally_of_stacks_names_its_reasons(void **state)
{
	struct recording_writer *writer = by_hand_create("tally.fathom");

	(void)state;
	by_hand_add_thread(writer);
	uint32_t module = by_hand_add_module(writer, MODULE_KIND_ELF, "/bin/prog");
	uint32_t stack = by_hand_add_stack(writer, 0, module, 0x100);

	by_hand_add_samples(writer, stack, 5, 1000);
	recording_writer_add_sample(
		writer, &(struct recording_sample){
				.thread = 1, .stack = stack, .ending = 1, .weight_ns = 1000 });
	by_hand_name_frame(writer, 1, 0, "main", 12);
	recording_writer_set(writer, KEY_SYMBOLIZED, "1");
	by_hand_close(writer);
	CLEANUP(profile_freep) struct profile *profile = load("tally.fathom");
	const struct profile_info *info = profile_get_info(profile);

	assert_int_equal(info->samples, 6);
	assert_int_equal(info->stack_tally_count, 2);
	assert_string_equal(info->stacks[0].reason, "complete");
	assert_int_equal(info->stacks[0].samples, 5);
	assert_string_equal(info->stacks[1].reason, "too_deep");
	assert_string_equal(
		info->stacks[1].sentence,
		"the stack is deeper than the limit, or than what was copied of it");
	assert_int_equal(info->stacks[1].samples, 1);
}

static void a_sample_without_a_stack_keeps_its_time(void **state)
{
	struct recording_writer *writer = by_hand_create("lost.fathom");

	(void)state;
	by_hand_add_thread(writer);
	by_hand_add_samples(writer, 0, 4, 1000);
	by_hand_close(writer);
	CLEANUP(profile_freep) struct profile *profile = load("lost.fathom");

	assert_int_equal(row_ns(profile, "[stack lost]"), 4000);
	assert_int_equal(profile_get_info(profile)->sampled_ns, 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_account_becomes_rows_in_brackets_and_closes),
		cmocka_unit_test(time_that_only_a_thread_is_known_of_is_no_samples),
		cmocka_unit_test(what_was_not_measured_is_unknown_and_no_row),
		cmocka_unit_test(descendants_that_were_not_wanted_count_as_unentered),
		cmocka_unit_test(the_time_of_a_process_that_was_not_entered_is_all_unentered),
		cmocka_unit_test(the_facts_of_a_recording_are_the_profiles_info),
		cmocka_unit_test(the_tally_of_stacks_names_its_reasons),
		cmocka_unit_test(a_sample_without_a_stack_keeps_its_time),
	};

	return cmocka_run_group_tests(tests, by_hand_make_folder, by_hand_remove_folder);
}
