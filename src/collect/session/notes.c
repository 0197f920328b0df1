/*
 * session_notes - writes the end of a session's recording: the CPU time that the kernel
 * charged, the cost of sampling, and what a report must mention.
 */
#include "collect/session/state.h"

#include "abi/ticks.h"
#include "base/monotonic.h"
#include "collect/session/session.h"
#include "collect/session/facts.h"
#include "collect/session/options.h"
#include "collect/session/wall.h"
#include "record/keys.h"
#include "record/writer.h"

static void session_note_cost(struct session *session, uint64_t cpu_ns)
{
	const uint64_t period_ns = perf_choose_period(session->options->rate_hz, 0);
	const struct switch_costs *costs = session_switches_costs(session, cpu_ns);
	const struct start_costs start_costs = start_costs_measure(&(struct start_costs_terms){
		.agent_path = session->enter_terms.paths.agent,
		.period_ns = session->ability.can_sigtrap ? period_ns : 0,
		.is_user_mode_only = !session->ability.can_see_kernel,
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
				   .period_ns = period_ns,
				   .is_user_mode_only = !session->ability.can_see_kernel,
			   },
			   session->writer);
}

/* Samples of so much more CPU time than the tree's counter has show that it lost processes. */
#define LOST_NS   20000000
#define LOST_PART 8

/*
 * Whether processes left the tree's counter.  The kernel takes inherited events from a program
 * that gains capabilities by exec (begin_new_exec(), where it is not dumpable): root's, started by
 * a process that has given some up, as Dovecot's are.
 */
static bool has_lost_processes(const struct session *session, uint64_t counted_ns)
{
	return session->is_reaped &&
	       session->booked_ns > counted_ns + counted_ns / LOST_PART + LOST_NS;
}

static uint64_t without_counter_ns(const struct session *session)
{
	recording_writer_note(
		session->writer,
		"a program gained capabilities when it was executed, where the "
		"kernel takes counters away: the CPU time of the whole is by wait(2) "
		"and by what was sampled");
	return session->waited_ns > session->booked_ns ? session->waited_ns
						       : session->booked_ns;
}

/* The CPU time of all that is recorded, by the kernel. */
static uint64_t charged_ns(const struct session *session)
{
	const bool is_user_clock = session->options->clock == CLOCK_KIND_USER;
	uint64_t counted_ns = session->uncounted_ns;

	if (session->options->argv == NULL)
		return session->attached_ns;
	if (session->switches.is_tree_closed)
		return session_switches_charged_ns(session);
	if (is_user_clock || session->tree_counter_fd < 0)
		return account_children_ns(is_user_clock);
	counted_ns += perf_read_counter(session->tree_counter_fd);
	if (session->options->is_trace)
		return counted_ns;
	if (has_lost_processes(session, counted_ns))
		return without_counter_ns(session);
	return counted_ns +
	       account_uncounted_births(session->booked_ns, counted_ns, session->births);
}

/*
 * Writes the machine's load: it shows whether a program that did not run waited, or lacked a
 * processor.
 */
static void write_machine(struct session *session)
{
	struct machine_load now;

	if (session->load.all_ns == 0 || !machine_load_read(&now) ||
	    now.all_ns <= session->load.all_ns || now.idle_ns < session->load.idle_ns)
		return;
	recording_writer_set_int(session->writer, KEY_MACHINE_NS,
				 (int64_t)(now.all_ns - session->load.all_ns));
	recording_writer_set_int(session->writer, KEY_MACHINE_IDLE_NS,
				 (int64_t)(now.idle_ns - session->load.idle_ns));
}

void session_note_end(struct session *session)
{
	const bool is_user_clock = session->options->clock == CLOCK_KIND_USER;
	const uint64_t wall_ns =
		(session->result->survivors == 0 || !session->is_reaped ? session->over_ns
									: session->reaped_ns) -
		session->start_ns;
	const uint64_t kernel_cpu_ns = charged_ns(session);

	generated_code_note(&session->generated, session->writer);
	if (!is_user_clock && session->tree_counter_fd >= 0 && !session->options->is_trace &&
	    session->is_reaped)
		session_facts_note_uncounted(session->writer, session->waited_ns,
					     kernel_cpu_ns);
	recording_writer_set_int(session->writer, KEY_WALL_NS, (int64_t)wall_ns);
	write_machine(session);
	/*
	 * Without a counter for this clock, the figure is known only if the program has ended.
	 */
	if (session->is_reaped || session->options->argv == NULL ||
	    session->switches.is_tree_closed ||
	    (session->tree_counter_fd >= 0 && !is_user_clock))
		recording_writer_set_int(session->writer, KEY_KERNEL_CPU_NS,
					 (int64_t)kernel_cpu_ns);
	if (session->off_ns > 0)
		recording_writer_set_int(session->writer, KEY_PAUSED_NS,
					 (int64_t)session->off_ns);
	if (session->throttled_ns > 0) {
		recording_writer_set_int(session->writer, KEY_THROTTLED_NS,
					 (int64_t)session->throttled_ns);
		recording_writer_set_int(session->writer, KEY_TRACED_LIFE_NS,
					 (int64_t)session->traced_life_ns);
	}
	session_switches_note(session);
	session_overhead_note(session);
	session_copied_note(session);
	session_wall_note(session);
	if (session->nonsensical > MAX_NONSENSE_NOTES)
		session_facts_note_more_nonsense(session->writer,
						 session->nonsensical - MAX_NONSENSE_NOTES);
	if (session->untraced > MAX_UNTRACED_NOTES)
		session_facts_note_more_untraced(session->writer,
						 session->untraced - MAX_UNTRACED_NOTES);
	if (!session->options->is_trace &&
	    (!session->ability.is_copied || session->cost.handler_samples > 0))
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
