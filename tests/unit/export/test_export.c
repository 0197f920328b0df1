#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "export/export.h"
#include "export/sink.h"
#include "handmade.h"
#include "profile/profile.h"

static void every_exporter_is_found_by_its_name(void **state)
{
	static const char *const names[] = { "folded", "speedscope", "pprof",    "flamegraph",
					     "svg",    "pstats",     "callgrind" };
	size_t count = 0;

	(void)state;
	while (exporter_at(count)) {
		assert_ptr_equal(exporter_find(exporter_at(count)->name), exporter_at(count));
		assert_int_equal(exporter_at(count)->suffix[0], '.');
		count++;
	}
	assert_int_equal(count, sizeof names / sizeof *names);
	for (size_t i = 0; i < count; i++)
		assert_non_null(exporter_find(names[i]));
	assert_null(exporter_find("png"));
	assert_null(exporter_find(""));
}

static void pprof_and_pstats_are_binary(void **state)
{
	(void)state;
	for (size_t i = 0; exporter_at(i); i++)
		assert_int_equal(exporter_at(i)->is_binary,
				 strcmp(exporter_at(i)->name, "pprof") == 0 ||
					 strcmp(exporter_at(i)->name, "pstats") == 0);
}

/* Takes some writes and refuses those after. */
struct narrow_sink {
	int writes_left;
	int writes_refused;
};

static int write_narrowly(void *context, const void *bytes, size_t len, struct error *err)
{
	struct narrow_sink *narrow = context;

	(void)bytes;
	(void)len;
	if (narrow->writes_left-- > 0)
		return 0;
	narrow->writes_refused++;
	return error_set(err, -ENOSPC, "the sink is full");
}

static void a_failing_sink_ends_every_export_with_its_sentence(void **state)
{
	CLEANUP(profile_freep) struct profile *middling = handmade_profile("middling");
	CLEANUP(profile_freep) struct profile *trace = handmade_profile("trace");

	(void)state;
	for (size_t i = 0; exporter_at(i); i++) {
		const bool is_of_calls = strcmp(exporter_at(i)->name, "pstats") == 0 ||
					 strcmp(exporter_at(i)->name, "callgrind") == 0;
		const struct profile *profile = is_of_calls ? trace : middling;
		/* A small one comes in one piece. */
		const int most_writes = is_of_calls ? 1 : 3;

		for (int writes = 0; writes < most_writes; writes++) {
			struct narrow_sink narrow = { .writes_left = writes };
			struct sink sink = { .write = write_narrowly, .context = &narrow };
			struct error err;
			assert_int_equal(exporter_at(i)->write(profile, &sink, &err), -ENOSPC);
			assert_string_equal(err.text, "the sink is full");
			assert_int_equal(narrow.writes_refused, 1);
		}
	}
}

static void a_full_disk_is_said_to_be_full(void **state)
{
	CLEANUP(closep) int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct sink sink = sink_to_fd(&fd);
	struct error err;

	(void)state;
	assert_int_equal(sink.write(sink.context, "x", 1, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write the export: No space left on device");
}

static void a_descriptor_gets_every_byte(void **state)
{
	int ends[2];
	char got[4] = { 0 };

	(void)state;
	assert_int_equal(pipe(ends), 0);
	struct sink sink = sink_to_fd(&ends[1]);
	assert_int_equal(sink.write(sink.context, "abc", 3, NULL), 0);
	assert_int_equal(read(ends[0], got, sizeof got), 3);
	assert_string_equal(got, "abc");
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_exporter_is_found_by_its_name),
		cmocka_unit_test(pprof_and_pstats_are_binary),
		cmocka_unit_test(a_failing_sink_ends_every_export_with_its_sentence),
		cmocka_unit_test(a_full_disk_is_said_to_be_full),
		cmocka_unit_test(a_descriptor_gets_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
