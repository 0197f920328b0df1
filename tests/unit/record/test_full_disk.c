/* A full disk ends a recording with one sentence, and what was committed can be read. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"

#define THREADS     3
#define STACKS      40
#define NOT_ALLOWED 77

/* Records until it fails, in a child; exits 0 if all is as it should be, else with a line. */
#define CHILD_MUST(condition)                                                   \
	do {                                                                    \
		if (!(condition)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                               \
		}                                                               \
	} while (0)

struct outcome {
	uint64_t committed;
	int rc;
	struct error close_error;
};

static void record_until_full(const char *path, struct outcome *out)
{
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	CHILD_MUST(recording_writer_create(path, &writer, &err) == 0);
	add_basics(writer, THREADS, STACKS);
	for (uint64_t n = 0; out->rc == 0 && n < 1000000; n++) {
		struct recording_sample sample = sample_of(n, THREADS, STACKS);

		out->rc = recording_writer_add_sample(writer, &sample);
		if (out->rc == 0 && n % 1000 == 999) {
			out->rc = recording_writer_commit(writer);
			out->committed = out->rc == 0 ? n + 1 : out->committed;
		}
	}
	CHILD_MUST(out->rc < 0);
	CHILD_MUST(out->committed > 0);
	CHILD_MUST(recording_writer_failure(writer) != NULL);
	/* Later calls say the same at once. */
	CHILD_MUST(recording_writer_set(writer, "a", "b") == out->rc);
	CHILD_MUST(recording_writer_note(writer, "x") == out->rc);
	CHILD_MUST(recording_writer_tick(writer) == out->rc);
	CHILD_MUST(recording_writer_commit(writer) == out->rc);
	CHILD_MUST(recording_writer_add_lost(writer, "x", 1) == out->rc);
	CHILD_MUST(recording_writer_close(writer, &out->close_error) == out->rc);
}

static void check_readable(const char *path, const struct outcome *outcome)
{
	struct recording_reader *reader = open_reading(path);

	CHILD_MUST(!recording_reader_is_finished(reader));
	CHILD_MUST(!recording_reader_is_being_written(reader));
	CHILD_MUST(count_samples(reader) == outcome->committed);
	assert_sums_agree(reader);
	recording_reader_close(reader);
}

static int run_child(const char *path, void (*child)(const char *path))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		child(path);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void record_with_a_size_limit(const char *path)
{
	struct rlimit limit = { .rlim_cur = 600000, .rlim_max = RLIM_INFINITY };
	struct outcome outcome = { 0 };

	signal(SIGXFSZ, SIG_IGN);
	CHILD_MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	record_until_full(path, &outcome);
	CHILD_MUST(strstr(outcome.close_error.text, "the recording ends here") != NULL);
	CHILD_MUST(strstr(outcome.close_error.text, "File too large") != NULL);
	CHILD_MUST(strstr(outcome.close_error.text, "can be read") != NULL);
	check_readable(path, &outcome);
	limit.rlim_cur = RLIM_INFINITY;
	CHILD_MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	check_readable(path, &outcome);
}

static void a_file_size_limit_ends_the_recording_with_a_sentence(void **state)
{
	assert_int_equal(run_child(in_folder(state, "a.fathom"), record_with_a_size_limit), 0);
}

static void a_file_size_limit_does_so_with_a_rollback_journal(void **state)
{
	assert_int_equal(mkdir(in_folder(state, "a.fathom-shm"), 0700), 0);
	assert_int_equal(run_child(in_folder(state, "a.fathom"), record_with_a_size_limit), 0);
}

static void write_to(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (write(fd, text, strlen(text)) < 0)
		_exit(NOT_ALLOWED);
	close(fd);
}

/* A small disk of the child's own, in a mount namespace that goes with it. */
static void mount_small_disk(const char *folder)
{
	CLEANUP(freep) char *uid_map = xasprintf("0 %u 1", geteuid());
	CLEANUP(freep) char *gid_map = xasprintf("0 %u 1", getegid());

	if (unshare(CLONE_NEWNS) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			_exit(NOT_ALLOWED);
		write_to("/proc/self/setgroups", "deny");
		write_to("/proc/self/uid_map", uid_map);
		write_to("/proc/self/gid_map", gid_map);
	}
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", folder, "tmpfs", 0, "size=900k") < 0)
		_exit(NOT_ALLOWED);
}

static void fill_disk(const char *folder)
{
	CLEANUP(freep) char *path = xasprintf("%s/filler", folder);
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	while (write(fd, zeros, sizeof zeros) > 0)
		;
	close(fd);
}

static void record_on_a_small_disk(const char *folder)
{
	CLEANUP(freep) char *path = xasprintf("%s/a.fathom", folder);
	struct outcome outcome = { 0 };

	mount_small_disk(folder);
	record_until_full(path, &outcome);
	CHILD_MUST(outcome.rc == -ENOSPC);
	CHILD_MUST(strstr(outcome.close_error.text, "the recording ends here") != NULL);
	CHILD_MUST(strstr(outcome.close_error.text, "full") != NULL);
	CHILD_MUST(strstr(outcome.close_error.text, "make room") != NULL);
	/* Not a block is free for the reader. */
	fill_disk(folder);
	check_readable(path, &outcome);
	check_readable(path, &outcome);
}

static void begin_on_a_full_disk(const char *folder)
{
	CLEANUP(freep) char *path = xasprintf("%s/a.fathom", folder);
	struct recording_writer *writer = NULL;
	struct error err = { "" };

	mount_small_disk(folder);
	fill_disk(folder);
	CHILD_MUST(recording_writer_create(path, &writer, &err) == -ENOSPC);
	CHILD_MUST(strstr(err.text, "a.fathom: cannot be made") != NULL);
	CHILD_MUST(!exists(path));
}

static void run_on_small_disk(void **state, void (*child)(const char *folder))
{
	const char *folder = in_folder(state, "disk");

	assert_int_equal(mkdir(folder, 0700), 0);
	int code = run_child(folder, child);
	if (code == NOT_ALLOWED) {
		print_message("skipped: a tmpfs cannot be mounted here\n");
		skip();
	}
	assert_int_equal(code, 0);
}

static void a_full_disk_ends_the_recording_with_a_sentence(void **state)
{
	run_on_small_disk(state, record_on_a_small_disk);
}

static void a_recording_cannot_begin_on_a_full_disk(void **state)
{
	run_on_small_disk(state, begin_on_a_full_disk);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_file_size_limit_ends_the_recording_with_a_sentence),
		TEST(a_file_size_limit_does_so_with_a_rollback_journal),
		TEST(a_full_disk_ends_the_recording_with_a_sentence),
		TEST(a_recording_cannot_begin_on_a_full_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
