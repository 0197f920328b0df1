#include "remote/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "remote/process.h"
#include "remote/python.h"
#include "remote/refusal.h"
#include "remote/ruby.h"

/* The process's first thread has its number. */
static void put_first(pid_t pid, pid_t *tids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (tids[i] != pid)
			continue;
		for (; i > 0; i--)
			tids[i] = tids[i - 1];
		tids[0] = pid;
		return;
	}
}

int snapshot_read(struct remote *remote, struct snapshot *out_snapshot, struct error *err)
{
	CLEANUP(freep) pid_t *tids = NULL;
	struct snapshot snapshot = { 0 };
	size_t count = 0;
	const int rc = task_list(remote->pid, &tids, &count);

	if (rc < 0)
		return refusal_explain(remote->pid, rc, err);
	put_first(remote->pid, tids, count);
	if (remote->python)
		remote_python_list(remote);
	if (remote->ruby)
		remote_ruby_list(remote);
	snapshot.threads = xreallocarray(NULL, count + 1, sizeof *snapshot.threads);
	for (size_t i = 0; i < count; i++) {
		if (remote_thread_read(remote, tids[i], &snapshot.threads[snapshot.count]) == 0)
			snapshot.count++;
	}
	if (snapshot.count == 0) {
		snapshot_done(&snapshot);
		return refusal_explain(remote->pid, -ESRCH, err);
	}
	*out_snapshot = snapshot;
	return 0;
}

void snapshot_done(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->count; i++)
		remote_thread_done(&snapshot->threads[i]);
	free(snapshot->threads);
	*snapshot = (struct snapshot){ 0 };
}
