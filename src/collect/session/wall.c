#include "collect/session/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/random.h"
#include "collect/processes/image.h"
#include "collect/session/owners.h"
#include "collect/session/state.h"
#include "collect/session/wall_internal.h"
#include "collect/events/sideband_event.h"
#include "record/writer.h"
#include "remote/stack.h"
#include "remote/task.h"

/* Threads whose schedstat is kept open. */
#define SCHED_OPEN_MOST 256
/*
 * From so many switches a second (out and in are two), in two windows in a row, their reports would
 * take 3 % of a processor from the program and as much for the recorder, and are switched off.
 */
#define DEAR_SWITCHES 30000
#define DEAR_WINDOWS  2
#define WINDOW_NS     (100 * NS_PER_MS)
/*
 * A program that switches too often to report it has its threads read at as many ticks as take 2 %
 * of a processor at 100 Hz, and as many times more as the rate is higher: the others are left out.
 */
#define REST_FACTOR  50
#define REST_TICK_NS (10 * NS_PER_MS)
/* How often waits that go on are put into rows. */
#define BOOK_NS (500 * NS_PER_MS)

int session_wall_fd(const struct session *session)
{
	return session->wall.is_on ? session->wall.timer_fd : -1;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

static int set_timer(struct session_wall *wall, uint64_t periods)
{
	const struct itimerspec at = { .it_value = timespec_of(wall_ticks_next(
					       &wall->ticks, periods, monotonic_ns())) };

	return timerfd_settime(wall->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

int session_wall_begin(struct session *session, struct error *err)
{
	struct session_wall *wall = &session->wall;
	const uint64_t tick_ns = perf_choose_period(session->options->rate_hz, 1);

	if (!session->options->is_wall)
		return 0;
	wall->tick_ns = wall->gap_ns = tick_ns;
	wall_ticks_begin(&wall->ticks, tick_ns, monotonic_ns(), random_drawn());
	wall->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (wall->timer_fd < 0 || set_timer(wall, 1) < 0)
		return error_errno(err, -errno, "cannot make the clock of wall time");
	wall_init(&wall->threads, &session->pump.rows.codes, session->start_ns);
	wall_reader_init(&wall->reader, &session->pump.rows, &wall->threads);
	session->pump.wall = session->pump.unsampled.wall = &wall->threads;
	wall->pass_ns = wall->owners.tick_ns = monotonic_ns();
	wall->is_coarse = session->sideband == NULL;
	wall->is_on = true;
	return 0;
}

void session_wall_close(struct session *session)
{
	struct session_wall *wall = &session->wall;

	if (!wall->is_on)
		return;
	close(wall->timer_fd);
	wall_reader_done(&wall->reader);
	session_owners_close(session);
	wall_done(&wall->threads);
	free(wall->listed);
	free(wall->touched);
	free(wall->ended);
	wall->is_on = false;
}

static void add_to(uint32_t **rows, size_t *count, size_t *capacity, uint32_t row)
{
	*rows = array_grow(*rows, *count, capacity, sizeof **rows);
	(*rows)[(*count)++] = row;
}

void session_wall_list(struct session_wall *wall, struct wall_thread *thread)
{
	if (thread->is_listed)
		return;
	thread->is_listed = true;
	add_to(&wall->listed, &wall->listed_count, &wall->listed_capacity, thread->row);
}

static void touch(struct session_wall *wall, struct wall_thread *thread, bool was_touched)
{
	if (thread->is_touched && !was_touched)
		add_to(&wall->touched, &wall->touched_count, &wall->touched_capacity,
		       thread->row);
	if (thread->place == WALL_WAITS)
		session_wall_list(wall, thread);
}

bool session_wall_read_sched(struct session_wall *wall, struct wall_thread *thread,
			     struct wall_sched *out_sched)
{
	const bool may_keep = thread->sched_fd >= 0 || wall->sched_open < SCHED_OPEN_MOST;
	int fd = thread->sched_fd;
	char path[64], text[96];

	if (fd < 0) {
		snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)thread->pid,
			 (int)thread->tid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return false;
	const ssize_t len = pread(fd, text, sizeof text - 1, 0);

	if (may_keep && thread->sched_fd < 0) {
		thread->sched_fd = fd;
		wall->sched_open++;
	} else if (!may_keep) {
		close(fd);
	}
	if (len <= 0)
		return false;
	text[len] = '\0';
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &out_sched->run_ns,
		      &out_sched->delay_ns, &out_sched->slices) == 3;
}

struct wall_thread *session_wall_add(struct session *session, const struct image *image,
				     const struct image_thread *known, enum wall_place place,
				     uint64_t time_ns)
{
	struct session_wall *wall = &session->wall;
	struct wall_thread *thread = wall_add(&wall->threads, image, known->row, known->tid);
	struct wall_sched sched = { 0 };

	if (thread == NULL)
		return NULL;
	wall_thread_begin(thread, place, time_ns);
	wall->thread_count++;
	if (wall->is_coarse) {
		session_wall_read_sched(wall, thread, &sched);
		/* A new thread's schedstat covers all of its life. */
		if (place == WALL_QUEUES)
			sched = (struct wall_sched){ 0 };
		wall_thread_begin_coarse(thread, &wall->threads.rows, &sched, time_ns);
	}
	touch(wall, thread, false);
	return thread;
}

static struct wall_thread *find_thread(const struct session *session, int pid, int tid)
{
	struct image *image = tree_find(&session->tree, pid);
	const struct image_thread *known = image != NULL ? image_find_thread(image, tid) : NULL;

	return known != NULL ? wall_find(&session->wall.threads, known->row) : NULL;
}

static void take_switch(struct session *session, const struct sideband_event *event)
{
	struct session_wall *wall = &session->wall;
	struct wall_thread *thread = find_thread(session, event->pid, event->tid);

	if (thread == NULL || (session->over_ns != 0 && event->time_ns > session->over_ns))
		return;
	const bool was_touched = thread->is_touched;

	wall->switches++;
	if (event->is_out)
		wall_thread_switch_out(thread, &wall->threads.rows, event->time_ns,
				       event->is_preempted);
	else
		wall_thread_switch_in(thread, &wall->threads.rows, event->time_ns);
	touch(wall, thread, was_touched);
}

void session_wall_end(struct session_wall *wall, struct wall_thread *thread, uint64_t time_ns)
{
	if (thread->end_ns != UINT64_MAX)
		return;
	wall_thread_end(thread, &wall->threads.rows, time_ns);
	add_to(&wall->ended, &wall->ended_count, &wall->ended_capacity, thread->row);
}

void session_wall_take(struct session *session, const struct sideband_event *event)
{
	struct session_wall *wall = &session->wall;
	struct wall_thread *thread;

	if (!wall->is_on)
		return;
	if (event->kind == SIDEBAND_SWITCH) {
		take_switch(session, event);
	} else if (event->kind == SIDEBAND_EXIT) {
		thread = find_thread(session, event->pid, event->tid);
		if (thread != NULL)
			session_wall_end(wall, thread, event->time_ns);
	} else if (event->kind == SIDEBAND_FORK ||
		   (event->kind == SIDEBAND_NAME && event->is_exec)) {
		struct image *image = tree_find(&session->tree, event->pid);
		const struct image_thread *known =
			image != NULL ? image_find_thread(image, event->tid) : NULL;

		thread = known != NULL ? wall_find(&wall->threads, known->row) : NULL;
		if (thread != NULL)
			wall_set_kind(&wall->threads, thread, image);
		else if (known != NULL && known->end_ns == UINT64_MAX)
			session_wall_add(session, image, known,
					 event->kind == SIDEBAND_FORK ? WALL_QUEUES : WALL_RUNS,
					 event->time_ns);
	}
}

static enum wall_place place_now(pid_t pid, pid_t tid)
{
	struct task_status status;

	return task_read_status(pid, tid, &status) == 0 && status.state != 'R' ? WALL_WAITS
									       : WALL_RUNS;
}

static void add_running(struct session *session, struct image *image, uint64_t time_ns)
{
	for (size_t i = 0; i < image->thread_count; i++) {
		const struct image_thread *known = &image->threads[i];
		struct wall_thread *thread;

		if (known->end_ns != UINT64_MAX ||
		    wall_find(&session->wall.threads, known->row) != NULL)
			continue;
		thread = session_wall_add(session, image, known,
					  place_now(image->pid, known->tid), time_ns);
		if (thread != NULL)
			thread->is_guessed = true;
	}
}

void session_wall_add_running(struct session *session)
{
	struct tree *tree = &session->tree;

	for (size_t i = 0; i < tree->count && session->wall.is_on; i++)
		add_running(session, tree->images[i], session->start_ns);
}

static void look_at_rate(struct session_wall *wall, uint64_t now_ns)
{
	const uint64_t ns = now_ns - wall->window_ns;

	if (wall->window_ns != 0 && ns < WINDOW_NS)
		return;
	if (wall->window_ns != 0 && (double)(wall->switches - wall->window_switches) * 1e9 >
					    (double)DEAR_SWITCHES * (double)ns)
		wall->dear_windows++;
	else
		wall->dear_windows = 0;
	wall->is_dear |= wall->dear_windows >= DEAR_WINDOWS;
	wall->window_ns = now_ns;
	wall->window_switches = wall->switches;
}

/* Leaves out the next ticks of a busy program, by what this one took of a processor. */
static void rest(struct session_wall *wall, uint64_t cpu_ns)
{
	const uint64_t ticks = cpu_ns * REST_FACTOR / REST_TICK_NS;

	if (ticks > 0)
		set_timer(wall, ticks);
}

static void book_all(struct session_wall *wall, uint64_t now_ns)
{
	uint64_t hi, lo, value;
	size_t cursor = 0;

	if (now_ns < wall->booked_ns + BOOK_NS)
		return;
	wall->booked_ns = now_ns;
	while (table_next(&wall->threads.by_row, &cursor, &hi, &lo, &value))
		wall_thread_book((void *)(uintptr_t)value, &wall->threads.rows, now_ns);
}

void session_wall_tick(struct session *session)
{
	struct session_wall *wall = &session->wall;
	const uint64_t cpu_ns = stack_clock_ns();
	uint64_t ticks = 0;

	if (!wall->is_on || read(wall->timer_fd, &ticks, sizeof ticks) != sizeof ticks ||
	    session->is_broken)
		return;
	set_timer(wall, 1);
	session_owners_look(session);
	if (wall->is_coarse)
		session_wall_tick_coarse(session);
	else
		session_wall_tick_exact(session);
	session_owners_tick(session);
	look_at_rate(wall, monotonic_ns());
	book_all(wall, monotonic_ns());
	if (wall->has_gone_coarse)
		rest(wall, stack_clock_ns() - cpu_ns);
}

void session_wall_go_coarse(struct session *session)
{
	struct session_wall *wall = &session->wall;
	uint64_t hi, lo, value;
	const uint64_t now_ns = monotonic_ns();
	size_t cursor = 0;

	if (!wall->is_on || wall->is_coarse)
		return;
	session_wall_settle(session);
	wall->is_coarse = wall->has_gone_coarse = true;
	wall->coarse_ns = now_ns;
	while (table_next(&wall->threads.by_row, &cursor, &hi, &lo, &value)) {
		struct wall_thread *thread = (void *)(uintptr_t)value;
		struct wall_sched sched;

		thread->is_listed = false;
		if (thread->end_ns != UINT64_MAX)
			continue;
		if (session_wall_read_sched(wall, thread, &sched))
			wall_thread_begin_coarse(thread, &wall->threads.rows, &sched, now_ns);
		else
			session_wall_end_missed(session, thread, now_ns);
	}
	wall->listed_count = 0;
}

static void close_thread(struct session_wall *wall, struct wall_thread *thread)
{
	wall->sched_open -= thread->sched_fd >= 0;
	wall_close(&wall->threads, thread);
}

void session_wall_round(struct session *session)
{
	struct session_wall *wall = &session->wall;
	size_t left = 0;

	for (size_t i = 0; i < wall->ended_count; i++) {
		struct wall_thread *thread = wall_find(&wall->threads, wall->ended[i]);

		/* All that it wrote before this round began has been read. */
		if (thread != NULL && thread->end_ns < session->pump.round_ns)
			close_thread(wall, thread);
		else if (thread != NULL)
			wall->ended[left++] = wall->ended[i];
	}
	wall->ended_count = left;
}

void session_wall_end_image(struct session *session, struct image *image)
{
	struct session_wall *wall = &session->wall;
	/*
	 * For a process that runs on, time here ends with the recording, however long leaving
	 * takes.
	 */
	const uint64_t over_ns = session->over_ns != 0 ? session->over_ns : monotonic_ns();
	const uint64_t end_ns = image->end_ns == UINT64_MAX ? over_ns : image->end_ns;

	if (!wall->is_on)
		return;
	if (wall->is_coarse)
		session_wall_end_unlisted(session, image, UINT64_MAX);
	for (size_t i = 0; i < image->thread_count; i++) {
		struct wall_thread *thread = wall_find(&wall->threads, image->threads[i].row);

		if (thread == NULL)
			continue;
		wall_thread_end(thread, &wall->threads.rows, end_ns);
		close_thread(wall, thread);
	}
	wall_reader_forget(&wall->reader, image);
}
