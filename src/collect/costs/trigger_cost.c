#include "collect/costs/trigger_cost.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/perf_event.h>
#include <time.h>
#include <unistd.h>

#include "collect/system/child_measurement.h"
#include "collect/events/perf_events.h"

/*
 * Pairs of slices, without and with traps, for each figure.  Recordings with fewer samples get
 * fewer: the user waits for them.  Beside seven busy processes the figure without memory
 * scattered by 12 % with 25, the one with memory by 25; with 9, preempted ones among them, by
 * half.
 */
#define MOST_SLICES  25
#define MANY_SAMPLES 5000
#define SOME_SLICES  11
#define SOME_SAMPLES 100
#define LEAST_SLICES 3
/* So many times as many pairs at most, where some had to be left out. */
#define TRIES        2
#define CALIBRATIONS 3
#define SLICE_NS     600000ULL
/*
 * A slice has two such periods.  On a virtual AMD EPYC the figure with memory scattered from 25
 * to 33 us with these, and from 2 to 33 us with periods of 100 us and slices of 300, in which
 * caches had no time to warm up.
 */
#define LONGEST_PERIOD_NS  299993ULL
#define SHORTEST_PERIOD_NS 49999ULL
/* The work reads one word of each of so many cache lines. */
#define LINES      16384U
#define LINE_WORDS 16U
/* Coprime to LINES: a round reads each line once, and never two neighbours in a row. */
#define STEP 6421U

/* A handler can count only in a global; used in the measuring child alone. */
static volatile sig_atomic_t traps;

static void on_trap(int signal)
{
	(void)signal;
	traps++;
}

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* How traps are caused, and the work that they interrupt. */
struct trial {
	const volatile uint32_t
		*lines; /* each has the next one's index; NULL: no memory is used */
	uint32_t at;
	uint64_t rounds; /* for a slice */
	int event;       /* < 0: none; a signal in the middle of a slice imitates a timer's */
	int slices;
};

static void pass(struct trial *trial, uint64_t rounds)
{
	for (volatile uint64_t i = 0; i < rounds; i++) {
		if (trial->lines != NULL)
			trial->at = trial->lines[trial->at * LINE_WORDS];
	}
}

/* CPU time of work of a fixed size. */
static uint64_t work_ns(struct trial *trial, bool is_signalled)
{
	const uint64_t begin = cpu_now_ns();

	pass(trial, trial->rounds / 2);
	if (is_signalled)
		syscall(SYS_tgkill, getpid(), gettid(), SIGTRAP);
	pass(trial, trial->rounds / 2);
	return cpu_now_ns() - begin;
}

static int compare_i64(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The rounds that take SLICE_NS: by the quickest pass, for others may have been preempted. */
static uint64_t calibrate(struct trial *trial)
{
	uint64_t least_ns = UINT64_MAX;

	trial->rounds = LINES;
	for (int i = 0; i < CALIBRATIONS; i++) {
		const uint64_t took_ns = work_ns(trial, false);

		if (took_ns < least_ns)
			least_ns = took_ns;
	}
	return LINES * SLICE_NS / (least_ns + 1) + 1;
}

static long preemptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/*
 * What a trap cost in a slice beside one without.  False if there was none, or if the thread was
 * preempted: then the caches had to be filled again.
 */
static bool compare_slices(struct trial *trial, int64_t *out_cost_ns)
{
	const long preempted_before = preemptions();
	const int64_t bare_ns = (int64_t)work_ns(trial, false);
	const int before = traps;

	if (trial->event >= 0)
		ioctl(trial->event, PERF_EVENT_IOC_ENABLE, 0);
	const int64_t trapped_ns = (int64_t)work_ns(trial, trial->event < 0);

	if (trial->event >= 0)
		ioctl(trial->event, PERF_EVENT_IOC_DISABLE, 0);
	const int got = traps - before;

	if (got == 0 || preemptions() != preempted_before)
		return false;
	*out_cost_ns = (trapped_ns - bare_ns) / got;
	return true;
}

/* Slices alternate, so that a change of the machine's speed hits both. */
static int64_t run(struct trial *trial)
{
	int64_t costs[MOST_SLICES];
	int count = 0;

	trial->rounds = calibrate(trial);
	for (int i = 0; i < TRIES * trial->slices && count < trial->slices; i++)
		count += compare_slices(trial, &costs[count]);
	if (count == 0)
		return 0;
	qsort(costs, (size_t)count, sizeof costs[0], compare_i64);
	return costs[count / 2];
}

static uint32_t *lines_new(void)
{
	uint32_t *lines = mmap(NULL, LINES * LINE_WORDS * sizeof *lines, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (lines == MAP_FAILED)
		return NULL;
	for (uint32_t i = 0; i < LINES; i++)
		lines[i * LINE_WORDS] = (i + STEP) % LINES;
	return lines;
}

static int slices_for(uint64_t samples)
{
	return samples < SOME_SAMPLES   ? LEAST_SLICES
	       : samples < MANY_SAMPLES ? SOME_SLICES
					: MOST_SLICES;
}

/* The mean of the cost without and with much use of memory. */
static uint64_t measure(const uint32_t *lines, int event, uint64_t samples)
{
	const int slices = slices_for(samples);
	struct trial hot = { .event = event, .slices = slices };
	struct trial cold = { .lines = lines, .event = event, .slices = slices };
	const int64_t both_ns = run(&hot) + run(&cold);

	return both_ns > 0 ? (uint64_t)both_ns / 2 : 0;
}

static int open_event(const struct trigger_costs_terms *terms)
{
	const uint64_t period_ns = terms->period_ns > LONGEST_PERIOD_NS    ? LONGEST_PERIOD_NS
				   : terms->period_ns < SHORTEST_PERIOD_NS ? SHORTEST_PERIOD_NS
									   : terms->period_ns;

	return perf_open_sampler(getpid(),
				 &(struct perf_sampler){
					 .period_ns = period_ns,
					 .is_user_mode_only = terms->is_user_mode_only,
					 .is_off = true,
				 });
}

static uint64_t pack(uint64_t event_ns, uint64_t timer_ns)
{
	return (uint64_t)(uint32_t)event_ns << 32 | (uint32_t)timer_ns;
}

static uint64_t measure_in_child(const void *context)
{
	const struct trigger_costs_terms *terms = context;
	struct sigaction action = { .sa_handler = on_trap };
	const uint32_t *lines = lines_new();
	uint64_t event_ns = 0, timer_ns = 0;

	sigaction(SIGTRAP, &action, NULL);
	const int event = terms->event_samples > 0 ? open_event(terms) : -1;

	if (event >= 0)
		event_ns = measure(lines, event, terms->event_samples);
	if (terms->timer_samples > 0)
		timer_ns = measure(lines, -1, terms->timer_samples);
	return pack(event_ns, timer_ns);
}

struct trigger_costs trigger_costs_measure(const struct trigger_costs_terms *terms)
{
	if (terms->event_samples == 0 && terms->timer_samples == 0)
		return (struct trigger_costs){ 0 };
	const uint64_t both = child_measurement_run(measure_in_child, terms);

	return (struct trigger_costs){ .event_ns = both >> 32, .timer_ns = (uint32_t)both };
}
