#include "load/build_processes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attach.h"
#include "base/memory.h"
#include "load/build_internal.h"
#include "load/cpu_account.h"
#include "load/whole_name.h"
#include "profile/profile.h"
#include "record/keys.h"
#include "record/reader.h"

struct loaded_thread {
	struct recording_thread row;
	bool is_of_attach; /* the thread that injected the agent, none of the program's */
};

struct loaded_process {
	struct recording_process row;
	uint64_t cpu_ns, unentered_ns; /* sums over its threads */
	size_t thread_count;
	uint32_t first_thread; /* the profile's; 0: none yet */
	const char *interpreter;
};

struct processes {
	struct profile *profile;
	struct error *err;
	struct intern strings;
	bool is_without_children;

	/* The recording's ids to the profile's. */
	struct table processes, *threads;
	struct loaded_process *process_rows;
	size_t process_count, process_capacity;
	struct table process_rows_by_id; /* to index + 1 */
	struct loaded_thread *thread_rows;
	size_t thread_count, thread_capacity;
};

static const char *keep_string(struct processes *it, const char *string)
{
	return intern_get(&it->strings, intern_string(&it->strings, string), NULL);
}

static int read_process(void *context, const struct recording_process *row)
{
	struct processes *it = context;
	struct loaded_process process = { .row = *row };

	process.row.name = keep_string(it, row->name && *row->name ? row->name : "?");
	process.row.unentered_reason = keep_string(it, row->unentered_reason);
	process.row.title = keep_string(it, row->title);
	process.row.exe = NULL;
	it->process_rows = array_grow(it->process_rows, it->process_count,
				      &it->process_capacity, sizeof *it->process_rows);
	it->process_rows[it->process_count++] = process;
	*table_at(&it->process_rows_by_id, 0, row->id, NULL) = it->process_count;
	return 0;
}

static struct loaded_process *process_of(struct processes *it, uint32_t id)
{
	uint32_t index = build_id_of(&it->process_rows_by_id, id);

	return index ? &it->process_rows[index - 1] : NULL;
}

/* A process may have several, of two languages or of one. */
static int read_interpreter(void *context, const struct recording_interpreter *row)
{
	struct processes *it = context;
	struct loaded_process *process = process_of(it, row->process);
	CLEANUP(freep) char *name = NULL, *list = NULL;

	if (!process)
		return build_damaged(it->err, "interpreter", row->id, "process", row->process);
	name = xasprintf("%s %s", language_name((enum language)row->language),
			 row->version ? row->version : "?");
	if (process->interpreter && strstr(process->interpreter, name))
		return 0;
	if (process->interpreter)
		list = xasprintf("%s, %s", process->interpreter, name);
	process->interpreter = keep_string(it, list ? list : name);
	return 0;
}

static int read_thread(void *context, const struct recording_thread *row)
{
	struct processes *it = context;
	struct loaded_thread thread = { .row = *row };
	struct loaded_process *process = process_of(it, row->process);

	if (!process)
		return build_damaged(it->err, "thread", row->id, "process", row->process);
	if (row->cpu_ns > 0)
		process->cpu_ns += (uint64_t)row->cpu_ns;
	if (row->unentered_ns > 0)
		process->unentered_ns += (uint64_t)row->unentered_ns;
	thread.is_of_attach = process->thread_count > 0 && row->name != NULL &&
			      strcmp(row->name, ATTACH_THREAD) == 0;
	process->thread_count += !thread.is_of_attach;
	thread.row.name =
		keep_string(it, row->name && *row->name ? row->name : process->row.name);
	it->thread_rows = array_grow(it->thread_rows, it->thread_count, &it->thread_capacity,
				     sizeof *it->thread_rows);
	it->thread_rows[it->thread_count++] = thread;
	return 0;
}

/*
 * Completes names that the kernel cut; a process without a title gets the whole name of others.
 */
static void make_names_whole(struct processes *it)
{
	struct whole_names names = { 0 };

	for (size_t i = 0; i < it->process_count; i++) {
		struct recording_process *row = &it->process_rows[i].row;
		const char *whole = whole_name_of(&it->strings, row->name, row->title);

		if (whole == NULL)
			continue;
		whole_names_add(&names, &it->strings, row->name, whole);
		row->name = whole;
	}
	for (size_t i = 0; i < it->process_count; i++) {
		struct recording_process *row = &it->process_rows[i].row;

		row->name = whole_names_find(&names, &it->strings, row->name);
	}
	whole_names_done(&names);
}

static void add_processes(struct processes *it)
{
	for (size_t i = 0; i < it->process_count; i++) {
		const struct loaded_process *process = &it->process_rows[i];
		struct process_id id = profile_add_process(
			it->profile,
			&(struct process){
				.pid = process->row.pid,
				.parent = { build_id_of(&it->processes, process->row.parent) },
				.name = process->row.name,
				.title = process->row.title,
				.cpu_ns = process->cpu_ns,
				.period_ns = process->row.period_ns > 0
						     ? (uint64_t)process->row.period_ns
						     : 0,
				.unentered_reason = process->row.unentered_reason,
				.is_too_brief = process->row.unentered_reason &&
						strcmp(process->row.unentered_reason,
						       RECORDING_TOO_BRIEF) == 0,
				.unentered_ns = process->unentered_ns,
				.interpreter = process->interpreter,
			});

		*table_at(&it->processes, 0, process->row.id, NULL) = id.n;
	}
}

static struct thread_id add_thread(struct processes *it, const struct recording_thread *row,
				   const struct loaded_process *process)
{
	return profile_add_thread(
		it->profile,
		&(struct thread){
			.process = { build_id_of(&it->processes, row->process) },
			.tid = row->tid,
			.name = row->name,
			/* The kernel's figure is the process's: it is a thread's where there is
			 * only one. */
			.cpu_ns = process->thread_count == 1 ? process->cpu_ns : 0,
		});
}

static void add_threads(struct processes *it)
{
	for (size_t i = 0; i < it->thread_count; i++) {
		const struct recording_thread *row = &it->thread_rows[i].row;
		struct loaded_process *process = process_of(it, row->process);
		struct cpu_account_process about = { process->row.name,
						     process->row.unentered_reason };
		struct thread_id id = { process->first_thread };

		if (!it->thread_rows[i].is_of_attach)
			id = add_thread(it, row, process);
		if (process->first_thread == 0)
			process->first_thread = id.n;
		if (!about.unentered_reason && it->is_without_children && row->unentered_ns > 0)
			about.unentered_reason = "--no-children";
		*table_at(it->threads, 0, row->id, NULL) = id.n;
		cpu_account_add_thread(it->profile, id, row, &about);
	}
}

static void processes_done(struct processes *it)
{
	intern_done(&it->strings);
	table_done(&it->processes);
	table_done(&it->process_rows_by_id);
	free(it->process_rows);
	free(it->thread_rows);
}

static int processes_read(struct processes *it, struct recording_reader *reader)
{
	int rc = recording_reader_each_process(reader, read_process, it, it->err);

	if (rc == 0)
		rc = recording_reader_each_interpreter(reader, read_interpreter, it, it->err);
	if (rc == 0)
		rc = recording_reader_each_thread(reader, read_thread, it, it->err);
	return rc;
}

int build_processes(struct recording_reader *reader, struct profile *profile,
		    struct table *threads, struct error *err)
{
	const char *children = recording_reader_get(reader, KEY_CHILDREN);
	struct processes it = { .profile = profile, .err = err, .threads = threads };

	it.is_without_children = children && strcmp(children, "0") == 0;
	const int rc = processes_read(&it, reader);

	if (rc == 0) {
		make_names_whole(&it);
		add_processes(&it);
		add_threads(&it);
	}
	processes_done(&it);
	return rc;
}
