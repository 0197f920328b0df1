/*
 * session_round - a round of the session's clock: marks how far each ring is written; takes
 * what the kernel has reported up to now; then moves the marked records, whose mappings are
 * known by then.
 */
#include "collect/session/state.h"

#include "abi/ticks.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "collect/processes/exit_status.h"
#include "collect/processes/generated_code.h"
#include "collect/agents/handshake_server.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/samples/unsampled.h"
#include "collect/events/perf_events.h"
#include "collect/processes/ring_view.h"
#include "collect/session/session.h"
#include "collect/session/attach.h"
#include "collect/session/options.h"
#include "collect/session/wall.h"
#include "collect/events/sideband.h"
#include "collect/processes/storms.h"
#include "collect/session/facts.h"
#include "collect/calls/tree_reader.h"
#include "collect/processes/known_calls.h"
#include "collect/calls/limit.h"
#include "collect/agents/unentered.h"
#include "record/keys.h"
#include "record/writer.h"

/* A process with less CPU time and no sample was brief. */
#define BRIEF_PERIODS 2
#define YOUNG_NS      (20 * NS_PER_MS)
/* How often calls are read. */
#define CALLS_READ_NS (500 * NS_PER_MS)
/* How often their cost is checked, with a budget. */
#define LIMIT_LOOK_NS (80 * NS_PER_MS)

static struct call_tree_reader_terms session_call_terms(const struct session *session)
{
	return (struct call_tree_reader_terms){
		.start_ns = session->start_ns,
		.start_ticks = session->start_ticks,
		.has_sideband = session->tree.has_sideband,
	};
}

static void session_note_nonsense(struct session *session, const struct image *image)
{
	if (!image->trust.is_lost && image->trust.doubtful == 0)
		return;
	if (session->nonsensical++ < MAX_NONSENSE_NOTES)
		session_facts_note_nonsense(session->writer, image);
}

static void session_end_trace(struct session *session, struct image *image)
{
	const struct call_tree_reader_terms terms = session_call_terms(session);

	if (image->calls == NULL)
		return;
	call_tree_reader_read(image, &session->pump, &terms, true);
	call_tree_reader_note(image, &session->pump);
	trace_limit_end(image, session->options->overhead, monotonic_ns(), session->writer);
	session->throttled_ns += image->calls->limit.throttled_ns;
	session->traced_life_ns += monotonic_ns() - image->start_ns;
	session->calls += image->calls->calls;
}

/*
 * CPU time when the events of an injected agent were opened.  Its own figure subtracts too
 * much: the cost of switches from before there were events.
 */
static uint64_t image_attached_at_ns(const struct image *image)
{
	return image->opened_cpu_ns != 0 ? image->opened_cpu_ns : image->cpu_before_ns;
}

/* Takes an agent's last figures, from the ring's header and the trace area. */
static void session_end_agent(struct session *session, struct image *image)
{
	/* A trace has no account, so CPU time of an earlier image of the process is unknown. */
	if (!image->trust.is_lost && image->calls == NULL)
		image->start_cpu_ns = image->is_attached ? image_attached_at_ns(image)
							 : ring_view_start_cpu_ns(image);
	session_end_trace(session, image);
	if (!image->trust.is_lost) {
		const struct ring_costs costs = ring_view_costs(image);

		session_switches_end(session, image);
		session_overhead_end(session, image);
		sampling_cost_add(&session->cost, &costs,
				  session_switches_timer_samples(image, &costs));
		interpreters_note(&session->interpreters, image);
	}
	session_note_nonsense(session, image);
}

/* Whether its parent may have had the image's agent delay the handshake. */
static bool session_delays_handshake(const struct session *session, const struct image *image)
{
	const struct image *parent = tree_find(&session->tree, image->parent_pid);

	return image->delays_handshake || (parent != NULL && parent->has_had_storms);
}

/* Whether it was brief, as other children of its parent may be: storms.h. */
static void session_judge_child(struct session *session, struct image *image)
{
	struct image *parent = tree_find(&session->tree, image->parent_pid);
	const bool is_entered = image->state == IMAGE_ENTERED;
	const uint64_t burned_ns = is_entered ? image->cpu_ns : image->ended_ns;

	if (parent == NULL)
		return;
	/* Without agent and counters its CPU time is unknown. */
	if (!is_entered && (image->is_end_unknown || burned_ns == 0))
		return;
	image->is_brief =
		image->samples == 0 &&
		burned_ns < BRIEF_PERIODS * perf_choose_period(session->options->rate_hz, 0);
	if (!image->is_brief || image->has_long_below)
		parent->has_long_below = true;
	if (parent->ring != NULL)
		storms_take_child(session->storms, parent, image);
}

void session_image_ended(void *context, struct image *image)
{
	struct session *session = context;

	if (image->ring != NULL) {
		image->maps_interval = (struct maps_interval){ 0 };
		pump_image(&session->pump, image, pump_mark(image), image->is_ended);
		session_end_agent(session, image);
	}
	/* Without perf events: the only image's figure is that of wait(2). */
	if (!session->ability.can_count && session->is_reaped && session->tree.serial == 1)
		image->rusage_ns = account_children_ns(session->account_terms.is_user_clock);
	if (image->state == IMAGE_STARTING && image->unentered_reason == NULL &&
	    !image_is_copied(image)) {
		image->delays_handshake = session_delays_handshake(session, image);
		image->unentered_reason = session_facts_why_unentered(
			image, handshake_server_why_unanswered(session->server, image->pid,
							       image->start_ns));
		/* A trace has no row of its time, which would show the reason. */
		if (session->options->is_trace && image->has_program &&
		    session->untraced++ < MAX_UNTRACED_NOTES)
			session_facts_note_untraced(session->writer, image->name, image->pid,
						    image->unentered_reason);
	}
	/* An injected agent reports the whole cost of its start. */
	if (!image->is_attached && (image->state == IMAGE_ENTERED || image->delays_handshake))
		sampling_cost_add_start(&session->cost, image->has_program);
	unsampled_end_left_out(&session->pump.unsampled, image);
	session_wall_end_image(session, image);
	account_close(image, &session->account_terms, session->writer);
	session_switches_account(session, image);
	unsampled_add_rest(&session->pump.unsampled, image);
	storms_end(session->storms, image->storm, image);
	if (image->is_ended && session->tree.last_ended_cpu_ns == NULL)
		session_judge_child(session, image);
	session->uncounted_ns += image->uncounted_ns;
	session->booked_ns += image->booked_ns;
	if (image->cpu_ns > image->cpu_before_ns)
		session->attached_ns += image->cpu_ns - image->cpu_before_ns;
	session->births += image->booked_ns > 0 && image->cpu_before_ns == 0;
	session->off_ns += image->off_ns;
	generated_code_copy(&session->generated, session->writer, image);
	if (image->ring != NULL)
		debugger_note(session->writer, image);
	const bool is_command = image->pid == session->command.pid;

	exit_status_note(session->writer, image,
			 is_command && session->is_reaped ? session->result->wait_status : -1,
			 is_command);
}

/* Reads changed mappings; in a later round if they were read a moment ago. */
static void session_read_maps(struct session *session, struct image *image)
{
	const uint64_t began_ns = monotonic_ns();
	uint64_t changed_ns;

	if (!maps_interval_begin(&image->maps_interval, session->pump.round_ns, began_ns,
				 &changed_ns))
		return;
	tree_read_maps(&session->tree, image, changed_ns);
	maps_interval_end(&image->maps_interval, began_ns, monotonic_ns());
}

void session_maps_changed(void *context, struct image *image, uint64_t time_ns)
{
	struct session *session = context;

	if (session->sideband != NULL && !image->lacks_sideband)
		return;
	maps_interval_change(&image->maps_interval, session->pump.round_ns, time_ns);
	session_read_maps(session, image);
}

void session_mapped(void *context, struct image *image, const struct module_place *place)
{
	struct session *session = context;
	const struct image *parent = tree_find(&session->tree, image->parent_pid);

	if (parent != NULL && parent->storm != 0 && image->state == IMAGE_STARTING &&
	    place->has_file && place->path != NULL && place->path == image_program(image))
		storms_see_program(image, parent, place->path);
	if (!session_attach_may_enter(session, image))
		interpreters_see(&session->interpreters, image, place);
	session_copied_map(image, place);
	if (session->wall.is_on)
		wall_reader_map(&session->wall.reader, image);
}

/* Late in a round: a child gets its name and mappings from a parent that may have ended. */
static void session_end_dead(struct session *session)
{
	for (size_t i = session->tree.count; i-- > 0;) {
		struct image *image = session->tree.images[i];

		if (image->was_gone_before)
			tree_end(&session->tree, image, monotonic_ns());
	}
}

/* If a write has failed (the disk is full), the program runs on unsampled. */
static void session_check_writer(struct session *session)
{
	const char *failure = recording_writer_failure(session->writer);
	const uint64_t max_bytes = session->options->max_bytes;

	if (max_bytes > 0 && recording_writer_bytes(session->writer) >= max_bytes)
		session->is_full = true;
	if (failure == NULL || session->is_broken)
		return;
	session->is_broken = true;
	notes_add(session->notes, "the recording ended early: %s", failure);
	for (size_t i = 0; i < session->tree.count; i++)
		image_stop_sampling(session->tree.images[i]);
}

/* Called before each commit. */
static void session_read_calls(struct session *session)
{
	const struct call_tree_reader_terms terms = session_call_terms(session);
	const uint64_t now_ns = monotonic_ns();

	/* Counts only grow: while the disk is behind, they are read later. */
	const bool is_time = now_ns - session->calls_read_at_ns >= CALLS_READ_NS &&
			     recording_writer_has_room(session->writer);

	const double ns_per_tick = (double)(now_ns - session->start_ns) /
				   (double)(ticks_now() - session->start_ticks + 1);
	const bool is_limited = session->options->overhead > 0 &&
				now_ns - session->limits_looked_at_ns >= LIMIT_LOOK_NS;

	if (is_time)
		session->calls_read_at_ns = now_ns;
	if (is_limited)
		session->limits_looked_at_ns = now_ns;
	for (size_t i = 0; i < session->tree.count; i++) {
		struct image *image = session->tree.images[i];

		if (image->calls == NULL)
			continue;
		const bool is_urgent = call_tree_reader_is_urgent(image->calls);

		if (is_limited && !image->is_ended && !image->trust.is_lost)
			trace_limit_look(image, session->options->overhead, ns_per_tick);

		if (is_urgent)
			session->round_ms = ROUND_MIN_MS;
		if (is_time || is_urgent)
			call_tree_reader_read(image, &session->pump, &terms, false);
	}
}

/* Stores the time so far, for a report now or after the recorder was killed. */
static void session_note_time(struct session *session)
{
	if (recording_writer_is_due(session->writer))
		recording_writer_set_int(session->writer, KEY_WALL_NS,
					 (int64_t)(monotonic_ns() - session->start_ns));
}

/* Titles read in a round: each is a file of /proc to open and read. */
#define TITLES_A_ROUND 16

/* Reads its title, if it has run since the last reading. */
static void session_look_at_title(struct session *session, struct image *image,
				  unsigned int *left)
{
	const uint64_t now_ns = session->pump.round_ns;
	const uint64_t mark = image->calls != NULL            ? now_ns
			      : image->state == IMAGE_ENTERED ? image->samples
							      : image->seen_ns;

	if (*left == 0 || !title_is_due(&image->title, mark, now_ns))
		return;
	--*left;
	if (title_look(&image->title, image->pid, mark, now_ns))
		image_write(image, session->start_ns, session->writer);
}

/* Whether a young process can wait: its CPU time is reported at its end. */
static bool session_may_wait(const struct session *session, const struct image *image)
{
	return storms_count(session->storms, image) && image->unwatched_since_ns == 0 &&
	       image->start_ns + YOUNG_NS > session->pump.round_ns;
}

/* Its interpreters are added only once it is known why no agent is in it. */
static void session_look_at_unentered(struct session *session, struct image *image)
{
	const bool was_known = image->is_reach_known;

	unentered_look(&session->tree, image, &session->enter_terms);
	session_copied_look(session, image);
	if (!was_known && (image->is_reach_known || image->is_gone) &&
	    !session_attach_may_enter(session, image))
		interpreters_look(&session->interpreters, image);
}

int session_look_at_new(struct session *session, int wait_ms)
{
	struct tree *tree = &session->tree;

	if (session->sideband == NULL || !sideband_has_unread(session->sideband))
		return wait_ms;
	session_take_events(session);
	for (size_t i = 0; i < tree->count; i++) {
		struct image *image = tree->images[i];

		if (image->state != IMAGE_STARTING || image->seen_ns != 0 ||
		    session_may_wait(session, image))
			continue;
		session_look_at_unentered(session, image);
		wait_ms = unentered_wait_ms(image, wait_ms);
	}
	return wait_ms;
}

void session_round(struct session *session)
{
	struct tree *tree = &session->tree;
	unsigned int fullest = 0;
	int longest_ms = ROUND_MAX_MS;
	unsigned int titles_left = TITLES_A_ROUND;

	pump_begin_round(&session->pump);
	for (size_t i = 0; i < tree->count; i++)
		image_mark(tree->images[i], pump_mark(tree->images[i]));
	session_take_events(session);
	if (session->sideband != NULL)
		fullest = sideband_fullest(session->sideband);
	if (session->copied.fullest > fullest)
		fullest = session->copied.fullest;
	for (size_t i = 0; i < tree->count; i++) {
		struct image *image = tree->images[i];

		session_read_maps(session, image);
		const unsigned int used =
			pump_image(&session->pump, image, image->ring_mark, 0);

		fullest = used > fullest ? used : fullest;
		if (image->copied != NULL && image->ring == NULL)
			image_forget_past(image, session->pump.round_ns, session->start_ns,
					  session->writer);
		account_check_switches(image, session->pump.round_ns);
		short_threads_expire(&image->short_threads, session->pump.round_ns);
		ring_view_set_unshared(image);
		if (image->state != IMAGE_ENTERED && !session_may_wait(session, image)) {
			session_look_at_unentered(session, image);
			longest_ms = unentered_wait_ms(image, longest_ms);
		}
		session_look_at_title(session, image, &titles_left);
	}
	session_wall_round(session);
	session_look_at_switches(session);
	session_look_at_overhead(session);
	session_read_calls(session);
	session_end_dead(session);
	session_attach_look(session);
	session_note_time(session);
	recording_writer_tick(session->writer);
	session_check_writer(session);
	if (fullest > 50)
		session->round_ms = ROUND_MIN_MS;
	else if (fullest > 20 && session->round_ms > ROUND_MIN_MS)
		session->round_ms /= 2;
	else if (fullest < 5)
		session->round_ms *= 2;
	longest_ms = session_switches_wait_ms(session, longest_ms);
	if (session->round_ms > longest_ms)
		session->round_ms = longest_ms;
}
