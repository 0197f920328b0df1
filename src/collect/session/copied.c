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
#include <sys/sysinfo.h>

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
#include "target/program.h"

/*
 * A program that is about to run waits while its events are opened, 15 us for each CPU: on a larger
 * machine they are opened while it runs.
 */
#define EXPECT_CPUS_MOST 16

/*
 * While stacks are deeper than their copies, up to DEEPER_FOR_NS after the last one, samples
 * are taken this often: the later the rest is read, the more stacks have changed and are cut.
 */
#define DEEPER_WAIT_MS 4
#define DEEPER_FOR_NS  (200 * NS_PER_MS)

/* How long an agent may take until its handshake. */
#define UNHEARD_NS (100 * NS_PER_MS)

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

int session_copied_begin(struct session *session, struct image *image, bool with_children)
{
	struct copied_events *events;
	const int rc = copied_events_open(
		&session->copied.rings, &session->copied.terms, image->pid,
		with_children ? COPIED_DESCENDANTS : COPIED_THREADS, &events);

	if (rc < 0)
		return rc;
	copied_events_release(image->copied);
	image->copied = events;
	image->copied_from_ns = cpu_meter_process_ns(image->pid);
	return 0;
}

/* Whether processes without an agent may be sampled: only if children are. */
static bool may_copy(const struct session *session)
{
	const struct session_options *options = session->options;

	return session->sideband != NULL && session->ability.can_count && !options->is_trace &&
	       !options->no_children && !options->is_paused && !session->is_broken &&
	       (options->trigger == TRIGGER_AUTO || options->trigger == TRIGGER_COPIED);
}

void session_copied_expect(struct session *session, struct image *image)
{
	struct error err;

	copied_events_release(image->next_copied);
	image->next_copied = NULL;
	if (may_copy(session) && get_nprocs_conf() <= EXPECT_CPUS_MOST &&
	    session_copied_open(session, &err) == 0)
		copied_events_open(&session->copied.rings, &session->copied.terms, image->pid,
				   COPIED_FROM_EXEC, &image->next_copied);
}

/*
 * Whether no agent will come, because of the program's kind or its location.  Its children
 * inherit its copied events.
 */
static bool is_without_agent(const struct image *image)
{
	CLEANUP(freep) struct target_program *program = NULL;

	if (image->is_recorded)
		return false;
	if (image->why_out_of_reach != NULL)
		return true;
	if (image->exe == NULL)
		return false;
	program = xzalloc(sizeof *program);
	target_program_judge(image->exe, NULL, program);
	return program_has_no_agent(program->kind);
}

/* Whether the agent of an attached process's forked child did not reach us in time. */
static bool is_unheard(const struct session *session, const struct image *image)
{
	return session->options->argv == NULL &&
	       session->pump.round_ns > image->start_ns + UNHEARD_NS;
}

void session_copied_leave(struct image *image)
{
	if (image->copied == NULL)
		return;
	copied_events_release(image->copied);
	image->copied = NULL;
	/* Its interpreters were added without layouts: they are added again for the agent. */
	image->interpreter_count = 0;
}

void session_copied_look(struct session *session, struct image *image)
{
	const bool has_new_rights = image->copied != NULL && image->unwatched_since_ns != 0;
	const bool is_preloaded = session->options->argv != NULL;
	struct error err;

	if (image->is_copied_judged == 1 + has_new_rights || image->is_gone ||
	    (!image->has_program && !is_unheard(session, image)) || !may_copy(session) ||
	    (image->copied != NULL && !has_new_rights))
		return;
	image->is_copied_judged = 1 + has_new_rights;
	if ((has_new_rights || !is_preloaded || is_without_agent(image)) &&
	    session_copied_open(session, &err) == 0)
		session_copied_begin(session, image,
				     is_preloaded || session->options->with_children);
}

void session_copied_note(struct session *session)
{
	if (session->copied.lost > 0)
		recording_writer_add_lost(session->writer,
					  "the ring between kernel and recorder was full",
					  session->copied.lost);
	session->copied.lost = 0;
}
