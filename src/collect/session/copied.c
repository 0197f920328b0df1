/*
 * session_copied - samples processes by copied stacks (copied_events.h): those without an
 * agent, or all, if nothing is to be put into the program.
 *
 * Samples and the sideband's events are taken in the order of their times, so that each sample
 * finds its process as it was then.  It is unwound at once and written to the recording like an
 * agent's; the copy itself is not kept.
 */
#include "collect/session/state.h"

#include <linux/perf_event.h>
#include <string.h>

#include "abi/walk_status.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "collect/events/copied_format.h"
#include "collect/events/cpu_meter.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/samples/unsampled.h"
#include "collect/session/options.h"
#include "record/writer.h"
#include "remote/followed.h"

/*
 * While stacks are deeper than their copies, up to DEEPER_FOR_NS after the last one, samples
 * are taken this often: the later the rest is read, the more stacks have changed and are cut.
 */
#define DEEPER_WAIT_MS 4
#define DEEPER_FOR_NS  (200 * NS_PER_MS)

int session_copied_open(struct session *session, struct error *err)
{
	struct session_copied *copied = &session->copied;

	if (copied->is_open)
		return 0;
	const int rc = copied_rings_open(&copied->rings, err);

	if (rc < 0)
		return rc;
	copied->is_open = true;
	copied->terms = (struct copied_terms){
		.period_ns = perf_choose_period(session->options->rate_hz, 0),
		.is_user_mode_only = !session->ability.can_see_kernel,
	};
	unwind_files_init(&copied->files);
	return 0;
}

void session_copied_close(struct session *session)
{
	struct session_copied *copied = &session->copied;

	if (!copied->is_open)
		return;
	copied->is_open = false;
	copied_events_release(copied->command);
	copied_rings_close(&copied->rings);
	unwind_files_done(&copied->files);
	stack_done(&copied->stack);
	kernel_frames_done(&copied->kernel);
}

int session_copied_fd(const struct session *session)
{
	return session->copied.is_open ? session->copied.rings.poll_fd : -1;
}

int session_copied_wait_ms(const struct session *session, int wait_ms)
{
	const uint64_t deeper_ns = session->copied.deeper_ns;

	if (!session->copied.is_open || deeper_ns == 0 ||
	    monotonic_ns() > deeper_ns + DEEPER_FOR_NS)
		return wait_ms;
	return wait_ms < DEEPER_WAIT_MS ? wait_ms : DEEPER_WAIT_MS;
}

static void follow_place(struct followed *followed, const struct module_place *place)
{
	const char *path = place->path;

	if (path == NULL && place->has_file)
		path = "[vdso]";
	followed_map(followed, &(struct followed_mapping){
				       .start = place->start,
				       .end = place->end,
				       .file_offset = place->file_offset,
				       .path = path,
				       .build_id = place->build_id,
				       .build_id_len = place->build_id_len,
			       });
}

/* Made at the first sample: most processes map much and are never sampled. */
static struct followed *followed_of(struct session *session, struct image *image)
{
	const struct module_place *place;

	if (image->followed != NULL)
		return image->followed;
	image->followed = followed_new(image->pid, &session->copied.files);
	for (size_t i = 0; (place = mappings_at(image->mappings, i)) != NULL; i++)
		if (place->to_ns == UINT64_MAX)
			follow_place(image->followed, place);
	return image->followed;
}

void session_copied_map(struct image *image, const struct module_place *place)
{
	if (image->followed != NULL)
		follow_place(image->followed, place);
}

/* Unwinds a sample's stack: its row, and why it ended. */
static uint32_t unwind(struct session *session, struct image *image,
		       const struct copied_sample *sample, uint32_t *out_ending)
{
	const uint32_t era = mappings_era(image->mappings, sample->time_ns);
	struct remote_stack *stack = &session->copied.stack;
	uint32_t row = 0;

	stack_clear(stack);
	if (!sample->has_copy) {
		*out_ending = WALK_NO_STACK;
	} else {
		if (followed_walk(followed_of(session, image), &sample->copy, stack))
			session->copied.deeper_ns = monotonic_ns();
		*out_ending = stack->ending;
	}
	for (size_t i = stack->count; i-- > 0;)
		row = stack_rows_add_address(&session->pump.rows, image, row,
					     stack->frames[i].address, era);
	return kernel_frames_add(&session->copied.kernel, &session->pump, row, sample->kernel,
				 sample->kernel_count);
}

/* Whether the thread has two events (its creator's, too), and this is of the later. */
static bool is_double(const struct image *image, struct image_thread *thread,
		      const struct copied_sample *sample)
{
	const uint32_t turn = copied_events_turn(image->copied, sample->event);

	if (thread->copied_turn != 0 && turn > thread->copied_turn)
		return true;
	thread->copied_turn = turn;
	return false;
}

static void write_sample(struct session *session, struct image *image,
			 struct image_thread *thread, const struct copied_sample *sample)
{
	const uint64_t period_ns = session->copied.terms.period_ns;
	struct pump *pump = &session->pump;
	uint32_t ending = WALK_NO_STACK;

	if (!recording_writer_has_room(session->writer)) {
		pump->unsampled.left_out++;
		thread->left_out_ns += period_ns;
		return;
	}
	unsampled_add_left_out(&pump->unsampled, image, thread, sample->time_ns);
	const uint32_t stack = unwind(session, image, sample, &ending);

	session->copied.images += image->samples == 0;
	image->samples++;
	image->sampled_ns += period_ns;
	image->period_ns = period_ns;
	pump->samples++;
	recording_writer_add_sample(
		session->writer,
		&(struct recording_sample){
			.time_ns = sample->time_ns > session->start_ns
					   ? (int64_t)(sample->time_ns - session->start_ns)
					   : 0,
			.thread = thread->row,
			.stack = stack,
			.ending = ending,
			.weight_ns = (int64_t)wall_claim(pump->wall, thread->row, period_ns),
		});
}

/*
 * As root, a set-user-ID program is sampled, but the kernel has taken away the events that report
 * what it maps (begin_new_exec()).
 */
static void find_mappings(struct session *session, struct image *image, uint64_t time_ns)
{
	if (mappings_at(image->mappings, 0) == NULL)
		image->lacks_sideband = true;
	if (image->lacks_sideband)
		session_maps_changed(session, image, time_ns);
}

static void take_sample(struct session *session, const struct perf_event_header *record)
{
	struct copied_sample sample;

	if (!copied_sample_parse(record, !session->copied.terms.is_user_mode_only, &sample))
		return;
	struct image *image = tree_find(&session->tree, sample.pid);

	/* If an agent has come after all, only its samples count. */
	if (image == NULL || image->copied == NULL || image->mappings == NULL ||
	    image->state == IMAGE_ENTERED || session->is_broken)
		return;
	find_mappings(session, image, sample.time_ns);
	struct image_thread *thread = image_thread_claimed(image, (uint32_t)sample.tid,
							   sample.time_ns, session->writer);

	if (!is_double(image, thread, &sample))
		write_sample(session, image, thread, &sample);
}

static void take_lost(struct session_copied *copied, const struct perf_event_header *record)
{
	uint64_t lost[2];

	if (record->size < sizeof *record + sizeof lost)
		return;
	memcpy(lost, record + 1, sizeof lost);
	copied->lost += lost[1];
}

void session_copied_take(struct session *session, uint64_t until_ns)
{
	struct session_copied *copied = &session->copied;

	for (size_t i = 0; copied->is_open && i < copied->rings.count; i++) {
		struct perf_ring *ring = &copied->rings.rings[i];
		const struct perf_event_header *record;

		if (ring->page == NULL)
			continue;
		const uint64_t head = perf_ring_head(ring);
		const unsigned int used = perf_ring_used(ring, head);

		copied->fullest = used > copied->fullest ? used : copied->fullest;
		while ((record = perf_ring_peek(ring, head)) != NULL &&
		       copied_record_time(record) < until_ns) {
			if (record->type == PERF_RECORD_SAMPLE)
				take_sample(session, record);
			else if (record->type == PERF_RECORD_LOST)
				take_lost(copied, record);
			perf_ring_pass(ring, record);
		}
	}
}

int session_copied_prepare(struct session *session, pid_t pid, struct error *err)
{
	const struct session_options *options = session->options;
	struct session_copied *copied = &session->copied;
	struct perf_ability ability = session->ability;
	int rc = copied_events_judge(pid, options->clock == CLOCK_KIND_USER, &ability);

	if (rc < 0)
		return error_set(err, rc, "cannot copy stacks: %s", ability.why);
	session->ability = ability;
	rc = session_copied_open(session, err);
	if (rc < 0)
		return rc;
	rc = copied_events_open(&copied->rings, &copied->terms, pid,
				options->no_children ? COPIED_THREADS_FROM_EXEC
						     : COPIED_FROM_EXEC,
				&copied->command);
	copied->command_ns = cpu_meter_process_ns(pid);
	return rc < 0 ? error_errno(err, rc, "cannot copy stacks of pid %d", (int)pid) : 0;
}

void session_copied_give_command(struct session *session)
{
	struct image *image = tree_find(&session->tree, session->command.pid);

	if (image == NULL || session->copied.command == NULL)
		return;
	image->copied = session->copied.command;
	image->copied_from_ns = session->copied.command_ns;
	session->copied.command = NULL;
}

void session_copied_note(struct session *session)
{
	if (session->copied.lost > 0)
		recording_writer_add_lost(session->writer,
					  "the ring between kernel and recorder was full",
					  session->copied.lost);
	session->copied.lost = 0;
}
