/* Core files: threads, the signal, what was mapped; and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "core_bytes.h"
#include "remote/core_file.h"
#include "remote/core_memory.h"
#include "target/maps.h"

static int open_bytes(const struct core_bytes *bytes, size_t len, struct core_file *core,
		      struct error *err)
{
	char path[32];
	const int fd = core_write(bytes->bytes, len, path);

	assert_true(fd >= 0);
	const int rc = core_file_open(path, core, err);

	close(fd);
	return rc;
}

static void threads_have_their_registers_and_calls(void **state)
{
	struct core_bytes bytes;
	struct core_file core;
	struct error err;

	(void)state;
	core_put_all(&bytes);
	assert_int_equal(open_bytes(&bytes, sizeof bytes.bytes, &core, &err), 0);
	assert_int_equal(core.thread_count, 2);
	assert_int_equal(core.threads[0].tid, 71);
	assert_int_equal(core.threads[0].signal, 11);
	assert_true(core.threads[0].call.is_running);
	assert_int_equal(core.threads[0].registers.pc, CORE_TEXT + 16);
	assert_int_equal(core.threads[0].registers.sp, CORE_STACK);
	assert_int_equal(core.threads[0].registers.fp, 1004);
	assert_int_equal(core.threads[0].registers.bx, 1005);
	assert_int_equal(core.threads[0].registers.all[15], 1000);
	assert_int_equal(core.threads[1].tid, 70);
	assert_true(core.threads[1].was_blocked);
	assert_int_equal(core.threads[1].call.number, 7);
	assert_int_equal(core.threads[1].call.arguments[0], 1014);
	assert_int_equal(core.threads[1].call.arguments[3], 1007);
	core_file_close(&core);
}

static void the_process_and_what_ended_it_are_there(void **state)
{
	struct core_bytes bytes;
	struct core_file core;
	struct error err;

	(void)state;
	core_put_all(&bytes);
	assert_int_equal(open_bytes(&bytes, sizeof bytes.bytes, &core, &err), 0);
	assert_int_equal(core.pid, 70);
	assert_string_equal(core.name, "server");
	assert_string_equal(core.command, "./server -v ");
	assert_int_equal(core.signal.number, 11);
	assert_int_equal(core.signal.address, 0x40);
	assert_int_equal(core.signal.sender, 0);
	assert_int_equal(core.program_headers, CORE_TEXT + 64);
	assert_int_equal(core.mapping_count, 2);
	assert_int_equal(core.mappings[1].file_offset, 3 * 4096);
	assert_int_equal(core.mappings[0].file, core.mappings[1].file);
	core_file_close(&core);
}

static void memory_is_the_cores_and_what_it_lacks_is_not_made_up(void **state)
{
	struct core_bytes bytes;
	uint8_t page[4096];
	struct core *core;
	struct error err;
	bool is_lasting;
	char path[32];

	(void)state;
	core_put_all(&bytes);
	const int fd = core_write(bytes.bytes, sizeof bytes.bytes, path);

	assert_int_equal(core_new(path, NULL, NULL, &core, &err), 0);
	assert_true(core_fetch(core, CORE_STACK, page, &is_lasting));
	assert_int_equal(page[0], 0x5a);
	assert_int_equal(page[CORE_DATA_SIZE], 0);
	assert_false(core_fetch(core, CORE_TEXT, page, &is_lasting));
	assert_false(core_fetch(core, 0x10000, page, &is_lasting));
	assert_int_equal(core_fit_at(core, CORE_TEXT), CORE_FIT_ABSENT);
	struct maps *maps = core_maps(core);

	assert_int_equal(maps_count(maps), 3);
	assert_string_equal(maps_find(maps, CORE_TEXT)->path, "/nowhere/server");
	assert_true(maps_find(maps, CORE_TEXT)->is_executable);
	assert_int_equal(maps_find(maps, CORE_TEXT + 4096)->file_offset, 3 * 4096);
	maps_free(maps);
	core_free(core);
	close(fd);
}

static void each_cut_is_refused_or_read_as_far_as_it_goes(void **state)
{
	struct core_bytes bytes;
	struct core_file core;
	struct error err;

	(void)state;
	core_put_all(&bytes);
	for (size_t len = 0; len < sizeof bytes.bytes; len += 7) {
		const int rc = open_bytes(&bytes, len, &core, &err);

		if (rc < 0) {
			assert_true(strlen(err.text) > 0);
			continue;
		}
		assert_true(core.thread_count >= 1);
		assert_true(core.mapping_count == 2);
		assert_true(len >= CORE_DATA + CORE_DATA_SIZE || core.claimed > core.size);
		core_file_close(&core);
	}
}

static void a_core_of_another_machine_is_named(void **state)
{
	struct core_bytes bytes;
	struct core_file core;
	struct error err;

	(void)state;
	core_put_all(&bytes);
	bytes.bytes[18] = EM_AARCH64;
	assert_int_equal(open_bytes(&bytes, sizeof bytes.bytes, &core, &err), -EINVAL);
	assert_non_null(strstr(err.text, "aarch64"));
	bytes.bytes[18] = 250;
	assert_int_equal(open_bytes(&bytes, sizeof bytes.bytes, &core, &err), -EINVAL);
	assert_non_null(strstr(err.text, "machine 250"));
}

static void one_without_threads_or_files_says_so(void **state)
{
	struct core_bytes bytes = { .notes = 0 };
	struct core_file core;
	struct error err;

	(void)state;
	core_put_files(&bytes, "/nowhere/server");
	core_put_headers(&bytes);
	assert_int_equal(open_bytes(&bytes, sizeof bytes.bytes, &core, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "no registers"));
	bytes = (struct core_bytes){ .notes = 0 };
	core_put_thread(&bytes, 1, 0, CORE_TEXT, 0, 0);
	core_put_headers(&bytes);
	assert_int_equal(open_bytes(&bytes, sizeof bytes.bytes, &core, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "NT_FILE"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_their_registers_and_calls),
		cmocka_unit_test(the_process_and_what_ended_it_are_there),
		cmocka_unit_test(memory_is_the_cores_and_what_it_lacks_is_not_made_up),
		cmocka_unit_test(each_cut_is_refused_or_read_as_far_as_it_goes),
		cmocka_unit_test(a_core_of_another_machine_is_named),
		cmocka_unit_test(one_without_threads_or_files_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
