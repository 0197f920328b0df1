#include "collect/processes/account.h"

#include <sys/resource.h>

#include "base/monotonic.h"
#include "collect/processes/image.h"
#include "collect/processes/pause.h"
#include "collect/events/perf_events.h"
#include "collect/processes/ring_view.h"
#include "record/writer.h"

/* The figures of one image, which are written into its first thread's row. */
struct figures {
	int64_t cpu_ns, startup_ns, exit_ns, unentered_ns, kernel_unsampled_ns, traced_ns;
};

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t image_covered_ns(const struct image *image)
{
	uint64_t covered_ns = image->forgotten_covered_ns;

	for (size_t i = 0; i < image->thread_count; i++)
		covered_ns = sum(covered_ns, image->threads[i].covered_ns);
	return covered_ns;
}

/* The part of the start-up that the events counted: from the handshake until sampling began. */
static uint64_t image_counted_early_ns(const struct image *image)
{
	return image->opened_cpu_ns == 0 ? 0 : above(image->start_cpu_ns, image->opened_cpu_ns);
}

uint64_t account_usage_ns(const struct rusage *usage, bool is_user_clock)
{
	uint64_t ns = (uint64_t)usage->ru_utime.tv_sec * 1000000000ULL +
		      (uint64_t)usage->ru_utime.tv_usec * 1000;

	if (!is_user_clock)
		ns += (uint64_t)usage->ru_stime.tv_sec * 1000000000ULL +
		      (uint64_t)usage->ru_stime.tv_usec * 1000;
	return ns;
}

uint64_t account_children_ns(bool is_user_clock)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return account_usage_ns(&usage, is_user_clock);
}

/* From fewer switches an estimate would be mostly noise. */
#define SWITCHES_TO_JUDGE 100
/*
 * How much more a thread's CPU clock typically shows at its end than its event counted: the
 * switches to and from it.  The program is charged for this time.
 */
#define UNCOUNTED_BY_THREAD_NS 32000
/*
 * A process's CPU clock also counts the switches to it before its events are opened: at most so
 * much, unless the machine itself, a virtual one, is stopped.
 */
#define UNCOUNTED_BY_PROCESS_NS 32000
/* A switch takes less on any machine. */
#define SWITCH_COST_MAX_NS 100000

/*
 * CPU time that the events counted and no sample stands for: some microseconds at each switch,
 * in which the kernel stops and starts the event, and interrupts.  It does not include what
 * later samples may still cover: a period of each thread, lost samples, and the time since the
 * round began, up to which samples were read.
 */
static uint64_t account_unsampled(const struct image *image, uint64_t counted_ns,
				  uint64_t round_ns)
{
	const uint64_t owed_ns =
		image->thread_count * (image->period_ns + above(monotonic_ns(), round_ns)) +
		above(ring_view_lost_ns(image), image->lost_ns);

	return above(counted_ns, sum(image_covered_ns(image), owed_ns));
}

void account_check_switches(struct image *image, uint64_t round_ns)
{
	const uint64_t cost_ns = image->switch_cost_ns;

	if (image->ring == NULL || image->trust.is_lost || image->events.count == 0 ||
	    cost_ns == 0)
		return;
	const uint64_t switches = ring_view_switches(image);

	if (switches < SWITCHES_TO_JUDGE ||
	    switches - SWITCHES_TO_JUDGE < image->switches_judged)
		return;
	image->switches_judged = switches;
	const uint64_t counted_ns = thread_events_read(&image->events);
	const uint64_t too_much_ns =
		above(image_covered_ns(image),
		      counted_ns + image->ends_booked * UNCOUNTED_BY_THREAD_NS);

	image->unsampled_ns = account_unsampled(
		image, above(counted_ns, image_counted_early_ns(image)), round_ns);
	if (too_much_ns > image->period_ns && cost_ns < SWITCH_COST_MAX_NS)
		ring_view_set_switch_cost(image, cost_ns + too_much_ns / switches + 1);
}

/* The resolution of timers: a tick of a slow kernel (HZ 100).  That of events is a period. */
#define TICK_NS 10000000ULL
/* The usual time between a thread's last sample and its end, in these units. */
#define REST_PERIODS 4

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The part of the counted time without samples (left_ns) that was used before the last
 * instruction, by the process's clock at that instruction.  The clock includes the teardown of
 * threads that had ended, so with several threads the part is limited to what is usual for
 * those whose ends were not booked.  What was in no sample while the image still ran
 * (unsampled_ns) is included in any case: it cannot be the exit.
 */
static uint64_t account_rest(struct image *image, uint64_t left_ns, uint64_t known_ns)
{
	const uint64_t end_ns = ring_view_end_cpu_ns(image);
	const uint64_t unsent_ns = ring_view_unsent_ns(image);
	const uint64_t unit_ns = image->has_sampling_events || image->period_ns > TICK_NS
					 ? image->period_ns
					 : TICK_NS;
	const uint64_t usual_ns =
		above(image->threads_seen, image->ends_booked) * REST_PERIODS * unit_ns;
	uint64_t rest_ns = 0;

	if (end_ns > image->start_cpu_ns)
		rest_ns = above(end_ns - image->start_cpu_ns, known_ns);
	image->is_rest_long = rest_ns > usual_ns && image->threads_seen == 1;
	if (!image->is_rest_long)
		rest_ns = at_most(rest_ns, usual_ns + at_most(unsent_ns, left_ns));
	if (image->unsampled_ns > rest_ns) {
		rest_ns = image->unsampled_ns;
		image->is_rest_long |= rest_ns > usual_ns;
	}
	return at_most(rest_ns, left_ns);
}

/* CPU time of lost samples that were followed by no other, at most left_ns. */
static uint64_t account_lost(const struct image *image, uint64_t left_ns)
{
	return at_most(above(ring_view_lost_ns(image), image->lost_ns + image->lost_rest_ns),
		       left_ns);
}

/* Divides the counted time without samples into lost samples, rest and exit. */
static void account_left(struct image *image, uint64_t left_ns, uint64_t known_ns,
			 struct figures *figures)
{
	image->lost_rest_ns = account_lost(image, left_ns);
	left_ns -= image->lost_rest_ns;
	image->rest_ns = account_rest(image, left_ns, known_ns + image->lost_rest_ns);
	figures->exit_ns = (int64_t)(left_ns - image->rest_ns + image->pause.exit_ns);
}

/*
 * Samples of user-mode events cover all of a thread's time, but stand for its user time alone,
 * lost ones too: the difference is kernel time.
 */
static void account_kernel_time(struct image *image, uint64_t covered_ns,
				struct figures *figures)
{
	const uint64_t left_ns = above(covered_ns, image->sampled_ns + image->off_ns);

	image->lost_rest_ns += account_lost(image, left_ns);
	figures->kernel_unsampled_ns = (int64_t)above(left_ns, image->lost_rest_ns);
}

static void account_entered(struct image *image, const struct account_terms *terms,
			    struct figures *figures)
{
	uint64_t covered_ns = image_covered_ns(image);
	const struct pause *pause = &image->pause;
	const uint64_t paused_ns = image_paused_ns(image);

	figures->traced_ns = (int64_t)pause->traced_ns;
	figures->unentered_ns = (int64_t)pause->unentered_ns;
	figures->startup_ns = (int64_t)above(image->start_cpu_ns, image->cpu_before_ns);
	if (!terms->is_user_clock)
		figures->kernel_unsampled_ns = 0;
	image->cpu_ns = image->start_cpu_ns + paused_ns;
	if (image_is_counted(image) || image->rusage_ns != 0) {
		/*
		 * The events counted nothing during a pause; the figure of wait(2) includes
		 * pauses.
		 */
		const uint64_t counted_ns =
			image_is_counted(image)
				? above(image_counted_ns(image), image_counted_early_ns(image))
				: above(image->rusage_ns, image->start_cpu_ns + paused_ns);

		image->cpu_ns += counted_ns;
		image->is_accounted = true;
		if (!terms->is_user_clock) {
			const uint64_t left_ns = above(counted_ns, covered_ns);

			image->uncounted_ns =
				at_most(above(covered_ns, counted_ns),
					image->ends_booked * UNCOUNTED_BY_THREAD_NS);
			account_left(image, left_ns, covered_ns + paused_ns, figures);
		} else {
			image->lost_rest_ns = account_lost(
				image, above(counted_ns, image->sampled_ns + image->left_ns +
								 image->off_ns));
		}
		/*
		 * More covered than counted: the agent assumed switches to be cheaper than they
		 * are, or the figure is not an agent's.
		 */
		if (covered_ns > counted_ns)
			covered_ns = counted_ns;
	} else {
		image->cpu_ns += covered_ns;
	}
	if ((terms->is_user_mode_only || image->is_attached) && !terms->is_user_clock)
		account_kernel_time(image, covered_ns, figures);
}

static void account_unentered(struct image *image, const struct account_terms *terms,
			      struct figures *figures)
{
	const bool is_counted = !terms->is_user_clock && image->counters.events.count > 0;
	const uint64_t counted_ns =
		is_counted ? image->counters.before_ns +
				     thread_events_read(&image->counters.events)
			   : 0;

	const bool is_end_known =
		!terms->is_user_clock && image->ended_ns > 0 && !image->is_end_unknown;

	/*
	 * The last reading is a lower bound; there is nothing better for user time, and where
	 * counters are refused.
	 */
	image->cpu_ns = is_end_known ? image->ended_ns : counted_ns;
	if (image->seen_ns > image->cpu_ns)
		image->cpu_ns = image->seen_ns;
	image->is_accounted = (is_end_known || is_counted) && image->unwatched_since_ns == 0;
	if (image->cpu_ns != 0)
		figures->unentered_ns = (int64_t)above(image->cpu_ns, image->cpu_before_ns);
	if (image->is_watched_known && !terms->is_user_clock)
		image->uncounted_ns = above(image->cpu_ns, image->watched_ns);
}

/*
 * Copied stacks: each sample stands for a period, of user time or of all CPU time.  The
 * remainder is kernel time if only user mode is sampled; otherwise the time between each
 * thread's last sample and its end, and late ticks.
 */
static void account_copied(struct image *image, const struct account_terms *terms,
			   struct figures *figures)
{
	const uint64_t usual_ns = REST_PERIODS * image->threads_seen * image->period_ns;

	account_unentered(image, terms, figures);
	const uint64_t burned_ns = above(image->cpu_ns, image->cpu_before_ns);
	const uint64_t before_ns =
		at_most(above(image->copied_from_ns, image->cpu_before_ns), burned_ns);
	const uint64_t left_ns =
		above(burned_ns - before_ns, image->sampled_ns + image->left_ns);

	figures->unentered_ns = RECORDING_UNKNOWN;
	figures->startup_ns = (int64_t)before_ns;
	if (terms->is_user_clock)
		return;
	if (terms->is_user_mode_only) {
		figures->kernel_unsampled_ns = (int64_t)left_ns;
		return;
	}
	image->rest_ns = left_ns;
	image->is_rest_long = left_ns > usual_ns;
}

/*
 * The account of a process whose agent is not trusted (trust.h), by the kernel's figures alone:
 * all time without samples is one row.
 */
static void account_distrusted(struct image *image, const struct account_terms *terms,
			       struct figures *figures)
{
	const struct pause *pause = &image->pause;
	const uint64_t paused_ns = image_paused_ns(image);
	const uint64_t begun_ns = image->opened_cpu_ns > image->cpu_before_ns
					  ? image->opened_cpu_ns
					  : image->cpu_before_ns;

	image->is_accounted = image_is_counted(image) || image->rusage_ns != 0;
	image->cpu_ns = image_is_counted(image) ? begun_ns + image_counted_ns(image) + paused_ns
						: image->rusage_ns;
	figures->traced_ns = (int64_t)pause->traced_ns;
	if (!terms->is_user_clock)
		figures->unentered_ns =
			(int64_t)above(above(image->cpu_ns, image->cpu_before_ns),
				       sum(image->sampled_ns,
					   image->left_ns + image->off_ns + pause->traced_ns));
}

uint64_t account_uncounted_births(uint64_t booked_ns, uint64_t counted_ns, uint64_t births)
{
	return at_most(above(booked_ns, counted_ns), births * UNCOUNTED_BY_PROCESS_NS);
}

static uint64_t known_or_zero(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t account_booked_ns(const struct image *image, const struct figures *figures)
{
	return image->sampled_ns + image->left_ns + image->lost_rest_ns + image->rest_ns +
	       image->off_ns + known_or_zero(figures->startup_ns) +
	       known_or_zero(figures->exit_ns) + known_or_zero(figures->unentered_ns) +
	       known_or_zero(figures->kernel_unsampled_ns) + known_or_zero(figures->traced_ns);
}

static const struct figures nothing = {
	RECORDING_UNKNOWN, RECORDING_UNKNOWN, RECORDING_UNKNOWN,
	RECORDING_UNKNOWN, RECORDING_UNKNOWN, RECORDING_UNKNOWN
};

static void write_threads(struct image *image, const struct account_terms *terms,
			  const struct figures *figures, struct recording_writer *writer)
{
	for (size_t i = 0; i < image->thread_count; i++) {
		struct recording_thread row =
			image_thread_row(image, &image->threads[i], terms->session_start_ns);

		if (i == 0) {
			row.cpu_ns = figures->cpu_ns;
			row.startup_ns = figures->startup_ns;
			row.exit_ns = figures->exit_ns;
			row.unentered_ns = figures->unentered_ns;
			row.kernel_unsampled_ns = figures->kernel_unsampled_ns;
			row.traced_ns = figures->traced_ns;
		}
		recording_writer_update_thread(writer, &row);
	}
}

void account_close(struct image *image, const struct account_terms *terms,
		   struct recording_writer *writer)
{
	struct figures figures = nothing;

	/* The first thread's row has the figures, so there must be one. */
	image_thread_at(image, image->pid, image->start_ns, writer);
	pause_look(image);
	if (terms->is_trace)
		figures = nothing;
	else if (image->trust.is_lost)
		account_distrusted(image, terms, &figures);
	else if (image->start_cpu_ns != 0)
		account_entered(image, terms, &figures);
	else if (image_is_copied(image))
		account_copied(image, terms, &figures);
	else
		account_unentered(image, terms, &figures);
	if (image->is_accounted)
		figures.cpu_ns = (int64_t)above(image->cpu_ns, image->cpu_before_ns);
	image->booked_ns = account_booked_ns(image, &figures);
	if (terms->is_wall)
		figures = (struct figures){ .cpu_ns = figures.cpu_ns,
					    .startup_ns = RECORDING_UNKNOWN,
					    .exit_ns = RECORDING_UNKNOWN,
					    .unentered_ns = RECORDING_UNKNOWN,
					    .kernel_unsampled_ns = RECORDING_UNKNOWN,
					    .traced_ns = RECORDING_UNKNOWN };
	write_threads(image, terms, &figures, writer);
	image_write(image, terms->session_start_ns, writer);
}
