#include "recorder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/memory.h"
#include "fixture.h"

const char *beside(void **state, const char *name, const char *suffix)
{
	CLEANUP(freep) char *file = xasprintf("%s%s", name, suffix);

	return in_folder(state, file);
}

/* Without cmocka's longjmp, which would return into the parent's tests. */
static void add_in_child(struct recording_writer *writer, uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++) {
		struct recording_sample sample =
			sample_of(i, RECORDER_THREADS, RECORDER_STACKS);

		if (recording_writer_add_sample(writer, &sample) < 0)
			_exit(3);
	}
}

static void record_in_child(const char *path, int commits, int committed, int go_on,
			    bool close_it)
{
	struct recording_writer *writer;
	struct error err;
	char byte = 0;

	if (recording_writer_create(path, &writer, &err) < 0)
		_exit(2);
	add_basics(writer, RECORDER_THREADS, RECORDER_STACKS);
	for (int i = 0; i < commits; i++) {
		add_in_child(writer, (uint64_t)i * 100, 100);
		if (recording_writer_commit(writer) < 0 || write(committed, &byte, 1) != 1)
			_exit(4);
	}
	if (read(go_on, &byte, 1) < 0)
		_exit(5);
	_exit(close_it ? -recording_writer_close(writer, &err) : 0);
}

struct recorder start_recorder(const char *path, int commits, bool close_it)
{
	int committed[2], go_on[2];

	assert_int_equal(pipe2(committed, O_CLOEXEC), 0);
	assert_int_equal(pipe2(go_on, O_CLOEXEC), 0);
	pid_t pid = fork();

	if (pid == 0) {
		close(go_on[1]);
		record_in_child(path, commits, committed[1], go_on[0], close_it);
	}
	close(committed[1]);
	close(go_on[0]);
	return (struct recorder){ .pid = pid, .committed = committed[0], .go_on = go_on[1] };
}

int wait_for_commits(const struct recorder *recorder, int count)
{
	char byte;
	int seen = 0;

	while (seen < count && read(recorder->committed, &byte, 1) == 1)
		seen++;
	return seen;
}

int end_recorder(struct recorder *recorder)
{
	int status = -1;

	close(recorder->go_on);
	waitpid(recorder->pid, &status, 0);
	close(recorder->committed);
	return status;
}

int kill_recorder(struct recorder *recorder)
{
	kill(recorder->pid, SIGKILL);
	int rest = wait_for_commits(recorder, INT32_MAX);

	end_recorder(recorder);
	return rest;
}

void leave_killed(const char *path, int commits)
{
	struct recorder recorder = start_recorder(path, commits, false);

	assert_int_equal(wait_for_commits(&recorder, commits), commits);
	kill_recorder(&recorder);
}
