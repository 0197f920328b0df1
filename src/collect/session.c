/*
 * session - one run of a command, from start to recording.
 *
 * One loop, woken by signals, by agents that say hello and by its own clock.  A round of the
 * clock is: mark how far each ring is written; take in what the kernel told up to now; then
 * move the marked records, whose mappings are known by then.
 */
#include "collect/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/ticks.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "collect/account.h"
#include "collect/command.h"
#include "collect/death.h"
#include "collect/enter.h"
#include "collect/forward.h"
#include "collect/hello_server.h"
#include "collect/image.h"
#include "collect/interpreters.h"
#include "collect/mappings.h"
#include "collect/perf_events.h"
#include "collect/pump.h"
#include "collect/sampling_cost.h"
#include "collect/sideband.h"
#include "collect/switch_cost.h"
#include "collect/traced.h"
#include "collect/tick_rate.h"
#include "collect/tell.h"
#include "collect/tracer.h"
#include "collect/tree.h"
#include "collect/unentered.h"
#include "record/keys.h"
#include "record/writer.h"

#define NS_PER_MS 1000000ULL
/* How long descendants that outlive the command are followed. */
#define SURVIVOR_PATIENCE_NS (2000 * NS_PER_MS)
#define ROUND_MIN_MS         2
#define ROUND_MAX_MS         100
/* How often calls are read. */
#define TRACED_NS (500 * NS_PER_MS)
/* So many in a row are answered before rings are looked at again. */
#define MAX_HELLOS 64
/* So many processes that a trace has nothing of are named. */
#define UNTRACED_TOLD 3

struct session {
	const struct session_options *options;
	struct recording_writer *writer;
	struct notes *notes;
	struct session_result *result;
	struct perf_ability ability;
	struct enter_terms enter_terms;
	struct account_terms account_terms;
	struct forward forward;
	struct hello_server *server;
	struct command command;
	struct sideband *sideband; /* NULL: perf events are refused */
	struct tree tree;
	struct pump pump;
	struct interpreters interpreters;
	struct tracer_watch tracer;
	int tree_counter_fd; /* CPU time of the whole tree; -1: none */
	int round_ms;
	bool is_reaped, is_broken;
	uint64_t start_ns, start_ticks, reaped_ns;
	struct sampling_cost cost;
	uint64_t events_dropped;
	uint64_t uncounted_ns; /* burned out of our counters' sight */
	uint64_t off_ns;       /* that programs did not want to be recorded */
	uint64_t traced_at_ns; /* when calls were read last */
	uint64_t calls;        /* that images had counted when they ended */
	uint64_t untraced;     /* images that executed a program, and no agent came */
};

static struct traced_terms session_traced_terms(const struct session *session)
{
	return (struct traced_terms){
		.start_ns = session->start_ns,
		.start_ticks = session->start_ticks,
		.has_sideband = session->tree.has_sideband,
	};
}

static void session_end_trace(struct session *session, struct image *image)
{
	const struct traced_terms terms = session_traced_terms(session);

	if (image->traced == NULL)
		return;
	traced_read(image, &session->pump, &terms, true);
	traced_tell(image, &session->pump);
	session->calls += traced_calls(image->traced);
}

static void session_image_ended(void *context, struct image *image)
{
	struct session *session = context;

	if (image->ring != NULL) {
		pump_image(&session->pump, image, pump_mark(image), image->is_ended);
		image->start_cpu_ns = image->ring->start_cpu_ns;
		session_end_trace(session, image);
		sampling_cost_add(&session->cost, image->ring);
		interpreters_tell(&session->interpreters, image);
	}
	/* Without perf events: it was alone, so what its parent is told is its own. */
	if (!session->ability.can_count && session->is_reaped && session->tree.serial == 1)
		image->rusage_ns = account_children_ns(session->account_terms.is_user_clock);
	if (image->state == IMAGE_STARTING && image->unentered_reason == NULL) {
		image->unentered_reason = tell_why_unentered(image);
		/* A trace has no row in which its time would stand. */
		if (session->options->is_trace && image->has_program &&
		    session->untraced++ < UNTRACED_TOLD)
			tell_untraced(session->writer, image->name, image->pid,
				      image->unentered_reason);
	}
	account_close(image, &session->account_terms, session->writer);
	session->uncounted_ns += image->uncounted_ns;
	session->off_ns += image->off_ns;
	tell_generated_code(session->writer, image);
	if (image->ring != NULL)
		tracer_tell(session->writer, image);
	const bool is_command = image->pid == session->command.pid;

	death_tell(session->writer, image,
		   is_command && session->is_reaped ? session->result->wait_status : -1,
		   is_command);
}

static void session_maps_changed(void *context, struct image *image, uint64_t time_ns)
{
	struct session *session = context;

	if (session->sideband == NULL)
		tree_read_maps(&session->tree, image, time_ns);
}

static void session_mapped(void *context, struct image *image, const struct module_place *place)
{
	struct session *session = context;

	interpreters_see(&session->interpreters, image, place);
}

static void session_take_event(void *context, const struct sideband_event *event)
{
	struct session *session = context;

	tree_take(&session->tree, event);
}

static void session_take_events(struct session *session)
{
	if (session->sideband != NULL)
		session->events_dropped +=
			sideband_drain(session->sideband, session_take_event, session);
}

/* Not sooner: of a parent that made a child and ended, the child has its name and mappings. */
static void session_end_dead(struct session *session)
{
	for (size_t i = session->tree.count; i-- > 0;) {
		struct image *image = session->tree.images[i];

		if (image->was_gone_before)
			tree_end(&session->tree, image, monotonic_ns());
	}
}

/* The disk is full, or the like: the program runs on, unsampled. */
static void session_check_writer(struct session *session)
{
	const char *failure = recording_writer_failure(session->writer);

	if (failure == NULL || session->is_broken)
		return;
	session->is_broken = true;
	notes_add(session->notes, "the recording ended early: %s", failure);
	for (size_t i = 0; i < session->tree.count; i++)
		image_stop_sampling(session->tree.images[i]);
}

/* Before each commit. */
static void session_read_calls(struct session *session)
{
	const struct traced_terms terms = session_traced_terms(session);
	const uint64_t now_ns = monotonic_ns();

	const bool is_time = now_ns - session->traced_at_ns >= TRACED_NS;

	if (is_time)
		session->traced_at_ns = now_ns;
	for (size_t i = 0; i < session->tree.count; i++) {
		struct image *image = session->tree.images[i];

		if (image->traced == NULL)
			continue;
		const bool is_urgent = traced_is_urgent(image->traced);

		if (is_urgent)
			session->round_ms = ROUND_MIN_MS;
		if (is_time || is_urgent)
			traced_read(image, &session->pump, &terms, false);
	}
}

static void session_round(struct session *session)
{
	struct tree *tree = &session->tree;
	unsigned int fullest = 0;
	int longest_ms = ROUND_MAX_MS;

	pump_begin_round(&session->pump);
	for (size_t i = 0; i < tree->count; i++)
		image_mark(tree->images[i], pump_mark(tree->images[i]));
	session_take_events(session);
	for (size_t i = 0; i < tree->count; i++) {
		struct image *image = tree->images[i];
		const unsigned int used =
			pump_image(&session->pump, image, image->ring_mark, 0);

		fullest = used > fullest ? used : fullest;
		account_check_switches(image);
		if (image->state != IMAGE_ENTERED) {
			unentered_look(&session->tree, image, &session->enter_terms);
			longest_ms = unentered_wait_ms(image, longest_ms);
		}
	}
	session_read_calls(session);
	session_end_dead(session);
	recording_writer_tick(session->writer);
	session_check_writer(session);
	if (fullest > 20 && session->round_ms > ROUND_MIN_MS)
		session->round_ms /= 2;
	else if (fullest < 5)
		session->round_ms *= 2;
	if (session->round_ms > longest_ms)
		session->round_ms = longest_ms;
}

/* The image a hello is for, or NULL; where no sideband tells of processes, it is made here. */
static struct image *session_image_of(struct session *session,
				      const struct handshake_hello *hello, pid_t pid)
{
	struct tree *tree = &session->tree;
	struct image *image = tree_find(tree, pid);
	const bool is_new = image == NULL || (!tree->has_sideband && image->ring != NULL);

	if (!is_new)
		return image;
	/* One that gave up waiting, and has ended since. */
	if (!tree_is_alive(pid))
		return NULL;
	image = tree_add(tree, pid, tree_find_parent(tree, pid), hello->time_ns);
	tree_read_maps(tree, image, hello->time_ns);
	return image;
}

/* Else it was killed while it waited. */
static bool has_given_up(const struct session *session, const struct handshake_hello *hello)
{
	const uint64_t patience_ms =
		session->options->is_trace ? HANDSHAKE_TRACE_TIMEOUT_MS : HANDSHAKE_TIMEOUT_MS;

	return monotonic_ns() - hello->time_ns >= patience_ms * 1000000;
}

static void session_enter(struct session *session, const struct handshake_hello *hello,
			  pid_t pid, int connection)
{
	struct image *image = session_image_of(session, hello, pid);
	const bool is_trace = session->options->is_trace;

	if (image == NULL && has_given_up(session, hello))
		tell_left_out(session->writer, hello, pid, is_trace,
			      "the recorder was too late to answer it");
	if (session->is_broken || image == NULL || image->ring != NULL) {
		close(connection);
		return;
	}
	enter_image(image, hello, connection, &session->enter_terms);
	/* What it burned so far, of which the agent tells, is not counted twice. */
	if (image->state == IMAGE_ENTERED)
		thread_events_close(&image->counters.events);
	tree_read_process(&session->tree, image);
	/* No account names it. */
	if (is_trace && image->state == IMAGE_LEFT_OUT && !session->options->no_children &&
	    (has_given_up(session, hello) || tree_is_alive(pid)))
		tell_left_out(session->writer, hello, pid, is_trace, image->unentered_reason);
	if (image->state == IMAGE_LEFT_OUT)
		unentered_look(&session->tree, image, &session->enter_terms);
}

static void session_change(struct session *session, const struct handshake_hello *hello,
			   pid_t pid, int connection)
{
	struct image *image =
		tree_find(&session->tree, hello->target != 0 ? (pid_t)hello->target : pid);

	if (hello->occasion == HANDSHAKE_STOP && hello->reason == HANDSHAKE_EXEC)
		unentered_expect(&session->tree, image, &session->enter_terms);
	enter_change(image, hello, connection, &session->enter_terms);
}

/* It waits for what its new libraries have, of which the sideband has told by now. */
static void session_look(struct session *session, const struct handshake_hello *hello,
			 pid_t pid, int connection)
{
	struct image *image = tree_find(&session->tree, pid);

	if (image != NULL && image->state == IMAGE_ENTERED) {
		session_maps_changed(session, image, hello->time_ns);
		interpreters_look(&session->interpreters, image);
	}
	enter_answer_done(connection);
}

static void session_take_hellos(struct session *session)
{
	struct handshake_hello hello;
	pid_t pid;
	int connection, left = MAX_HELLOS;

	while (left-- > 0 && hello_server_accept(session->server, &hello, &pid, &connection)) {
		session_take_events(session);
		if (hello.occasion == HANDSHAKE_STOP || hello.occasion == HANDSHAKE_RESUME)
			session_change(session, &hello, pid, connection);
		else if (hello.occasion == HANDSHAKE_LOADED)
			session_look(session, &hello, pid, connection);
		else
			session_enter(session, &hello, pid, connection);
	}
}

static void session_reap(struct session *session)
{
	int status;

	if (session->is_reaped ||
	    waitpid(session->command.pid, &status, WNOHANG) != session->command.pid)
		return;
	session->is_reaped = true;
	session->reaped_ns = monotonic_ns();
	session->result->wait_status = status;
	session->result->is_command_status_known = true;
	session->round_ms = ROUND_MIN_MS;
}

static bool session_is_over(const struct session *session)
{
	if (!session->is_reaped)
		return false;
	if (session->tree.count == 0)
		return true;
	return !session->options->wait &&
	       monotonic_ns() - session->reaped_ns > SURVIVOR_PATIENCE_NS;
}

static void session_loop(struct session *session)
{
	struct pollfd fds[] = {
		{ .fd = session->forward.fd, .events = POLLIN },
		{ .fd = hello_server_fd(session->server), .events = POLLIN },
	};
	uint64_t next_round_ns = monotonic_ns();

	session->tracer.tree_counter_fd = session->tree_counter_fd;
	while (!session_is_over(session)) {
		const uint64_t now = monotonic_ns();
		const int wait_ms =
			next_round_ns > now ? (int)((next_round_ns - now) / NS_PER_MS) + 1 : 0;

		if (poll(fds, 2, tracer_wait_ms(&session->tracer, &session->tree, wait_ms)) >
		    0) {
			session_take_hellos(session);
			if (forward_take(&session->forward,
					 session->is_reaped ? 0 : session->command.pid))
				session_reap(session);
		}
		tracer_look(&session->tracer, &session->tree, &session->enter_terms);
		if (monotonic_ns() >= next_round_ns || session->is_reaped) {
			session_round(session);
			next_round_ns =
				monotonic_ns() + (uint64_t)session->round_ms * NS_PER_MS;
		}
	}
}

/* Those that outlive the session run on; what they did so far is kept. */
static void session_leave_survivors(struct session *session)
{
	struct tree *tree = &session->tree;

	session->result->survivors = (uint32_t)tree->count;
	while (tree->count > 0) {
		struct image *image = tree->images[0];

		CLEANUP(freep)
		char *note =
			xasprintf("%s (pid %d) still ran when the recording ended and is not "
				  "followed any more; --wait follows it",
				  image->name, (int)image->pid);
		recording_writer_note(session->writer, note);
		tree_leave(tree, image);
	}
}

static void session_tell_cost(const struct session *session)
{
	sampling_cost_tell(&session->cost,
			   &(struct sampling_cost_terms){
				   .wall_ns = monotonic_ns() - session->start_ns,
				   .ticks = ticks_now() - session->start_ticks,
				   .switch_cost_ns = session->enter_terms.switch_cost_ns,
				   .has_sigtrap = session->ability.can_sigtrap,
				   .is_user_mode_only = !session->ability.can_see_kernel,
			   },
			   session->writer);
}

static void session_tell_end(struct session *session)
{
	const bool is_user_clock = session->options->clock == CLOCK_KIND_USER;
	const uint64_t wall_ns =
		(session->result->survivors == 0 ? monotonic_ns() : session->reaped_ns) -
		session->start_ns;
	uint64_t kernel_cpu_ns =
		session->tree_counter_fd >= 0 ? perf_read_counter(session->tree_counter_fd) : 0;

	kernel_cpu_ns += session->uncounted_ns;
	if (is_user_clock || session->tree_counter_fd < 0)
		kernel_cpu_ns = account_children_ns(is_user_clock);
	recording_writer_set_int(session->writer, KEY_WALL_NS, (int64_t)wall_ns);
	recording_writer_set_int(session->writer, KEY_KERNEL_CPU_NS, (int64_t)kernel_cpu_ns);
	if (session->off_ns > 0)
		recording_writer_set_int(session->writer, KEY_PAUSED_NS,
					 (int64_t)session->off_ns);
	if (session->untraced > UNTRACED_TOLD)
		tell_untraced_more(session->writer, session->untraced - UNTRACED_TOLD);
	if (!session->options->is_trace)
		session_tell_cost(session);
	else if (session->calls == 0)
		recording_writer_note(
			session->writer,
			"no call was traced: what can be is what CPython 3.6 and "
			"later or CRuby 2.7 and later executes, and compiled code "
			"built with -finstrument-functions, -pg (with -mfentry or "
			"without) or -fpatchable-function-entry=5 or more");
	if (is_user_clock)
		recording_writer_note(
			session->writer,
			"the kernel tells user time from system time by its ticks, "
			"so the figure charged is coarse");
	if (session->events_dropped > 0)
		recording_writer_note(session->writer,
				      "the kernel dropped reports of processes and mappings: "
				      "some samples may lack names");
}

/* Before the command runs: everything that may be refused. */
static int session_prepare(struct session *session, struct error *err)
{
	const struct session_options *options = session->options;
	struct perf_ability *ability = &session->ability;
	int rc = perf_ability_find(session->command.pid, options->trigger, options->clock,
				   ability, err);

	if (rc < 0)
		return rc;
	session->enter_terms = (struct enter_terms){
		.clock = options->clock,
		.rate_hz = options->rate_hz,
		.has_sigtrap = ability->can_sigtrap,
		.has_counters = ability->can_count,
		.is_user_mode_only = ability->can_sigtrap && !ability->can_see_kernel,
		.is_trace = options->is_trace,
		.no_builtins = options->no_builtins,
		.has_blocks = options->has_blocks,
		.is_paused = options->is_paused,
		.only = options->only,
		.no_children = options->no_children,
		.command_pid = session->command.pid,
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
	return 0;
}

static int session_start(struct session *session, struct error *err)
{
	struct command_environment environment = {
		.socket_path = hello_server_path(session->server),
		.signal_mask = session->forward.mask_before,
		.allowance = session->options->allowance,
	};
	int rc = hello_server_link_agent(session->server, session->options->agent_path,
					 &environment.agent_path, err);

	if (rc == 0)
		rc = command_start(session->options->argv, &environment, &session->command,
				   err);
	if (rc < 0)
		return rc;
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
	rc = session_prepare(session, err);
	if (rc < 0) {
		command_abandon(&session->command);
		return rc;
	}
	tell_beginning(session->writer, session->options, &session->ability, session->start_ns);
	rc = command_go(&session->command, session->options->argv[0], &session->result->failure,
			err);
	/* Known before anything tells of it: a program with other rights tells of nothing. */
	if (rc == 0 && session->sideband != NULL)
		tree_add_command(&session->tree, session->command.pid, session->start_ns);
	return rc;
}

static void session_close(struct session *session)
{
	sideband_close(session->sideband);
	if (session->tree_counter_fd >= 0)
		close(session->tree_counter_fd);
	pump_done(&session->pump);
	tree_close(&session->tree);
	interpreters_done(&session->interpreters);
	hello_server_close(session->server);
}

static int session_run_prepared(struct session *session, struct error *err)
{
	int rc = hello_server_open(session->options->is_trace, &session->server, err);

	if (rc < 0)
		return rc;
	rc = session_start(session, err);
	if (rc == 0) {
		session_loop(session);
		session_leave_survivors(session);
		keep_finish(&session->pump.keep, session->writer);
		session_tell_end(session);
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
	*out_result = (struct session_result){ .failure = SESSION_FAILURE_OURS };
	int rc = forward_open(&session.forward, err);

	if (rc < 0)
		return rc;
	rc = session_run_prepared(&session, err);
	forward_close(&session.forward);
	return rc;
}
