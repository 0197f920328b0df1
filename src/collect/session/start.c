/*
 * session_start - starts a session: opens on the stopped command what its options ask for, and
 * lets it run.
 *
 * The command is started stopped: everything that may be refused is asked for before it runs.
 */
#include "collect/session/state.h"

#include <sys/sysinfo.h>

#include "abi/ticks.h"
#include "base/error.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "collect/agents/handshake_server.h"
#include "collect/agents/ring_owner.h"
#include "collect/session/session.h"
#include "collect/session/attach.h"
#include "collect/session/facts.h"
#include "collect/session/options.h"
#include "collect/session/wall.h"
#include "collect/events/sideband.h"
#include "collect/costs/switch_cost.h"
#include "collect/system/tick_rate.h"
#include "record/writer.h"

/*
 * If copied stacks are refused and were not asked for, processes without an agent are only
 * counted.
 */
static int session_prepare_copies(struct session *session, struct error *err)
{
	const int rc = session_copied_prepare(session, session->command.pid, err);

	if (rc == 0 || session->options->trigger == TRIGGER_COPIED)
		return rc;
	notes_add(session->notes, "%s", err->text);
	return 0;
}

static void set_terms(struct session *session, const char *agent_path)
{
	const struct session_options *options = session->options;
	const struct perf_ability *ability = &session->ability;

	session->enter_terms = (struct enter_terms){
		.clock = options->clock,
		.rate_hz = options->rate_hz,
		.processors = (uint32_t)get_nprocs(),
		.all_processors = (uint32_t)get_nprocs_conf(),
		.recorder_start = ring_owner_start(),
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
		.paths = { .agent = agent_path,
			   .socket = handshake_server_path(session->server) },
		.start_ns = session->start_ns,
		.start_ticks = session->start_ticks,
		.interpreters = &session->interpreters,
		.overhead = session->overhead.terms.share > 0 && ability->can_sigtrap
				    ? &session->overhead.terms
				    : NULL,
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
		.is_wall = options->is_wall,
	};
}

/* Opens everything that may be refused, before the command runs. */
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
	set_terms(session, agent_path);
	if (!ability->can_count)
		return 0;
	session->tree_counter_fd = perf_open_counter(session->command.pid, true);
	rc = sideband_open(session->command.pid, options->is_wall, &session->sideband, err);
	if (rc < 0) {
		/* Without the sideband processes and mappings are known from /proc alone. */
		notes_add(session->notes, "%s; /proc is read instead", err->text);
		session->sideband = NULL;
	}
	session->tree.has_sideband = session->sideband != NULL;
	session->enter_terms.has_sideband = session->tree.has_sideband;
	return 0;
}

/* Initializes a session; its clocks start. */
static void session_begin(struct session *session)
{
	session->start_ns = monotonic_ns();
	session->start_ticks = ticks_now();
	machine_load_read(&session->load);
	tree_init(&session->tree, session->writer, session->start_ns);
	session->tree.ended = session_image_ended;
	session->tree.mapped = session_mapped;
	session->tree.context = session;
	interpreters_init(&session->interpreters, session->writer);
	pump_init(&session->pump, session->writer, session->start_ns);
	session->pump.maps_changed = session_maps_changed;
	session->pump.context = session;
}

int session_start_attached(struct session *session, struct error *err)
{
	session_begin(session);
	return session_attach_start(session, err);
}

int session_start(struct session *session, struct error *err)
{
	struct command_environment environment = {
		.socket_path = handshake_server_path(session->server),
		.signal_mask = session->forward.mask_before,
		.allowance = session->options->allowance,
	};
	const struct session_options *options = session->options;
	int rc = handshake_server_link_agent(session->server, options->agent_path,
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
	rc = session_wall_begin(session, err);
	if (rc < 0) {
		command_abandon(&session->command);
		return rc;
	}
	session_facts_write_start(session->writer, session->options, &session->ability,
				  session->start_ns);
	/*
	 * The recorder may be killed from now on: the recording then has at least its
	 * beginning.
	 */
	recording_writer_commit(session->writer);
	rc = command_go(&session->command, session->options->argv[0], &session->result->failure,
			err);
	/* Register the command now: a set-user-ID program emits no events. */
	if (rc == 0 && session->sideband != NULL)
		tree_add_command(&session->tree, session->command.pid, session->start_ns);
	session_copied_give_command(session);
	return rc;
}
