#include "collect/agents/enter.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "abi/ring.h"
#include "abi/ring_terms.h"
#include "base/memory.h"
#include "collect/events/cpu_meter.h"
#include "collect/agents/enter_ring.h"
#include "collect/agents/handshake_server.h"
#include "collect/processes/image.h"
#include "collect/processes/interpreters.h"
#include "collect/processes/pause.h"
#include "collect/costs/overhead.h"
#include "collect/events/perf_events.h"
#include "collect/system/process_stat.h"
#include "collect/events/thread_events.h"
#include "attach/status.h"
#include "collect/processes/known_calls.h"

/* As the report shows them, after the program's name. */
static const struct {
	const char *from_the_start, *from_now_on;
} reasons[] = {
#define X(name, from_the_start, from_now_on) \
	[HANDSHAKE_##name] = { from_the_start, from_now_on },
	HANDSHAKE_REASON_MAP(X)
#undef X
};

struct opening {
	struct image *image;
	const struct handshake_request *request;
	const struct enter_terms *terms;
	bool is_off;
	size_t older;
	unsigned int looks; /* at threads that block SIGTRAP */
};

/*
 * libc blocks all signals while it creates a thread, ends one, or forks.  A runnable thread may
 * wait for a processor meanwhile: it is checked for 50 ms, a sleeping one for 6 ms.
 */
#define LOOKS_AT_ONE  28
#define LOOKS_ASLEEP  16
#define LOOKS_MOST    64
#define LOOK_FIRST_NS 100000

/* Whether the thread blocks SIGTRAP for longer than a moment.  Updates status. */
static bool is_blocking(struct opening *opening, pid_t tid, struct attach_status *status)
{
	for (int i = 0; attach_status_has_signal(status->blocked, SIGTRAP); i++) {
		if (i == LOOKS_AT_ONE || (i >= LOOKS_ASLEEP && status->state != 'R') ||
		    opening->looks++ >= LOOKS_MOST)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_FIRST_NS << i / 4 }, NULL);
		if (attach_status_read(opening->image->pid, tid, status) < 0)
			return false;
	}
	return false;
}

/*
 * Whether to open an event on this thread of a process that runs already.  Not on the agent's
 * own, which does the handshake, nor on one that blocks SIGTRAP: it would find ours where it
 * waits for signals (sigtimedwait(), ppoll()).
 */
static bool may_be_trapped(struct opening *opening, pid_t tid)
{
	struct image *image = opening->image;
	struct attach_status status;

	if (attach_status_read(image->pid, tid, &status) < 0 ||
	    (u32)status.inner_tid == opening->request->tid)
		return false;
	if (!is_blocking(opening, tid, &status))
		return true;
	if (image->blocking++ == 0)
		image->first_blocking = tid;
	return false;
}

/* Opens the event of this rung that samples a thread. */
static int sampler_open(const struct opening *opening, pid_t tid, unsigned int rung,
			bool is_off)
{
	const struct image *image = opening->image;

	return perf_open_sampler(tid, &(struct perf_sampler){
					      .period_ns = image->period_ns << rung,
					      .is_user_mode_only = enter_is_user_mode_only(
						      image, opening->terms),
					      .is_off = is_off,
					      .mark = HANDSHAKE_EVENT_MARK + rung,
				      });
}

static int thread_event_open(void *context, pid_t tid)
{
	struct opening *opening = context;
	struct image *image = opening->image;

	if (opening->request->occasion == HANDSHAKE_ATTACH && !may_be_trapped(opening, tid))
		return -ESRCH;
	if ((u32)tid != opening->request->tid && opening->older < RING_OLDER_THREADS)
		image->ring->older_tids[opening->older++] = (u32)tid;
	if (!opening->terms->has_sigtrap)
		return perf_open_counter(tid, false);
	return sampler_open(opening, tid, 0, opening->is_off);
}

/* Opens the same thread's event with a longer period. */
static int rung_open(void *context, unsigned int rung)
{
	const struct opening *opening = context;

	return sampler_open(opening, opening->image->pid, rung, true);
}

/* With a budget of overhead: opens events for other rates to switch to. */
static void image_open_rungs(struct opening *opening)
{
	struct image *image = opening->image;
	const struct overhead_terms *overhead = opening->terms->overhead;

	if (overhead == NULL || opening->request->occasion == HANDSHAKE_ATTACH ||
	    !thread_events_add_rungs(&image->events, HANDSHAKE_EVENT_RUNGS, rung_open, opening))
		return;
	thread_events_step(&image->events, overhead_first_rung(overhead, image->period_ns),
			   opening->is_off);
}

struct pause_terms enter_pause_terms(const struct enter_terms *terms)
{
	return (struct pause_terms){ .has_counters = terms->has_counters,
				     .is_user_clock = terms->clock == CLOCK_KIND_USER };
}

/* Opens the events; if the process has a debugger they stay off until that has detached. */
static int image_open_events(struct image *image, const struct handshake_request *request,
			     const struct enter_terms *terms)
{
	struct opening opening = { .image = image,
				   .request = request,
				   .terms = terms,
				   .is_off = process_has_debugger(image->pid) };

	struct image_trigger *trigger = &image->trigger;
	const bool has_sigtrap = enter_has_sigtrap(image, terms);
	const bool has_events = terms->has_counters && !trigger->begins_by_timers;

	if (!opening.is_off && terms->clock == CLOCK_KIND_CPU)
		image->opened_cpu_ns = cpu_meter_process_ns(image->pid);
	if (trigger->begins_by_timers) {
		trigger->state = IMAGE_TRIGGER_CHANGED;
		trigger->clock_from_ns = trigger->clock_ns = image->opened_cpu_ns;
	}
	const int rc = has_events ? (request->occasion == HANDSHAKE_ATTACH
					     ? thread_events_open_all
					     : thread_events_open)(&image->events, image->pid,
								   thread_event_open, &opening)
				  : 0;
	const struct pause_terms pause_terms = enter_pause_terms(terms);

	image->has_sampling_events = has_sigtrap && rc == 0;
	if (image->has_sampling_events && has_events)
		image_open_rungs(&opening);
	image->has_kernel_samples =
		image->has_sampling_events && !enter_is_user_mode_only(image, terms);
	if (opening.is_off)
		pause_begin(image, PAUSE_DEBUGGER, &pause_terms);
	return has_sigtrap ? rc : 0;
}

static int image_open(struct image *image, const struct handshake_request *request,
		      const struct enter_terms *terms)
{
	image->period_ns = perf_choose_period(terms->rate_hz, image->serial);
	image->trust.processors = terms->all_processors;
	int ring_fd = enter_ring_make(image, terms);

	if (ring_fd < 0)
		return ring_fd;
	if (terms->is_trace) {
		struct trace_area *area =
			(struct trace_area *)((char *)image->ring +
					      ring_words_end(image->ring_words));

		area->ticks_per_ns = terms->ticks_per_ns;
		if (terms->only != NULL)
			memcpy(area->only, terms->only, sizeof area->only);
		image->calls = known_calls_new(area);
		return ring_fd;
	}
	int rc = image_open_events(image, request, terms);

	if (rc < 0) {
		enter_ring_drop(image);
		close(ring_fd);
		return rc;
	}
	return ring_fd;
}

static void image_leave_out(struct image *image, const char *reason)
{
	image_stop_sampling(image);
	image->state = IMAGE_LEFT_OUT;
	image->unentered_reason = reason;
	image->period_ns = 0;
}

/* Why the user or the agent asked not to sample the image; or NULL. */
static const char *why_not(const struct image *image, const struct handshake_request *request,
			   const struct enter_terms *terms)
{
	if (terms->no_children && image->pid != terms->command_pid)
		return "--no-children";
	if (request->reason == HANDSHAKE_NO_REASON || request->reason >= HANDSHAKE_REASON_COUNT)
		return NULL;
	return reasons[request->reason].from_the_start;
}

/* Why the shared memory, or the events, could not be opened: errno shows which. */
static const char *why_not_opened(int rc)
{
	switch (-rc) {
	case EMFILE:
	case ENFILE:
		return HANDSHAKE_SERVER_NO_DESCRIPTORS;
	case EACCES:
	case EPERM:
		return "the kernel does not let fathom watch it";
	case EFBIG:
		return "a limit of file sizes (ulimit -f) leaves no room for the memory that "
		       "is "
		       "shared with it";
	case ENOMEM:
		return "no memory left that could be shared with it";
	default:
		return "its sampling events could not be opened";
	}
}

void enter_refuse(int connection)
{
	const struct handshake_answer answer = { .magic = HANDSHAKE_MAGIC,
						 .verdict = HANDSHAKE_LEAVE };

	handshake_server_answer(connection, &answer, -1);
}

void enter_image(struct image *image, const struct handshake_request *request, int connection,
		 const struct enter_terms *terms)
{
	struct handshake_answer answer = { .magic = HANDSHAKE_MAGIC,
					   .verdict = HANDSHAKE_SAMPLE };
	const char *reason = why_not(image, request, terms);

	if (reason != NULL) {
		enter_refuse(connection);
		image_leave_out(image, reason);
		return;
	}
	int ring_fd = image_open(image, request, terms);

	if (ring_fd < 0) {
		enter_refuse(connection);
		image_leave_out(image, why_not_opened(ring_fd));
		return;
	}
	/*
	 * Tracing hooks are set before the first instruction, and need the layout; samples can
	 * wait for it.
	 */
	if (terms->is_trace)
		interpreters_look(terms->interpreters, image);
	else
		interpreters_recall(terms->interpreters, image);
	answer.ring_bytes = image->ring_bytes;
	/*
	 * The agent reports the CPU time so far, which must not be counted twice.  If these
	 * counters were closed after the answer, when the process may have made threads, the
	 * kernel would no longer exchange its threads' contexts: each switch would stop and
	 * start their events.
	 */
	thread_events_close(&image->counters.events);
	/* Before the answer, after which it may run and end. */
	image->pidfd = (int)syscall(SYS_pidfd_open, image->pid, 0);
	int rc = handshake_server_answer(connection, &answer, ring_fd);

	close(ring_fd);
	if (rc < 0) {
		image->is_counter_tried = false;
		enter_ring_drop(image);
		image_leave_out(image, HANDSHAKE_SERVER_TOO_LATE);
		return;
	}
	image->state = IMAGE_ENTERED;
	image->unentered_reason = NULL;
	interpreters_look(terms->interpreters, image);
}

static void image_stop(struct image *image, uint32_t reason, const struct enter_terms *terms)
{
	const struct pause_terms pause_terms = enter_pause_terms(terms);

	if (reason >= HANDSHAKE_REASON_COUNT)
		reason = HANDSHAKE_NO_REASON;
	pause_ask(image, reason, &pause_terms);
	if (reasons[reason].from_now_on[0] != '\0' && reason != HANDSHAKE_DEBUGGER)
		image->unentered_reason = reasons[reason].from_now_on;
}

void enter_answer_done(int connection)
{
	const struct handshake_answer answer = { .magic = HANDSHAKE_MAGIC,
						 .verdict = HANDSHAKE_DONE };

	handshake_server_answer(connection, &answer, -1);
}

void enter_change(struct image *image, const struct handshake_request *request, int connection,
		  const struct enter_terms *terms)
{
	/* A process without our events needs no switching. */
	if (image != NULL && image->state == IMAGE_ENTERED) {
		if (request->occasion == HANDSHAKE_STOP)
			image_stop(image, request->reason, terms);
		else
			pause_end(image, PAUSE_ASKED);
	}
	enter_answer_done(connection);
}
