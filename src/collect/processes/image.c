#include "collect/processes/image.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/events/copied_events.h"
#include "collect/events/cpu_meter.h"
#include "collect/processes/known_calls.h"
#include "collect/processes/mappings.h"
#include "record/writer.h"
#include "remote/followed.h"

/* Ended threads are forgotten once there are so many. */
#define ENDED_THREADS_KEPT 512
/* Threads of one image at a time; samples of others go to its first. */
#define MAX_THREADS 65536
/* kernel, include/linux/threads.h, PID_MAX_LIMIT */
#define MAX_TID (4U << 20)
/* A thread may be delayed so long between taking a sample's time and writing it. */
#define LATEST_SAMPLE_NS 1000000000ULL

struct image *image_new(pid_t pid)
{
	struct image *image = xzalloc(sizeof *image);

	image->pid = pid;
	image->pidfd = -1;
	image->uid = image->generating_uid = (uid_t)-1;
	image->end_ns = UINT64_MAX;
	return image;
}

void image_stop_sampling(struct image *image)
{
	short_threads_close(&image->short_threads);
	thread_events_close(&image->events);
}

uint64_t image_paused_ns(const struct image *image)
{
	const struct pause *pause = &image->pause;

	return pause->traced_ns + pause->unentered_ns + pause->exit_ns;
}

bool image_is_counted(const struct image *image)
{
	return image->events.count > 0 || image->trigger.clock_ns != 0;
}

uint64_t image_counted_ns(const struct image *image)
{
	const struct image_trigger *trigger = &image->trigger;
	const uint64_t paused_ns = image_paused_ns(image) - trigger->paused_ns;

	if (image->events.count > 0)
		return thread_events_read(&image->events);
	if (trigger->clock_ns <= trigger->clock_from_ns + paused_ns)
		return trigger->counted_ns;
	return trigger->counted_ns + trigger->clock_ns - trigger->clock_from_ns - paused_ns;
}

bool image_is_copied(const struct image *image)
{
	/*
	 * An exec that changed its rights has ended its events: nothing is reported any more.
	 */
	const bool is_watched =
		image->unwatched_since_ns == 0 && (!image->has_program || image->exe != NULL);

	return image->copied != NULL && image->state != IMAGE_ENTERED &&
	       (is_watched || image->samples > 0);
}

void image_read_clock(struct image *image)
{
	if (image->trigger.state != IMAGE_TRIGGER_CHANGED || image->pidfd < 0)
		return;
	const uint64_t now_ns = cpu_meter_process_ns(image->pid);

	/* The pid may already be another process's. */
	if (now_ns > image->trigger.clock_ns &&
	    syscall(SYS_pidfd_send_signal, image->pidfd, 0, NULL, 0) == 0)
		image->trigger.clock_ns = now_ns;
}

void image_free(struct image *image)
{
	if (image == NULL)
		return;
	image_stop_sampling(image);
	cpu_meter_end(&image->pause.meter);
	thread_events_close(&image->counters.events);
	thread_events_close(&image->next_counters.events);
	copied_events_release(image->copied);
	copied_events_release(image->next_copied);
	followed_free(image->followed);
	if (image->pidfd >= 0)
		close(image->pidfd);
	known_calls_free(image->calls);
	if (image->ring != NULL)
		munmap(image->ring, image->ring_bytes);
	free(image->threads);
	table_done(&image->thread_index);
	mappings_free(image->mappings);
	free(image->exe);
	free(image->title.text);
	free(image->own_reason);
	free(image);
}

void image_mark(struct image *image, uint64_t ring_mark)
{
	struct pollfd ended = { .fd = image->pidfd, .events = POLLIN };

	image->ring_mark = ring_mark;
	image->was_gone_before =
		image->is_gone || (image->pidfd >= 0 && poll(&ended, 1, 0) == 1);
}

struct image_thread *image_find_thread(struct image *image, int tid)
{
	uint64_t place;

	if (!table_get(&image->thread_index, 0, (uint32_t)tid, &place))
		return NULL;
	return &image->threads[place - 1];
}

void image_thread_name(struct image *image, struct image_thread *thread, const char *name,
		       size_t len)
{
	if (len > RING_THREAD_NAME_MAX) {
		len = RING_THREAD_NAME_MAX;
		while (len > 0 && ((uint8_t)name[len] & 0xc0) == 0x80)
			len--;
	}
	thread->is_named_by_program = true;
	if (strlen(thread->name) == len && memcmp(thread->name, name, len) == 0)
		return;
	memcpy(thread->name, name, len);
	thread->name[len] = '\0';
	thread->has_new_name = image->has_new_names = true;
}

void image_thread_kernel_name(struct image *image, struct image_thread *thread,
			      const char *name)
{
	if (thread->is_named_by_program || *name == '\0' || strcmp(thread->name, name) == 0)
		return;
	snprintf(thread->name, sizeof thread->name, "%s", name);
	thread->has_new_name = image->has_new_names = true;
}

void image_forget_tid(struct image *image, int tid)
{
	table_remove(&image->thread_index, 0, (uint32_t)tid);
}

static int64_t since(uint64_t time_ns, uint64_t start_ns)
{
	if (time_ns == UINT64_MAX)
		return RECORDING_UNKNOWN;
	return time_ns > start_ns ? (int64_t)(time_ns - start_ns) : 0;
}

const char *image_program(const struct image *image)
{
	const struct module_place *first = NULL;

	/* The kernel maps the program before its loader (fs/binfmt_elf.c). */
	if (image->has_program && image->mappings != NULL)
		first = mappings_at(image->mappings, 0);
	return first != NULL && first->has_file ? first->path : NULL;
}

struct recording_thread image_thread_row(const struct image *image,
					 const struct image_thread *thread,
					 uint64_t session_start_ns)
{
	const uint64_t end_ns = thread->end_ns == UINT64_MAX ? image->end_ns : thread->end_ns;

	return (struct recording_thread){
		.id = thread->row,
		.process = image->row,
		.tid = thread->tid,
		.name = thread->name,
		.start_ns = since(thread->start_ns, session_start_ns),
		.end_ns = since(end_ns, session_start_ns),
		.cpu_ns = RECORDING_UNKNOWN,
		.startup_ns = RECORDING_UNKNOWN,
		.exit_ns = RECORDING_UNKNOWN,
		.unentered_ns = RECORDING_UNKNOWN,
		.kernel_unsampled_ns = RECORDING_UNKNOWN,
		.traced_ns = RECORDING_UNKNOWN,
	};
}

/*
 * A preliminary row, for readers while the recording is written; completed at the thread's end.
 */
static struct recording_thread row_of_living(const struct image *image,
					     const struct image_thread *thread)
{
	struct recording_thread row = image_thread_row(image, thread, 0);

	row.start_ns = row.end_ns = RECORDING_UNKNOWN;
	return row;
}

static void store_names(struct image *image, struct recording_writer *writer)
{
	for (size_t i = 0; image->has_new_names && i < image->thread_count; i++) {
		struct image_thread *thread = &image->threads[i];
		const struct recording_thread row = row_of_living(image, thread);

		if (thread->has_new_name)
			recording_writer_update_thread(writer, &row);
		thread->has_new_name = false;
	}
	image->has_new_names = false;
}

struct image_thread *image_thread_at(struct image *image, int tid, uint64_t time_ns,
				     struct recording_writer *writer)
{
	bool is_new;
	uint64_t *place = table_at(&image->thread_index, 0, (uint32_t)tid, &is_new);

	if (!is_new)
		return &image->threads[*place - 1];
	image->threads = array_grow(image->threads, image->thread_count,
				    &image->thread_capacity, sizeof *image->threads);
	struct image_thread *thread = &image->threads[image->thread_count++];

	*place = image->thread_count;
	image->threads_seen++;
	*thread =
		(struct image_thread){ .tid = tid, .start_ns = time_ns, .end_ns = UINT64_MAX };
	memcpy(thread->name, image->name, sizeof image->name);
	const struct recording_thread row = row_of_living(image, thread);

	recording_writer_add_thread(writer, &row, &thread->row);
	return thread;
}

struct image_thread *image_thread_claimed(struct image *image, uint32_t tid, uint64_t time_ns,
					  struct recording_writer *writer)
{
	const bool is_crowded = image->thread_count - image->ended_threads >= MAX_THREADS;

	if (tid > MAX_TID)
		image->trust.doubtful++;
	/* 0: a filter of system calls kept the thread from asking for its tid. */
	if (tid == 0 || tid > MAX_TID)
		tid = (uint32_t)image->pid;
	if (is_crowded && image_find_thread(image, (int)tid) == NULL)
		return &image->threads[0];
	return image_thread_at(image, (int)tid, time_ns, writer);
}

static void image_forget_thread(struct image *image, size_t i)
{
	const size_t last = image->thread_count - 1;
	uint64_t *place = table_find(&image->thread_index, 0, (uint32_t)image->threads[i].tid);

	/* The tid may already be another thread's. */
	if (place != NULL && *place == i + 1)
		table_remove(&image->thread_index, 0, (uint32_t)image->threads[i].tid);
	place = table_find(&image->thread_index, 0, (uint32_t)image->threads[last].tid);
	if (place != NULL && *place == last + 1)
		*place = i + 1;
	if (__builtin_add_overflow(image->forgotten_covered_ns, image->threads[i].covered_ns,
				   &image->forgotten_covered_ns))
		image->forgotten_covered_ns = UINT64_MAX;
	image->forgotten_left_out_ns += image->threads[i].left_out_ns;
	image->threads[i] = image->threads[last];
	image->thread_count--;
	image->ended_threads--;
}

void image_forget_past(struct image *image, uint64_t before_ns, uint64_t session_start_ns,
		       struct recording_writer *writer)
{
	store_names(image, writer);
	if (image->mappings != NULL && before_ns > LATEST_SAMPLE_NS)
		mappings_forget(image->mappings, before_ns - LATEST_SAMPLE_NS);
	if (image->ended_threads < ENDED_THREADS_KEPT)
		return;
	/* The first is kept: its row has the image's figures. */
	for (size_t i = image->thread_count; i-- > 1;) {
		if (image->threads[i].end_ns >= before_ns)
			continue;
		const struct recording_thread row =
			image_thread_row(image, &image->threads[i], session_start_ns);

		recording_writer_update_thread(writer, &row);
		image_forget_thread(image, i);
	}
}

void image_write(struct image *image, uint64_t session_start_ns,
		 struct recording_writer *writer)
{
	const struct recording_process process = {
		.id = image->row,
		.parent = image->parent_row,
		.pid = image->pid,
		.name = image->name,
		.exe = image->exe,
		.start_ns = since(image->start_ns, session_start_ns),
		.end_ns = since(image->end_ns, session_start_ns),
		.period_ns =
			image->period_ns != 0 ? (int64_t)image->period_ns : RECORDING_UNKNOWN,
		.unentered_reason = image->unentered_reason,
		.exit_status = -1,
		.title = image->title.text,
	};

	recording_writer_update_process(writer, &process);
}
