/*
 * session - one run of a command, from start to recording.
 *
 * One loop, woken by signals, by agents that say hello (session_hellos.c) and by its own clock
 * (session_round.c).
 */
#include "collect/session_state.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/ticks.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "collect/better_place.h"
#include "collect/hello_server.h"
#include "collect/image.h"
#include "collect/session.h"
#include "collect/sideband.h"
#include "collect/switch_cost.h"
#include "collect/session_attach.h"
#include "collect/session_facts.h"
#include "collect/tick_rate.h"
#include "record/keys.h"
#include "record/writer.h"

/* How long descendants that outlive the command are followed. */
#define SURVIVOR_PATIENCE_NS (2000 * NS_PER_MS)

/* How often it is said how much waits for the disk. */
#define WRITER_LOOK_MS 200
#define REFUSE_MS      10

/* Whatever asks for reports so far, and a program that is recorded may: no more than one in that time. */
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

/* Each 15 ms: when the next round is due. */
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
		{ .fd = hello_server_fd(session->server), .events = POLLIN },
		{ .events = POLLIN },
	};
	uint64_t next_round_ns = monotonic_ns();

	session->debugger.tree_counter_fd = session->tree_counter_fd;
	while (!session_is_over(session)) {
		const uint64_t now = monotonic_ns();
		const int wait_ms =
			next_round_ns > now ? (int)((next_round_ns - now) / NS_PER_MS) + 1 : 0;

		fds[2].fd = session_copied_fd(session);
		if (poll(fds, 3,
			 debugger_wait_ms(&session->debugger, &session->tree, wait_ms)) > 0) {
			session_take_hellos(session);
			if (forward_take(&session->forward,
					 session->is_reaped ? 0 : session->command.pid))
				session_reap(session);
			if (fds[2].revents != 0)
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

/* Nothing is recorded any more: for so long, agents that ask are refused. */
static void session_refuse(struct session *session, int wait_ms)
{
	struct pollfd fds[] = {
		{ .fd = session->forward.fd, .events = POLLIN },
		{ .fd = hello_server_fd(session->server), .events = POLLIN },
	};

	if (poll(fds, 2, wait_ms) <= 0)
		return;
	session_refuse_hellos(session);
	if (forward_take(&session->forward, session->is_reaped ? 0 : session->command.pid))
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

/* Those that outlive the session run on; what they did so far is kept. */
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

/* The recorder waits for the disk; no program does any more, or it is refused. */
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

static void session_note_cost(struct session *session, uint64_t cpu_ns)
{
	const struct switch_costs *costs = session_switches_costs(session, cpu_ns);
	const struct start_costs start_costs = start_costs_measure(&(struct start_costs_terms){
		.agent_path = session->enter_terms.paths.agent,
		.has_events = session->ability.can_count,
		.forks = session->cost.forks,
		.execs = session->cost.execs,
		.cpu_ns = cpu_ns,
	});

	sampling_cost_note(&session->cost,
			   &(struct sampling_cost_terms){
				   .wall_ns = monotonic_ns() - session->start_ns,
				   .ticks = ticks_now() - session->start_ticks,
				   .switch_costs = costs,
				   .unmeasured_ns = session->enter_terms.switch_cost_ns,
				   .start_costs = start_costs,
				   .has_sigtrap = session->ability.can_sigtrap,
				   .is_user_mode_only = !session->ability.can_see_kernel,
			   },
			   session->writer);
}

static void session_note_end(struct session *session)
{
	const bool is_user_clock = session->options->clock == CLOCK_KIND_USER;
	const uint64_t wall_ns =
		(session->result->survivors == 0 || !session->is_reaped ? session->over_ns
									: session->reaped_ns) -
		session->start_ns;
	uint64_t kernel_cpu_ns =
		session->tree_counter_fd >= 0 ? perf_read_counter(session->tree_counter_fd) : 0;

	generated_code_note(&session->generated, session->writer);
	kernel_cpu_ns += session->uncounted_ns;
	if (session->options->argv == NULL)
		kernel_cpu_ns = session->attached_ns;
	else if (session->switches.is_tree_closed)
		kernel_cpu_ns = session_switches_charged_ns(session);
	else if (is_user_clock || session->tree_counter_fd < 0)
		kernel_cpu_ns = account_children_ns(is_user_clock);
	else if (!session->options->is_trace)
		kernel_cpu_ns += account_uncounted_births(session->booked_ns, kernel_cpu_ns,
							  session->births);
	if (!is_user_clock && session->tree_counter_fd >= 0 && !session->options->is_trace &&
	    session->is_reaped)
		session_facts_note_uncounted(session->writer, session->waited_ns,
					     kernel_cpu_ns);
	recording_writer_set_int(session->writer, KEY_WALL_NS, (int64_t)wall_ns);
	/* Without a counter of the clock's kind, it is known of a program that has ended. */
	if (session->is_reaped || session->options->argv == NULL ||
	    session->switches.is_tree_closed ||
	    (session->tree_counter_fd >= 0 && !is_user_clock))
		recording_writer_set_int(session->writer, KEY_KERNEL_CPU_NS,
					 (int64_t)kernel_cpu_ns);
	if (session->off_ns > 0)
		recording_writer_set_int(session->writer, KEY_PAUSED_NS,
					 (int64_t)session->off_ns);
	session_switches_note(session);
	session_copied_note(session);
	if (session->nonsensical > MAX_NONSENSE_NOTES)
		session_facts_note_more_nonsense(session->writer,
						 session->nonsensical - MAX_NONSENSE_NOTES);
	if (session->untraced > MAX_UNTRACED_NOTES)
		session_facts_note_more_untraced(session->writer,
						 session->untraced - MAX_UNTRACED_NOTES);
	if (!session->options->is_trace && !session->ability.is_copied)
		session_note_cost(session, kernel_cpu_ns);
	else if (session->options->is_trace && session->calls == 0)
		recording_writer_note(
			session->writer,
			"no call was traced: what can be is what CPython 3.6 and "
			"later or CRuby 2.7 and later executes, and compiled code "
			"built with -finstrument-functions or -pg (with -mfentry or "
			"without)");
	if (is_user_clock)
		recording_writer_note(
			session->writer,
			"the kernel divides user time from system time by its ticks, "
			"so the figure charged is coarse");
	if (session->events_dropped > 0)
		recording_writer_note(session->writer,
				      "the kernel dropped reports of processes and mappings: "
				      "some samples may lack names");
}

/* Where copies are refused that were not asked for, what no agent is in is counted. */
static int session_prepare_copies(struct session *session, struct error *err)
{
	const int rc = session_copied_prepare(session, session->command.pid, err);

	if (rc == 0 || session->options->trigger == TRIGGER_COPIED)
		return rc;
	notes_add(session->notes, "%s", err->text);
	return 0;
}

/* Before the command runs: everything that may be refused. */
static int session_prepare(struct session *session, const char *agent_path, struct error *err)
{
	const struct session_options *options = session->options;
	struct perf_ability *ability = &session->ability;
	int rc = perf_ability_find(session->command.pid, options->trigger, options->clock,
				   ability, err);

	if (rc == 0 && session->copies_tree)
		rc = session_prepare_copies(session, err);
	if (rc < 0)
		return rc;
	session->enter_terms = (struct enter_terms){
		.clock = options->clock,
		.rate_hz = options->rate_hz,
		.processors = (uint32_t)get_nprocs(),
		.has_sigtrap = ability->can_sigtrap,
		.has_counters = ability->can_count,
		.counts_unentered = ability->can_count,
		.is_user_mode_only = ability->can_sigtrap && !ability->can_see_kernel,
		.has_kernel_ticks = ability->has_kernel_ticks,
		.is_trace = options->is_trace,
		.no_builtins = options->no_builtins,
		.has_blocks = options->has_blocks,
		.is_paused = options->is_paused,
		.only = options->only,
		.no_children = options->no_children,
		.command_pid = session->command.pid,
		.paths = { .agent = agent_path, .socket = hello_server_path(session->server) },
		.start_ns = session->start_ns,
		.start_ticks = session->start_ticks,
		.interpreters = &session->interpreters,
	};
	if (ability->can_sigtrap && !options->is_trace)
		session->enter_terms.switch_cost_ns =
			switch_cost_measure(perf_choose_period(options->rate_hz, 0));
	if (options->is_trace && options->clock == CLOCK_KIND_CPU)
		session->enter_terms.ticks_per_ns = tick_rate_measure();
	session->account_terms = (struct account_terms){
		.session_start_ns = session->start_ns,
		.is_user_mode_only = session->enter_terms.is_user_mode_only,
		.is_user_clock = options->clock == CLOCK_KIND_USER,
		.is_trace = options->is_trace,
	};
	if (!ability->can_count)
		return 0;
	session->tree_counter_fd = perf_open_counter(session->command.pid, true);
	rc = sideband_open(session->command.pid, &session->sideband, err);
	if (rc < 0) {
		/* Without it nothing is known of processes and mappings but what /proc says. */
		notes_add(session->notes, "%s; /proc is read instead", err->text);
		session->sideband = NULL;
	}
	session->tree.has_sideband = session->sideband != NULL;
	session->enter_terms.has_sideband = session->tree.has_sideband;
	return 0;
}

/* From now on there is a session. */
static void session_begin(struct session *session)
{
	session->start_ns = monotonic_ns();
	session->start_ticks = ticks_now();
	tree_init(&session->tree, session->writer, session->start_ns);
	session->tree.ended = session_image_ended;
	session->tree.mapped = session_mapped;
	session->tree.context = session;
	interpreters_init(&session->interpreters, session->writer);
	pump_init(&session->pump, session->writer, session->start_ns);
	session->pump.maps_changed = session_maps_changed;
	session->pump.context = session;
}

static int session_start_attached(struct session *session, struct error *err)
{
	session_begin(session);
	return session_attach_start(session, err);
}

static int session_start(struct session *session, struct error *err)
{
	struct command_environment environment = {
		.socket_path = hello_server_path(session->server),
		.signal_mask = session->forward.mask_before,
		.allowance = session->options->allowance,
	};
	const struct session_options *options = session->options;
	int rc = hello_server_link_agent(session->server, options->agent_path,
					 &environment.agent_path, err);

	session->copies_tree = options->trigger == TRIGGER_COPIED ||
			       (options->trigger == TRIGGER_AUTO && !options->is_trace &&
				!options->is_paused && command_has_no_agent(options->argv));
	if (options->trigger == TRIGGER_COPIED)
		environment.agent_path = NULL;

	if (rc == 0)
		rc = command_start(session->options->argv, &environment, &session->command,
				   err);
	if (rc < 0)
		return rc;
	session_begin(session);
	rc = session_prepare(session, environment.agent_path, err);
	if (rc < 0) {
		command_abandon(&session->command);
		return rc;
	}
	session_begin_storms(session);
	session_facts_write_start(session->writer, session->options, &session->ability,
				  session->start_ns);
	/* A recorder may be killed from now on: a recording of a program has its beginning. */
	recording_writer_commit(session->writer);
	rc = command_go(&session->command, session->options->argv[0], &session->result->failure,
			err);
	/* Register the command now: a set-user-ID program emits no events. */
	if (rc == 0 && session->sideband != NULL)
		tree_add_command(&session->tree, session->command.pid, session->start_ns);
	session_copied_give_command(session);
	return rc;
}

static void session_close(struct session *session)
{
	session_copied_close(session);
	sideband_close(session->sideband);
	session_close_storms(session);
	if (session->tree_counter_fd >= 0)
		close(session->tree_counter_fd);
	pump_done(&session->pump);
	tree_close(&session->tree);
	interpreters_done(&session->interpreters);
	hello_server_close(session->server);
}

static int session_run_prepared(struct session *session, struct error *err)
{
	const bool is_attached = session->options->argv == NULL;
	/* Of processes that run already, rings fill from their first event on. */
	int place = is_attached ? better_place_ask() : 0;
	int rc = hello_server_open(session->options->is_trace, &session->server, err);

	if (rc < 0)
		return rc;
	rc = session->options->argv != NULL ? session_start(session, err)
					    : session_start_attached(session, err);
	if (rc == 0) {
		/* From now on programs wait for answers.  The writer's thread inherits the place. */
		if (!is_attached)
			place = better_place_ask();

		recording_writer_start_thread(session->writer);

		session_loop(session);
		better_place_leave(place);
		session->over_ns = monotonic_ns();
		if (session->is_full)
			session_leave_all(session);
		else
			session_leave_survivors(session);
		session_write_rest(session);
		file_keeper_finish(&session->pump.file_keeper, session->writer);
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

	if (complete.rate_hz == 0)
		complete.rate_hz = 1000;
	*out_result = (struct session_result){ .failure = SESSION_FAILURE_OURS,
					       .is_attached = options->argv == NULL };
	int rc = forward_open(&session.forward, err);

	if (rc < 0)
		return rc;
	rc = session_run_prepared(&session, err);
	forward_close(&session.forward);
	return rc;
}
