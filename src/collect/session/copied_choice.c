/*
 * session_copied_choice - decides which processes get copied stacks: those in which no agent is, or
 * will be.
 */
#include "collect/session/state.h"

#include <stdlib.h>
#include <sys/sysinfo.h>

#include "base/error.h"
#include "base/memory.h"
#include "collect/events/cpu_meter.h"
#include "collect/processes/image.h"
#include "collect/session/options.h"
#include "target/program.h"

/*
 * A program that is about to run waits while its events are opened, 15 us for each CPU: on a larger
 * machine they are opened while it runs.
 */
#define EXPECT_CPUS_MOST 16

/* How long an agent may take until its handshake. */
#define UNHEARD_NS (100 * NS_PER_MS)

/* CPU time after which a child without a handshake was made past fork(). */
#define RAW_FORK_NS      (50 * NS_PER_MS)
#define RAW_FORK_PERIODS 3

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

/*
 * Whether no agent will come to a process that has executed no program: a child of clone(2) or
 * _Fork(), as Chromium's renderers are.  One whose handshake is delayed makes it after a period.
 */
static bool is_raw_fork(const struct session *session, const struct image *image)
{
	return session->options->argv != NULL && image->state == IMAGE_STARTING &&
	       !image->is_recorded && !image->has_program && image->parent_pid != 0 &&
	       image->copied == NULL &&
	       cpu_meter_process_ns(image->pid) >
		       RAW_FORK_NS + RAW_FORK_PERIODS *
					     perf_choose_period(session->options->rate_hz, 0);
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
	    !may_copy(session) || (image->copied != NULL && !has_new_rights) ||
	    (!image->has_program && !is_unheard(session, image) &&
	     !is_raw_fork(session, image)))
		return;
	image->is_copied_judged = 1 + has_new_rights;
	if ((has_new_rights || !is_preloaded || !image->has_program ||
	     is_without_agent(image)) &&
	    session_copied_open(session, &err) == 0)
		session_copied_begin(session, image,
				     is_preloaded || session->options->with_children);
}
