/* Selects threads by process and thread. */
#include "profile/filter_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "profile/profile.h"

static bool is_named_before(const struct profile *profile, size_t i, const char *name)
{
	for (size_t k = 1; k < i; k++) {
		const struct thread *other =
			profile_get_thread(profile, (struct thread_id){ (uint32_t)k });
		if (strcmp(other->name, name) == 0)
			return true;
	}
	return false;
}

static int no_such_thread(const struct profile *profile, const char *wanted, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	size_t count = 0;

	for (size_t i = 1; i <= profile_thread_count(profile) && count <= FILTER_NAMED_MAX;
	     i++) {
		const struct thread *thread =
			profile_get_thread(profile, (struct thread_id){ (uint32_t)i });
		if (!is_named_before(profile, i, thread->name))
			filter_add_name(&list, &count, thread->name);
	}
	if (count == 0)
		return error_set(err, -ENOENT, "no thread \"%s\": this profile has no threads",
				 wanted);
	return error_set(err, -ENOENT,
			 "no thread has the name or the tid \"%s\"; there are: %s (--by thread "
			 "lists all with their tids)",
			 wanted, text_string(&list));
}

static void describe_threads(struct text *description, bool is_tid, const struct thread *one,
			     size_t count)
{
	size_t len = strlen(one->name);

	if (description->len > 0)
		text_add(description, ", ");
	if (is_tid && count > 1) {
		text_addf(description, "the %zu threads with the tid %d", count, one->tid);
	} else if (is_tid) {
		text_addf(description, "thread %d (", one->tid);
		text_add_printable(description, one->name, len);
		text_add(description, ")");
	} else if (count == 1) {
		text_add(description, "thread ");
		text_add_printable(description, one->name, len);
		text_addf(description, " (tid %d)", one->tid);
	} else {
		text_addf(description, "the %zu threads named ", count);
		text_add_printable(description, one->name, len);
	}
}

/* A number is a tid if this profile has it, else a name. */
int filter_choose_threads(const struct profile *profile, const char *wanted, bool **keeps,
			  struct text *description, struct error *err)
{
	CLEANUP(freep) bool *keeps_process = *keeps;
	size_t threads = profile_thread_count(profile);
	char *end;
	errno = 0;
	long tid = strtol(wanted, &end, 10);
	bool may_be_tid = *wanted && !*end && errno == 0 && tid > 0;

	bool *kept = *keeps = xzalloc((threads + 1) * sizeof *kept);
	for (int by_tid = may_be_tid; by_tid >= 0; by_tid--) {
		const struct thread *one = NULL;
		size_t count = 0;
		for (uint32_t i = 1; i <= threads; i++) {
			const struct thread *thread =
				profile_get_thread(profile, (struct thread_id){ i });
			if (by_tid ? thread->tid != tid : strcmp(thread->name, wanted) != 0)
				continue;
			if (keeps_process && !keeps_process[i])
				continue;
			kept[i] = true;
			one = thread;
			count++;
		}
		if (count > 0) {
			describe_threads(description, by_tid, one, count);
			return 0;
		}
	}
	return no_such_thread(profile, wanted, err);
}

static int no_such_process(const struct profile *profile, const char *wanted, struct error *err)
{
	CLEANUP(text_done) struct text list = { 0 };
	size_t count = 0;

	for (uint32_t i = 1; i <= profile_process_count(profile) && count <= FILTER_NAMED_MAX;
	     i++) {
		const struct process *process =
			profile_get_process(profile, (struct process_id){ i });
		CLEANUP(freep)
		char *name =
			xasprintf("%s (%d)", process->name ? process->name : "?", process->pid);

		filter_add_name(&list, &count, name);
	}
	return error_set(err, -ENOENT,
			 "no process has the name or the pid \"%s\"; there are: %s (--by "
			 "process lists all)",
			 wanted, count > 0 ? text_string(&list) : "none");
}

static bool is_process(const struct process *process, const char *wanted)
{
	char pid[16];

	snprintf(pid, sizeof pid, "%d", process->pid);
	return strcmp(pid, wanted) == 0 ||
	       (process->name && strcmp(process->name, wanted) == 0);
}

int filter_choose_processes(const struct profile *profile, const char *wanted, bool **keeps,
			    struct text *description, struct error *err)
{
	const size_t threads = profile_thread_count(profile);
	const struct process *one = NULL;
	size_t count = 0;

	for (uint32_t i = 1; i <= profile_process_count(profile); i++) {
		const struct process *process =
			profile_get_process(profile, (struct process_id){ i });

		if (is_process(process, wanted)) {
			one = process;
			count++;
		}
	}
	if (count == 0)
		return no_such_process(profile, wanted, err);
	bool *kept = *keeps = xzalloc((threads + 1) * sizeof *kept);
	for (uint32_t i = 1; i <= threads; i++) {
		const struct process *process = profile_get_process(
			profile, profile_get_thread(profile, (struct thread_id){ i })->process);

		kept[i] = process && is_process(process, wanted);
	}
	text_add(description, count == 1 ? "process " : "processes ");
	if (one->name)
		text_add_printable(description, one->name, strlen(one->name));
	if (count == 1)
		text_addf(description, " (pid %d)", one->pid);
	return 0;
}
