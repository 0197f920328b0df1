#include "collect/events/thread_events.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/events/perf_events.h"
#include "collect/system/thread_scan.h"

/*
 * Hard links of /proc/PID/task with one thread: each thread adds one (fs/proc/base.c,
 * proc_task_getattr).
 */
#define LINKS_OF_ONE_THREAD 3

/* Opens the event of one thread; none for a thread that has ended meanwhile. */
static int open_on_thread(struct thread_events *events, pid_t tid,
			  int (*open_on)(void *context, pid_t tid), void *context)
{
	const int fd = open_on(context, tid);

	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	events->fds =
		array_grow(events->fds, events->count, &events->capacity, sizeof *events->fds);
	events->fds[events->count++] = fd;
	return 0;
}

static int open_all(struct thread_events *events, DIR *tasks,
		    int (*open_on)(void *context, pid_t tid), void *context)
{
	const struct dirent *entry;
	int rc = 0;

	while (rc == 0 && (entry = readdir(tasks)) != NULL) {
		const pid_t tid = atoi(entry->d_name);

		if (tid > 0)
			rc = open_on_thread(events, tid, open_on, context);
	}
	return rc;
}

int thread_events_open(struct thread_events *events, pid_t pid,
		       int (*open_on)(void *context, pid_t tid), void *context)
{
	char path[64];
	struct stat about;
	int rc;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	if (stat(path, &about) < 0)
		return -errno;
	if (about.st_nlink == LINKS_OF_ONE_THREAD) {
		rc = open_on_thread(events, pid, open_on, context);
	} else {
		DIR *tasks = opendir(path);

		if (tasks == NULL)
			return -errno;
		rc = open_all(events, tasks, open_on, context);
		closedir(tasks);
	}
	if (rc == 0 && events->count == 0)
		rc = -ESRCH;
	if (rc < 0)
		thread_events_close(events);
	return rc;
}

struct opening_all {
	struct thread_events *events;
	int (*open_on)(void *context, pid_t tid);
	void *context;
};

static int open_one(void *context, pid_t tid)
{
	struct opening_all *all = context;
	struct thread_events *events = all->events;
	const int fd = all->open_on(all->context, tid);

	if (fd < 0)
		return fd;
	events->fds =
		array_grow(events->fds, events->count, &events->capacity, sizeof *events->fds);
	events->fds[events->count++] = fd;
	return 0;
}

int thread_events_open_all(struct thread_events *events, pid_t pid,
			   int (*open_on)(void *context, pid_t tid), void *context)
{
	struct opening_all all = { events, open_on, context };
	const int rc = thread_scan(pid, open_one, &all);

	if (rc < 0)
		thread_events_close(events);
	return rc < 0 ? rc : 0;
}

void thread_events_close(struct thread_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		close(events->fds[i]);
	free(events->fds);
	*events = (struct thread_events){ 0 };
}

uint64_t thread_events_read(const struct thread_events *events)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < events->count; i++)
		ns += perf_read_counter(events->fds[i]);
	return ns;
}

bool thread_events_add_rungs(struct thread_events *events, unsigned int rungs,
			     int (*open_on)(void *context, unsigned int rung), void *context)
{
	if (events->count != 1)
		return false;
	for (unsigned int rung = 1; rung < rungs; rung++) {
		const int fd = open_on(context, rung);

		if (fd < 0) {
			while (events->count > 1)
				close(events->fds[--events->count]);
			return false;
		}
		events->fds = array_grow(events->fds, events->count, &events->capacity,
					 sizeof *events->fds);
		events->fds[events->count++] = fd;
	}
	events->rungs = rungs;
	return true;
}

void thread_events_step(struct thread_events *events, unsigned int rung, bool are_off)
{
	if (rung >= events->rungs || rung == events->rung)
		return;
	if (!are_off) {
		ioctl(events->fds[events->rung], PERF_EVENT_IOC_DISABLE, 0);
		ioctl(events->fds[rung], PERF_EVENT_IOC_ENABLE, 0);
	}
	events->rung = rung;
}

void thread_events_switch(const struct thread_events *events, int is_on)
{
	if (is_on && events->rungs > 0) {
		ioctl(events->fds[events->rung], PERF_EVENT_IOC_ENABLE, 0);
		return;
	}
	for (size_t i = 0; i < events->count; i++)
		ioctl(events->fds[i], is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
		      0);
}
