/* Reads a process's seccomp filters by ptrace, and evaluates them (filters.h). */
#include "attach/filters.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "abi/filter.h"
#include "attach/attach_internal.h"
#include "attach/hold.h"
#include "attach/needed_calls.h"
#include "attach/status.h"
#include "attach/task.h"
#include "base/error.h"
#include "base/memory.h"

#define FILTERS_MAX 256
/* Attempts to stop a thread at a suitable moment. */
#define ROUNDS   500
#define ROUND_NS 1000000

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

static const char different[] = "its threads have different filters of system calls (seccomp)";

static void free_filters(struct filters *filters)
{
	for (size_t i = 0; i < filters->count; i++)
		free(filters->all[i].steps);
	free(filters->all);
	*filters = (struct filters){ 0 };
}

static int explain_reading(pid_t pid, int rc, struct error *err)
{
	static const char restricted[] = "a filter restricts its system calls (seccomp)";

	if (rc != -EACCES && rc != -EPERM)
		return error_set(err, -ENOTSUP, "%s, and the kernel does not show it",
				 restricted);
	if (geteuid() == 0)
		return error_set(err, -ENOTSUP,
				 "%s, which root outside of the container may look at",
				 restricted);
	return error_set(err, -ENOTSUP, "%s, which root may look at: sudo fathom record -p %d",
			 restricted, (int)pid);
}

/* Reads a stopped thread's filters, the one installed last first. */
static int read_filters(pid_t pid, pid_t tid, struct filters *out_filters, struct error *err)
{
	size_t capacity = 0;

	for (uintptr_t i = 0; i < FILTERS_MAX; i++) {
		const long count = ptrace((int)PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, NULL);

		if (count < 0 && errno == ENOENT)
			return 0;
		if (count < 0)
			return explain_reading(pid, -errno, err);
		out_filters->all = array_grow(out_filters->all, out_filters->count, &capacity,
					      sizeof *out_filters->all);
		struct filter *filter = &out_filters->all[out_filters->count++];

		*filter =
			(struct filter){ xzalloc(FILTER_STEPS_MAX * sizeof *filter->steps), 0 };
		/* The kernel accepts no longer filter. */
		if (count > FILTER_STEPS_MAX || ptrace((int)PTRACE_SECCOMP_GET_FILTER, tid,
						       (void *)i, filter->steps) != count)
			return explain_reading(pid, -EINVAL, err);
		filter->count = (uint32_t)count;
	}
	return error_set(err, -ENOTSUP, "it has more than %d seccomp filters", FILTERS_MAX);
}

/* -EAGAIN: the thread cannot be stopped now; -ESRCH: it has ended. */
static int read_thread_once(pid_t pid, pid_t tid, struct filters *out_filters,
			    struct error *err)
{
	struct attach_status status;
	struct hold hold;
	const char *why;

	if (attach_status_read(pid, tid, &status) < 0 || status.state == 'Z' ||
	    status.state == 'X')
		return -ESRCH;
	if (status.seccomp != SECCOMP_MODE_FILTER)
		return error_set(err, -ENOTSUP, "%s", different);
	if (status.state != 'R' && status.state != 'S')
		return -EAGAIN;
	int rc = hold_look(pid, tid, &hold, &why, err);

	if (rc < 0)
		return rc;
	rc = read_filters(pid, tid, out_filters, err);
	hold_leave(&hold);
	return rc;
}

static int read_thread(pid_t pid, pid_t tid, struct filters *out_filters, struct error *err)
{
	for (int round = 0; round < ROUNDS; round++) {
		const int rc = read_thread_once(pid, tid, out_filters, err);

		if (rc != -EAGAIN)
			return rc;
		attach_pause_ns(ROUND_NS);
	}
	return error_set(err, -ENOTSUP,
			 "a filter restricts its system calls (seccomp), and that of thread %d "
			 "cannot be looked at now; try again",
			 (int)tid);
}

static bool are_same(const struct filters *one, const struct filters *other)
{
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++) {
		const struct filter *a = &one->all[i], *b = &other->all[i];

		if (a->count != b->count ||
		    memcmp(a->steps, b->steps, a->count * sizeof *a->steps) != 0)
			return false;
	}
	return true;
}

static bool is_allowed(const struct needed_call *needed, uint32_t answer)
{
	if (filter_answer_allows(answer))
		return true;
	if ((answer & FILTER_ACTION) != FILTER_ERRNO)
		return false;
	return needed->otherwise == NEEDED_OR_FAILS ||
	       (needed->otherwise == NEEDED_OR_UNKNOWN && (answer & ~FILTER_ACTION) == ENOSYS);
}

int filters_allow(const struct filters *filters, uint32_t machine, struct error *err)
{
	for (size_t i = 0; i < needed_call_count; i++) {
		const struct needed_call *needed = &needed_calls[i];
		struct filter_call call = { .machine = machine,
					    .number = (uint32_t)needed->number,
					    .known = needed->known };

		memcpy(call.arguments, needed->arguments, sizeof call.arguments);
		for (size_t j = 0; j < filters->count; j++) {
			const uint32_t answer = filter_answer(filters->all[j].steps,
							      filters->all[j].count, &call);

			if (!is_allowed(needed, answer))
				return error_set(err, -ENOTSUP,
						 "a filter (seccomp) forbids it %s, which an "
						 "agent needs",
						 needed->name);
		}
	}
	return 0;
}

/* Reads the filters that all threads share; fails if they differ. */
static int read_all(pid_t pid, const pid_t *tids, size_t count, struct filters *out_filters,
		    struct error *err)
{
	bool is_first = true;

	for (size_t i = 0; i < count; i++) {
		struct filters filters = { 0 };
		int rc = read_thread(pid, tids[i], &filters, err);

		if (rc == 0 && is_first) {
			*out_filters = filters;
			is_first = false;
			continue;
		}
		if (rc == 0 && !are_same(&filters, out_filters))
			rc = error_set(err, -ENOTSUP, "%s", different);
		free_filters(&filters);
		if (rc < 0 && rc != -ESRCH)
			return rc;
	}
	return 0;
}

/* Counts the threads that have a filter; -ENOTSUP: one is in strict mode. */
static int count_filtered(pid_t pid, const pid_t *tids, size_t count, size_t *out_filtered,
			  struct error *err)
{
	struct attach_status status;

	*out_filtered = 0;
	for (size_t i = 0; i < count; i++) {
		if (attach_status_read(pid, tids[i], &status) < 0)
			continue;
		if (status.seccomp == SECCOMP_MODE_STRICT)
			return error_set(err, -ENOTSUP,
					 "its thread %d may only read, write and end (seccomp)",
					 (int)tids[i]);
		*out_filtered += status.seccomp == SECCOMP_MODE_FILTER;
	}
	return 0;
}

int filters_judge(pid_t pid, struct error *err)
{
	CLEANUP(freep) pid_t *tids = NULL;
	struct filters filters = { 0 };
	size_t count, filtered;
	int rc = task_list_all(pid, &tids, &count);

	if (rc < 0)
		return error_errno(err, rc, "its threads cannot be listed");
	rc = count_filtered(pid, tids, count, &filtered, err);
	if (rc < 0 || filtered == 0)
		return rc;
	rc = read_all(pid, tids, count, &filters, err);
	if (rc == 0)
		rc = filters_allow(&filters, AUDIT_ARCH_X86_64, err);
	free_filters(&filters);
	return rc;
}
