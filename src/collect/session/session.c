/*
 * session - one run of a command, from start to recording.
 *
 * One loop, woken by signals, by agents' requests (requests.c) and by its own clock (round.c).
 */
#include "collect/session/state.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/ticks.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/system/recorder_priority.h"
#include "collect/agents/handshake_server.h"
#include "collect/processes/image.h"
#include "collect/session/session.h"
#include "collect/events/sideband.h"
#include "collect/session/attach.h"
#include "collect/session/facts.h"
#include "collect/session/wall.h"
#include "record/writer.h"

/* How long descendants that outlive the command are followed. */
#define SURVIVOR_PATIENCE_NS (2000 * NS_PER_MS)

/* How often progress is reported while rows wait for the disk. */
#define WRITER_LOOK_MS 200
#define REFUSE_MS      10

/* At most one report so far in this time: the recorded program may ask for them, too. */
#define REPORT_INTERVAL_NS (1000 * NS_PER_MS)

static void session_reap(struct session *session)
{
	struct rusage usage;
	int status;

	if (session->is_reaped ||
	    wait4(session->command.pid, &status, WNOHANG, &usage) != session->command.pid)
		return;
	session->is_reaped = true;
	session->waited_ns = account_usage_ns(&usage, false);
	session->reaped_ns = monotonic_ns();
	session->result->wait_status = status;
	session->result->is_command_status_known = true;
	session->round_ms = ROUND_MIN_MS;
}

static bool session_is_over(const struct session *session)
{
	if (session->options->argv == NULL)
		return session->is_full || session->tree.count == 0 ||
		       session_attach_is_over(session);
	if (!session->is_reaped || session->is_full)
		return session->is_full;
	if (session->tree.count == 0)
		return true;
	return !session->options->wait &&
	       monotonic_ns() - session->reaped_ns > SURVIVOR_PATIENCE_NS;
}

static void session_report(struct session *session)
{
	const struct session_options *options = session->options;

	if (!session->forward.has_usr1 || monotonic_ns() < session->next_report_ns)
		return;
	session->forward.has_usr1 = false;
	session->next_report_ns = monotonic_ns() + REPORT_INTERVAL_NS;
	if (options->wants_report != NULL)
		options->wants_report(options->context);
}

/*
 * Every 15 ms: looks for debuggers, frequent switches and new processes.  Returns when the next
 * round is due.
 */
static uint64_t session_look_between(struct session *session, uint64_t round_ns)
{
	const uint64_t due_before_ns = session->debugger.next_look_ns;
	const struct pause_terms pause_terms = enter_pause_terms(&session->enter_terms);

	debugger_look(&session->debugger, &session->tree, &pause_terms);
	if (session->debugger.next_look_ns == due_before_ns)
		return round_ns;
	if (session_glance_at_switches(session))
		return monotonic_ns();
	const int wait_ms = session_look_at_new(session, ROUND_MAX_MS);
	const uint64_t due_ns = monotonic_ns() + (uint64_t)wait_ms * NS_PER_MS;

	return due_ns < round_ns ? due_ns : round_ns;
}

static void session_loop(struct session *session)
{
	struct pollfd fds[] = {
		{ .fd = session->forward.fd, .events = POLLIN },
		{ .fd = handshake_server_fd(session->server), .events = POLLIN },
		{ .events = POLLIN },
		{ .fd = session_wall_fd(session), .events = POLLIN },
	};
	uint64_t next_round_ns = monotonic_ns();

	session->debugger.tree_counter_fd = session->tree_counter_fd;
	while (!session_is_over(session)) {
		const uint64_t now = monotonic_ns();
		const int round_ms =
			next_round_ns > now ? (int)((next_round_ns - now) / NS_PER_MS) + 1 : 0;
		const int wait_ms =
			debugger_wait_ms(&session->debugger, &session->tree, round_ms);
		const int copied_ms = session_copied_wait_ms(session, wait_ms);

		fds[2].fd = session_copied_fd(session);
		if (poll(fds, 4, copied_ms) > 0) {
			session_take_requests(session);
			if (signal_forwarding_take(&session->forward,
						   session->is_reaped ? 0
								      : session->command.pid))
				session_reap(session);
			if (fds[2].revents != 0)
				session_take_events(session);
			if (fds[3].revents != 0)
				session_wall_tick(session);
		} else if (copied_ms < wait_ms) {
			session_take_events(session);
		}
		session_report(session);
		next_round_ns = session_look_between(session, next_round_ns);
		if (monotonic_ns() >= next_round_ns || session->is_reaped) {
			session_round(session);
			next_round_ns =
				monotonic_ns() + (uint64_t)session->round_ms * NS_PER_MS;
		}
	}
}

/* Refuses agents for up to wait_ms, when nothing is recorded any more. */
static void session_refuse(struct session *session, int wait_ms)
{
	struct pollfd fds[] = {
		{ .fd = session->forward.fd, .events = POLLIN },
		{ .fd = handshake_server_fd(session->server), .events = POLLIN },
	};

	if (poll(fds, 2, wait_ms) <= 0)
		return;
	session_refuse_requests(session);
	if (signal_forwarding_take(&session->forward,
				   session->is_reaped ? 0 : session->command.pid))
		session_reap(session);
}

static void session_leave_all(struct session *session)
{
	struct tree *tree = &session->tree;

	session_facts_note_full(session->writer, session->options->max_bytes,
				session->over_ns - session->start_ns);
	while (tree->count > 0)
		tree_leave(tree, tree->images[0]);
}

/* Leaves images that outlive the session running; what they did so far is kept. */
static void session_leave_survivors(struct session *session)
{
	struct tree *tree = &session->tree;

	if (session->options->argv == NULL)
		session_attach_leave(session);
	else
		session->result->survivors = (uint32_t)tree->count;
	while (tree->count > 0) {
		struct image *image = tree->images[0];

		CLEANUP(freep)
		char *note =
			xasprintf("%s (pid %d) still ran when the recording ended and is not "
				  "followed any more; --wait follows it",
				  image->name, (int)image->pid);
		if (session->options->argv != NULL)
			recording_writer_note(session->writer, note);
		tree_leave(tree, image);
	}
}

/*
 * Waits for the disk.  By now no program waits for the recorder; or (is_full) its agent is
 * refused.
 */
static void session_write_rest(struct session *session)
{
	const struct session_options *options = session->options;
	const size_t total = recording_writer_waiting(session->writer);

	while (!recording_writer_stop_thread(session->writer,
					     session->is_full ? 0 : WRITER_LOOK_MS)) {
		if (session->is_full)
			session_refuse(session, REFUSE_MS);
		const size_t left = recording_writer_waiting(session->writer);

		if (options->waits_for_disk != NULL && left < total)
			options->waits_for_disk(options->context, total - left, total);
	}
	if (options->waits_for_disk != NULL)
		options->waits_for_disk(options->context, total, total);
	pump_note_left_out(&session->pump);
}

static void session_close(struct session *session)
{
	session_wall_close(session);
	session_copied_close(session);
	sideband_close(session->sideband);
	session_close_storms(session);
	if (session->tree_counter_fd >= 0)
		close(session->tree_counter_fd);
	pump_done(&session->pump);
	tree_close(&session->tree);
	interpreters_done(&session->interpreters);
	handshake_server_close(session->server);
}

static int session_run_prepared(struct session *session, struct error *err)
{
	const bool is_attached = session->options->argv == NULL;
	/* With processes that already run, rings fill from the first event on. */
	int place = is_attached ? recorder_priority_raise(session->options->is_wall) : 0;
	int rc = handshake_server_open(session->options->is_trace, &session->server, err);

	if (rc < 0)
		return rc;
	rc = session->options->argv != NULL ? session_start(session, err)
					    : session_start_attached(session, err);
	if (rc == 0) {
		/*
		 * From now on programs wait for answers.  The writer's thread inherits the
		 * priority.
		 */
		if (!is_attached)
			place = recorder_priority_raise(session->options->is_wall);

		recording_writer_start_thread(session->writer);

		session_loop(session);
		recorder_priority_restore(place);
		session->over_ns = monotonic_ns();
		if (session->is_full)
			session_leave_all(session);
		else
			session_leave_survivors(session);
		session_write_rest(session);
		file_keeper_finish(&session->pump.rows.file_keeper, session->writer);
		session_note_end(session);
		if (session->is_full)
			recording_writer_commit(session->writer);
		while (!session->is_reaped && session->options->argv != NULL)
			session_refuse(session, -1);
		session->result->samples = session->pump.samples;
		session->result->failure = SESSION_FAILURE_NONE;
	}
	session_close(session);
	return rc;
}

int session_run(const struct session_options *options, struct recording_writer *writer,
		struct notes *notes, struct session_result *out_result, struct error *err)
{
	struct session_options complete = *options;
	struct session session = {
		.options = &complete,
		.writer = writer,
		.notes = notes,
		.result = out_result,
		.tree_counter_fd = -1,
		.round_ms = ROUND_MIN_MS,
	};

	complete.is_wall = complete.clock == CLOCK_KIND_WALL && !complete.is_trace;
	if (complete.is_wall)
		complete.clock = CLOCK_KIND_CPU;
	if (complete.overhead > 0 && !complete.is_trace)
		complete.rate_hz = session_overhead_begin(&session.overhead, complete.overhead);
	if (complete.rate_hz == 0)
		complete.rate_hz = complete.is_wall ? 100 : 1000;
	*out_result = (struct session_result){ .failure = SESSION_FAILURE_OURS,
					       .is_attached = options->argv == NULL };
	int rc = signal_forwarding_open(&session.forward, err);

	if (rc < 0)
		return rc;
	rc = session_run_prepared(&session, err);
	signal_forwarding_close(&session.forward);
	return rc;
}
