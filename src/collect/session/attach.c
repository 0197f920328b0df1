#include "collect/session/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "base/notes.h"
#include "collect/events/cpu_meter.h"
#include "collect/system/descendants.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/system/process_stat.h"
#include "collect/agents/ring_owner.h"
#include "collect/session/agent.h"
#include "collect/session/facts.h"
#include "collect/session/options.h"
#include "collect/session/state.h"
#include "collect/session/wall.h"
#include "collect/events/sideband.h"
#include "collect/costs/switch_cost.h"
#include "collect/system/thread_scan.h"
#include "collect/agents/unentered.h"
#include "remote/refusal.h"

#define COMMAND "record -p"

struct adding {
	struct session *session;
	struct image *image;
};

static int add_thread(void *context, pid_t tid)
{
	struct adding *adding = context;
	struct session *session = adding->session;

	tree_read_thread(&session->tree, adding->image, tid, session->start_ns);
	return 0;
}

/* Adds the process as it is now: threads, mappings, and CPU time so far. */
static struct image *add_image(struct session *session, pid_t pid)
{
	struct tree *tree = &session->tree;
	struct image *image =
		tree_add(tree, pid, tree_find_parent(tree, pid), session->start_ns);
	struct adding adding = { session, image };

	image->running_threads = TREE_THREADS_UNKNOWN;
	image->has_program = image->is_reach_known = true;
	image->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	image->mappings = mappings_new();
	tree_read_name(tree, image);
	tree_read_maps(tree, image, session->start_ns);
	tree_read_process(tree, image);
	image_thread_at(image, pid, session->start_ns, session->writer);
	thread_scan(pid, add_thread, &adding);
	image->cpu_before_ns = image->copied_from_ns = cpu_meter_process_ns(pid);
	return image;
}

static int explain(const struct session *session, pid_t pid, int rc, struct error *err)
{
	const bool is_user_clock = session->options->clock == CLOCK_KIND_USER;
	struct perf_ability own = { 0 };

	if (rc == -EMFILE || rc == -ENFILE)
		return error_set(err, rc,
				 "process %d has too many threads: each takes two file "
				 "descriptors for each CPU; ulimit -n allows more",
				 (int)pid);
	/* If we may not open events on ourselves either, the reason is not that process. */
	if (copied_events_judge(getpid(), is_user_clock, &own) < 0)
		return error_set(
			err, rc,
			"cannot sample process %d: %s; 'fathom dump %d' needs no events",
			(int)pid, own.why, (int)pid);
	return refusal_explain(COMMAND, pid, rc, err);
}

static int begin_copied(struct session *session, struct image *image, struct error *err)
{
	int rc = session_copied_open(session, err);

	if (rc < 0)
		return rc;
	rc = session_copied_begin(session, image, session->options->with_children);
	if (rc < 0)
		return explain(session, image->pid, rc, err);
	interpreters_look(&session->interpreters, image);
	return 0;
}

/*
 * Samples by an injected agent if that shows more and is possible; else by copied stacks,
 * native frames only, with a note why.  -ESRCH: the process, and so the image, has ended.
 */
static int begin_sampling(struct session *session, struct image *image, struct error *err)
{
	const pid_t pid = image->pid;
	struct error why;

	image->is_attach_judged = true;

	const int rc = session_agent_is_wanted(session, image)
			       ? session_agent_begin(session, image, &why)
			       : -ENOSYS;

	if (rc == 0)
		return 0;
	if (rc == -ESRCH)
		return refusal_explain(COMMAND, pid, rc, err);
	/* A preloaded agent's trap and our copies would add to each other's cost. */
	if (rc == -EBUSY ||
	    (session->options->trigger != TRIGGER_COPIED && ring_owner_runs(image->pid)))
		return error_set(err, -EBUSY,
				 "process %d is recorded by another fathom already; with "
				 "'--trigger copied' it can be recorded beside that",
				 (int)image->pid);
	if (session->options->trigger == TRIGGER_SIGTRAP)
		return error_set(err, rc, "cannot bring an agent into process %d: %s",
				 (int)image->pid, why.text);
	if (rc != -ENOSYS)
		notes_add(session->notes,
			  "%s (pid %d): native frames only, no agent could be brought in: %s",
			  image->name, (int)image->pid, why.text);
	return begin_copied(session, image, err);
}

static int begin_image(struct session *session, pid_t pid, struct error *err)
{
	int rc = sideband_follow(session->sideband, pid, session->options->with_children, err);

	if (rc < 0)
		return explain(session, pid, rc, err);
	struct image *image = add_image(session, pid);

	rc = begin_sampling(session, image, err);
	if (rc == 0 && process_has_debugger(pid))
		notes_add(session->notes,
			  "a debugger traces %s (pid %d): while it holds the process stopped, "
			  "nothing runs that could be sampled",
			  image->name, (int)pid);
	return rc;
}

/* Begins to record the processes that were named, and with --children their descendants. */
static int begin_all(struct session *session, struct error *err)
{
	const struct session_options *options = session->options;
	CLEANUP(descendants_done) struct descendants all = { 0 };
	int rc = 0;

	for (size_t i = 0; i < options->pid_count; i++)
		descendants_add(&all, options->pids[i]);
	const size_t named = all.count;

	if (options->with_children)
		descendants_find(&all);
	for (size_t i = 0; rc == 0 && i < all.count; i++) {
		/* A child's agent may have done its handshake since. */
		if (tree_find(&session->tree, all.pids[i]) != NULL)
			continue;
		rc = begin_image(session, all.pids[i], err);
		/* A child may end meanwhile, or be another user's. */
		if (rc < 0 && i >= named)
			rc = 0;
	}
	return rc;
}

/* Notes that children are not recorded: they may be a server's workers, which do its work. */
static void note_left_out(struct session *session)
{
	const struct session_options *options = session->options;
	CLEANUP(descendants_done) struct descendants all = { 0 };

	if (options->with_children)
		return;
	for (size_t i = 0; i < options->pid_count; i++)
		descendants_add(&all, options->pids[i]);
	const size_t named = all.count;

	descendants_find(&all);
	if (all.count > named)
		notes_add(session->notes,
			  "child processes were not recorded (there were %zu at the start): "
			  "--children records them",
			  all.count - named);
}

/* Finds whether SIGTRAP could sample by an injected agent. */
static void find_sigtrap(struct session *session, pid_t pid)
{
	struct perf_ability ability = { 0 };

	if (session->options->trigger != TRIGGER_COPIED &&
	    perf_ability_find(pid, TRIGGER_AUTO, session->options->clock, &ability, NULL) == 0)
		session->ability.can_sigtrap = ability.can_sigtrap;
}

static int prepare(struct session *session, struct error *err)
{
	const struct session_options *options = session->options;
	const pid_t pid = options->pids[0];
	int rc = copied_events_judge(pid, options->clock == CLOCK_KIND_USER, &session->ability);

	if (rc < 0)
		return explain(session, pid, rc, err);
	find_sigtrap(session, pid);
	session->enter_terms = (struct enter_terms){
		.clock = options->clock,
		.rate_hz = options->rate_hz,
		.has_counters = true,
		.has_sideband = true,
		.counts_unentered = true,
		.is_user_mode_only = !session->ability.can_see_kernel,
		.processors = (uint32_t)get_nprocs(),
		.all_processors = (uint32_t)get_nprocs_conf(),
		.recorder_start = ring_owner_start(),
		.has_sigtrap = session->ability.can_sigtrap,
		.start_ns = session->start_ns,
		.start_ticks = session->start_ticks,
		.interpreters = &session->interpreters,
	};
	session->account_terms = (struct account_terms){
		.session_start_ns = session->start_ns,
		.is_user_mode_only = !session->ability.can_see_kernel,
		.is_user_clock = options->clock == CLOCK_KIND_USER,
		.is_wall = options->is_wall,
	};
	if (session->ability.can_sigtrap)
		session->enter_terms.switch_cost_ns =
			switch_cost_measure(perf_choose_period(options->rate_hz, 0));
	session->tree.has_sideband = true;
	session->tree.agent_path = options->agent_path;
	session->tree.leaves_children = !options->with_children;
	return sideband_open_empty(options->is_wall, &session->sideband, err);
}

/* Writes how processes are sampled again, once it is known which have an agent. */
static void write_means(struct session *session)
{
	const struct tree *tree = &session->tree;
	size_t attached = 0;

	for (size_t i = 0; i < tree->count; i++)
		attached += tree->images[i]->is_attached;
	if (attached == 0)
		return;
	struct perf_ability ability = session->ability;

	ability.is_copied = false;
	snprintf(ability.why, sizeof ability.why,
		 "perf events on each thread, by an agent that was brought into %s; system "
		 "time is "
		 "sampled by timers, at the kernel's ticks, where a thread has much of it",
		 attached == tree->count
			 ? "the running process"
			 : "some of the processes, the others by copied stacks");
	session_facts_write_sampling(session->writer, session->options, &ability);
}

int session_attach_start(struct session *session, struct error *err)
{
	const struct session_options *options = session->options;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < options->pid_count; i++)
		rc = refusal_judge(COMMAND, options->pids[i], err);
	if (rc == 0)
		rc = prepare(session, err);
	if (rc < 0)
		return rc;
	session_begin_storms(session);
	rc = session_wall_begin(session, err);
	if (rc < 0)
		return rc;
	session_facts_write_start(session->writer, options, &session->ability,
				  session->start_ns);
	rc = begin_all(session, err);
	if (rc == 0) {
		write_means(session);
		note_left_out(session);
	}
	session_wall_add_running(session);
	session->all_sampled_ns = monotonic_ns();
	return rc;
}

/* CPU time in which a program, its dynamic linker and its interpreter have started. */
#define STARTED_CPU_NS (50 * NS_PER_MS)

bool session_attach_may_enter(const struct session *session, const struct image *image)
{
	const enum trigger_kind trigger = session->options->trigger;

	return session->options->argv == NULL && !session->is_broken &&
	       (trigger == TRIGGER_SIGTRAP ||
		(trigger == TRIGGER_AUTO && session->ability.can_sigtrap)) &&
	       image->state == IMAGE_STARTING && !image->is_attach_judged && !image->is_gone;
}

static bool is_due(const struct session *session, const struct image *image)
{
	return session_attach_may_enter(session, image) && image->mappings != NULL &&
	       cpu_meter_process_ns(image->pid) >= image->cpu_before_ns + STARTED_CPU_NS;
}

void session_attach_look(struct session *session)
{
	struct tree *tree = &session->tree;
	struct image *image = NULL;
	struct error err;

	for (size_t i = 0; image == NULL && i < tree->count; i++)
		image = is_due(session, tree->images[i]) ? tree->images[i] : NULL;
	if (image == NULL)
		return;
	image->is_attach_judged = true;
	/* Begins a new image: the process's account so far is of one without an agent. */
	if (session_agent_is_wanted(session, image))
		begin_sampling(session, add_image(session, image->pid), &err);
}

bool session_attach_is_over(const struct session *session)
{
	const uint64_t duration_ns = session->options->duration_ns;

	return session->forward.has_stop ||
	       (duration_ns > 0 && monotonic_ns() - session->all_sampled_ns >= duration_ns);
}

void session_attach_leave(struct session *session)
{
	struct tree *tree = &session->tree;

	session_take_events(session);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->images[i]->is_attached)
			session_agent_end(tree->images[i]);
		else if (tree->images[i]->state != IMAGE_ENTERED)
			unentered_look(tree, tree->images[i], &session->enter_terms);
}
