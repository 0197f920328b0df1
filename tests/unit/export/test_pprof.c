#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "base/memory.h"
#include "expect.h"
#include "pprof.pb-c.h"

static Pprof__Profile *read_back(const char *name)
{
	CLEANUP(text_done) struct text text = export_of(name, "pprof");
	size_t room = 1 << 20;
	CLEANUP(freep) uint8_t *plain = xmalloc(room);
	z_stream stream = { .next_in = (Bytef *)text.data,
			    .avail_in = (unsigned int)text.len,
			    .next_out = plain,
			    .avail_out = (unsigned int)room };

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	inflateEnd(&stream);
	Pprof__Profile *profile = pprof__profile__unpack(NULL, room - stream.avail_out, plain);
	assert_non_null(profile);
	assert_string_equal(profile->string_table[0], "");
	return profile;
}

static const char *string(const Pprof__Profile *profile, int64_t index)
{
	assert_in_range(index, 0, profile->n_string_table - 1);
	return profile->string_table[index];
}

static const Pprof__Function *function_of(const Pprof__Profile *profile, uint64_t id)
{
	for (size_t i = 0; i < profile->n_function; i++)
		if (profile->function[i]->id == id)
			return profile->function[i];
	fail_msg("no function %d", (int)id);
	return NULL;
}

static const Pprof__Location *location_of(const Pprof__Profile *profile, uint64_t id)
{
	for (size_t i = 0; i < profile->n_location; i++)
		if (profile->location[i]->id == id)
			return profile->location[i];
	fail_msg("no location %d", (int)id);
	return NULL;
}

/* "sort < swap | main": locations from the outermost, their lines from the innermost. */
static void add_stack(struct text *text, const Pprof__Profile *profile,
		      const Pprof__Sample *sample)
{
	for (size_t i = sample->n_location_id; i-- > 0;) {
		const Pprof__Location *location = location_of(profile, sample->location_id[i]);
		for (size_t l = 0; l < location->n_line; l++) {
			const Pprof__Line *line = location->line[l];
			text_addf(
				text, "%s%s:%d", l > 0 ? "<" : "",
				string(profile, function_of(profile, line->function_id)->name),
				(int)line->line);
		}
		text_add(text, i > 0 ? ";" : "");
	}
}

static void add_samples(struct text *text, const Pprof__Profile *profile)
{
	for (size_t i = 0; i < profile->n_sample; i++) {
		const Pprof__Sample *sample = profile->sample[i];
		add_stack(text, profile, sample);
		text_addf(text, " %d %d", (int)sample->value[0], (int)sample->value[1]);
		for (size_t l = 0; l < sample->n_label; l++) {
			const Pprof__Label *label = sample->label[l];
			text_addf(text, " %s=", string(profile, label->key));
			if (label->str)
				text_add(text, string(profile, label->str));
			else
				text_addf(text, "%d", (int)label->num);
		}
		text_add(text, "\n");
	}
}

static void samples_have_counts_and_times_lines_and_labels(void **state)
{
	static const char first[] = " thread=main tid=100 process=prog pid=100\n",
			  second[] = " thread=worker tid=101 process=prog pid=100\n";
	Pprof__Profile *profile = read_back("mixed");
	CLEANUP(text_done) struct text text = { 0 }, expected = { 0 };

	(void)state;
	add_samples(&text, profile);
	text_addf(&expected, "main:10;sort:30 2 2000000%s", first);
	text_addf(&expected, "main:10;swap:4<sort:30 1 1000000%s", first);
	text_addf(&expected, "main:10;swap:4<sort:30 3 3000000%s", second);
	text_addf(&expected, "main:11;sort:30 1 1000000%s", second);
	text_addf(&expected, "main:11;libz.so.1+0x2f10:0 1 1000000%s", first);
	text_addf(&expected, "main:11;Job.run:14;each:0 1 1000000%s", first);
	text_addf(&expected, "main:11;vfs_read:0 1 1000000%s", first);
	text_addf(&expected, "[start-up]:0 0 2000000%s", first);
	assert_string_equal(text_string(&text), text_string(&expected));
	pprof__profile__free_unpacked(profile, NULL);
}

static void a_python_function_has_its_file_and_both_names(void **state)
{
	Pprof__Profile *profile = read_back("mixed");
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < profile->n_function; i++) {
		const Pprof__Function *function = profile->function[i];

		if (strcmp(string(profile, function->name), "Job.run") != 0)
			continue;
		assert_string_equal(string(profile, function->system_name), "run");
		assert_string_equal(string(profile, function->filename), "/srv/job.py");
		assert_int_equal(function->start_line, 12);
		found++;
	}
	assert_int_equal(found, 1);
	pprof__profile__free_unpacked(profile, NULL);
}

static void the_head_says_what_was_measured(void **state)
{
	Pprof__Profile *profile = read_back("mixed");

	(void)state;
	assert_int_equal(profile->n_sample_type, 2);
	assert_string_equal(string(profile, profile->sample_type[0]->type), "samples");
	assert_string_equal(string(profile, profile->sample_type[0]->unit), "count");
	assert_string_equal(string(profile, profile->sample_type[1]->type), "cpu");
	assert_string_equal(string(profile, profile->sample_type[1]->unit), "nanoseconds");
	assert_string_equal(string(profile, profile->default_sample_type), "cpu");
	assert_string_equal(string(profile, profile->period_type->type), "cpu");
	assert_string_equal(string(profile, profile->period_type->unit), "nanoseconds");
	assert_int_equal(profile->period, 999983);
	assert_int_equal(profile->time_nanos, 1700000000LL * 1000000000);
	assert_int_equal(profile->duration_nanos, 12000000);
	pprof__profile__free_unpacked(profile, NULL);
}

static void the_program_is_the_first_mapping_and_all_have_build_ids(void **state)
{
	Pprof__Profile *profile = read_back("mixed");

	(void)state;
	assert_int_equal(profile->n_mapping, 2);
	assert_string_equal(string(profile, profile->mapping[0]->filename), "/opt/prog");
	assert_string_equal(string(profile, profile->mapping[0]->build_id),
			    "0102030405060708090a0b0c0d0e0f1011121314");
	assert_true(profile->mapping[0]->has_filenames);
	assert_string_equal(string(profile, profile->mapping[1]->filename),
			    "/usr/lib/libz.so.1");
	assert_true(profile->mapping[1]->has_functions);
	assert_false(profile->mapping[1]->has_filenames);
	pprof__profile__free_unpacked(profile, NULL);
}

static void only_native_code_has_a_mapping_and_an_address_in_it(void **state)
{
	Pprof__Profile *profile = read_back("mixed");
	size_t mapped = 0;

	(void)state;
	for (size_t i = 0; i < profile->n_location; i++) {
		const Pprof__Location *location = profile->location[i];
		assert_true((location->mapping_id != 0) == (location->address != 0));
		mapped += location->mapping_id != 0;
	}
	assert_int_equal(profile->n_location, 9);
	assert_int_equal(mapped, 5); /* main twice, sort with and without swap, libz */
	for (size_t i = 0; i < profile->n_mapping; i++) {
		assert_int_equal(profile->mapping[i]->memory_start, 0);
		assert_true(profile->mapping[i]->memory_limit == UINT64_MAX);
	}
	pprof__profile__free_unpacked(profile, NULL);
}

static void the_wall_clock_has_a_value_for_each_group_of_states(void **state)
{
	static const char *const types[] = { "samples",  "wall",    "running",
					     "runnable", "gil_gvl", "lock",
					     "io",       "sleep",   "other" };
	Pprof__Profile *profile = read_back("waits");
	CLEANUP(text_done) struct text text = { 0 };
	int64_t sums[9] = { 0 };

	(void)state;
	assert_int_equal(profile->n_sample_type, 9);
	for (size_t i = 0; i < 9; i++)
		assert_string_equal(string(profile, profile->sample_type[i]->type), types[i]);
	assert_string_equal(string(profile, profile->default_sample_type), "wall");
	for (size_t i = 0; i < profile->n_sample; i++) {
		const Pprof__Sample *sample = profile->sample[i];

		assert_int_equal(sample->n_value, 9);
		for (size_t v = 0; v < 9; v++)
			sums[v] += sample->value[v];
	}
	for (size_t v = 0; v < 9; v++)
		text_addf(&text, "%d ", (int)(v > 0 ? sums[v] / 1000000 : sums[v]));
	assert_string_equal(text_string(&text), "5 25 2 1 3 0 6 13 0 ");
	pprof__profile__free_unpacked(profile, NULL);
}

static void the_state_is_a_label(void **state)
{
	Pprof__Profile *profile = read_back("waits");
	CLEANUP(text_done) struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < profile->n_sample; i++) {
		const Pprof__Label *label = profile->sample[i]->label[0];

		assert_string_equal(string(profile, label->key), "state");
		text_addf(&text, "%s ", string(profile, label->str));
	}
	assert_string_equal(text_string(&text), "running runnable gil io sleep ");
	pprof__profile__free_unpacked(profile, NULL);
}

static void a_trace_has_calls_in_place_of_samples(void **state)
{
	Pprof__Profile *profile = read_back("trace");
	int64_t calls = 0;

	(void)state;
	assert_string_equal(string(profile, profile->sample_type[0]->type), "calls");
	for (size_t i = 0; i < profile->n_sample; i++)
		calls += profile->sample[i]->value[0];
	assert_int_equal(calls, 5000000029);
	for (size_t i = 0; i < profile->n_comment; i++) {
		assert_null(strstr(string(profile, profile->comment[i]), "samples"));
		assert_null(strstr(string(profile, profile->comment[i]), "unexplained"));
	}
	pprof__profile__free_unpacked(profile, NULL);
}

static void comments_carry_the_command_the_account_and_what_was_lost(void **state)
{
	static const char *const expected[] = {
		"command: ./prog -n 3",
		"fathom: 0.1.0",
		"host: Linux 6.1.0 x86_64",
		"clock: cpu",
		"rate_hz: 1000",
		"trigger: sigtrap",
		"samples: 10",
		"lost: 2",
		"kernel_cpu_ns: 15000000",
		"sampled_ns: 10000000",
		"thread_only_ns: 0",
		"lost_ns: 0",
		"startup_ns: 2000000",
		"exit_ns: 0",
		"unentered_ns: 0",
		"kernel_unsampled_ns: 0",
		"traced_ns: 0",
		"unexplained_ns: 3000000",
		"stacks complete: 9",
		"stacks unreadable: 1",
		"note: one process was not entered: static-pie",
	};
	Pprof__Profile *profile = read_back("mixed");

	(void)state;
	assert_int_equal(profile->n_comment, sizeof expected / sizeof *expected);
	for (size_t i = 0; i < profile->n_comment; i++)
		assert_string_equal(string(profile, profile->comment[i]), expected[i]);
	pprof__profile__free_unpacked(profile, NULL);
}

static void an_empty_profile_still_says_what_would_have_been_measured(void **state)
{
	Pprof__Profile *profile = read_back("empty");

	(void)state;
	assert_int_equal(profile->n_sample, 0);
	assert_int_equal(profile->n_sample_type, 2);
	assert_int_equal(profile->time_nanos, 0);
	pprof__profile__free_unpacked(profile, NULL);
}

static void names_are_utf8_and_never_empty(void **state)
{
	Pprof__Profile *profile = read_back("hostile");
	bool has_escape = false, has_unknown = false;

	(void)state;
	for (size_t i = 0; i < profile->n_function; i++) {
		const char *name = string(profile, profile->function[i]->name);
		assert_string_not_equal(name, "");
		has_escape |= strcmp(name, "bad\\xff utf8") == 0;
		has_unknown |= strcmp(name, "[unknown]") == 0;
	}
	assert_true(has_escape);
	assert_true(has_unknown);
	pprof__profile__free_unpacked(profile, NULL);
}

static void the_same_profile_gives_the_same_bytes(void **state)
{
	CLEANUP(text_done)
	struct text first = export_of("mixed", "pprof"), second = export_of("mixed", "pprof");

	(void)state;
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_python_function_has_its_file_and_both_names),
		cmocka_unit_test(samples_have_counts_and_times_lines_and_labels),
		cmocka_unit_test(the_head_says_what_was_measured),
		cmocka_unit_test(the_program_is_the_first_mapping_and_all_have_build_ids),
		cmocka_unit_test(only_native_code_has_a_mapping_and_an_address_in_it),
		cmocka_unit_test(the_wall_clock_has_a_value_for_each_group_of_states),
		cmocka_unit_test(the_state_is_a_label),
		cmocka_unit_test(a_trace_has_calls_in_place_of_samples),
		cmocka_unit_test(comments_carry_the_command_the_account_and_what_was_lost),
		cmocka_unit_test(an_empty_profile_still_says_what_would_have_been_measured),
		cmocka_unit_test(names_are_utf8_and_never_empty),
		cmocka_unit_test(the_same_profile_gives_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
