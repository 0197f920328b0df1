#include "collect/costs/switch_cost.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/events/cpu_meter.h"
#include "collect/events/perf_events.h"
#include "collect/events/sideband.h"

#define ROUND_TRIPS 100
/* struct switch_costs has the median of this many turns. */
#define TURNS            5
#define TURN_ROUND_TRIPS 30
/* More between threads, where the difference is smaller. */
#define THREAD_ROUND_TRIPS 300
#define BETWEEN_TURNS_NS   700000
/* Nearly always ends before the next scheduler tick; never does. */
#define SHORT_PERIOD_NS 500000ULL
#define LONG_PERIOD_NS  100000000000ULL

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static uint64_t thread_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static int open_sampler(uint64_t period_ns)
{
	return perf_open_sampler((pid_t)gettid(), &(struct perf_sampler){
							  .period_ns = period_ns,
							  .is_user_mode_only = true,
						  });
}

/* Sends each byte back until the pipe is closed. */
static void echo(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		continue;
}

static void ping(int to, int from, int round_trips)
{
	char byte = 0;

	for (int i = 0; i < round_trips; i++) {
		if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
			return;
	}
}

/*
 * The period matters: a timer that would expire before the scheduler's tick makes each switch
 * reprogram the machine's timer.
 */
static uint64_t measure(int to, int from, uint64_t period_ns)
{
	int event = open_sampler(period_ns);

	if (event < 0)
		return 0;
	const uint64_t counted = perf_read_counter(event), cpu = thread_cpu_ns();
	const uint64_t switches = thread_switches();

	ping(to, from, ROUND_TRIPS);
	const uint64_t counted_ns = perf_read_counter(event) - counted;
	const uint64_t cpu_ns = thread_cpu_ns() - cpu, more = thread_switches() - switches;

	if (more == 0 || cpu_ns <= counted_ns)
		return 0;
	return (cpu_ns - counted_ns) / more;
}

/* The process or thread at the other end of two pipes, which echoes. */
struct partner {
	pid_t pid; /* 0: a thread */
	pthread_t thread;
	int to, from;
	int its_from, its_to;
};

/* begin() is called in the process first, to open the caller's events there as well. */
static bool partner_start(struct partner *partner, void (*begin)(const void *context),
			  const void *context)
{
	int there[2], back[2];

	if (pipe(there) < 0 || pipe(back) < 0)
		return false;
	signal(SIGTRAP, SIG_IGN);
	partner->pid = fork();
	if (partner->pid == 0) {
		close(there[1]);
		begin(context);
		echo(there[0], back[1]);
		_exit(0);
	}
	close(back[1]);
	partner->to = there[1];
	partner->from = back[0];
	return partner->pid > 0;
}

static void *echo_thread(void *context)
{
	const struct partner *partner = context;

	echo(partner->its_from, partner->its_to);
	return NULL;
}

/* Starts a thread, which inherits the caller's events. */
static bool partner_start_thread(struct partner *partner)
{
	int there[2], back[2];

	if (pipe(there) < 0 || pipe(back) < 0)
		return false;
	*partner = (struct partner){
		.to = there[1], .from = back[0], .its_from = there[0], .its_to = back[1]
	};
	return pthread_create(&partner->thread, NULL, echo_thread, partner) == 0;
}

static void partner_end(const struct partner *partner)
{
	close(partner->to);
	if (partner->pid != 0)
		waitpid(partner->pid, NULL, 0);
	else
		pthread_join(partner->thread, NULL);
}

static void begin_sampled(const void *context)
{
	open_sampler(*(const uint64_t *)context);
}

/* Runs in a child of the recorder. */
static uint64_t measure_in_child(const void *context)
{
	struct partner partner;

	if (!partner_start(&partner, begin_sampled, context))
		return 0;
	const uint64_t cost_ns = measure(partner.to, partner.from, *(const uint64_t *)context);

	partner_end(&partner);
	return cost_ns;
}

uint64_t switch_cost_measure(uint64_t period_ns)
{
	return child_measurement_run(measure_in_child, &period_ns);
}

/* One measurement: which events both ends have. */
struct with_events {
	const struct switch_costs_terms *terms;
	bool has_tree;
	bool is_thread;     /* the other end is a thread */
	uint64_t period_ns; /* of a sampler; 0: none */
};

/* Returns the sampler's descriptor; -1: none. */
static int open_events(const struct with_events *with)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (with->has_tree)
		perf_open_counter((pid_t)gettid(), true);
	for (int cpu = 0; with->has_tree && with->terms->has_sideband && cpu < cpus; cpu++)
		sideband_open_unread((pid_t)gettid(), cpu);
	if (with->period_ns == 0)
		return -1;
	return perf_open_sampler((pid_t)gettid(),
				 &(struct perf_sampler){
					 .period_ns = with->period_ns,
					 .is_user_mode_only = with->terms->is_user_mode_only,
				 });
}

static void begin_with_events(const void *context)
{
	open_events(context);
}

static void stay_on_one_processor(void)
{
	const int cpu = sched_getcpu();
	cpu_set_t one;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

static uint64_t both_cpu_ns(const struct partner *partner)
{
	if (partner->pid == 0)
		return cpu_meter_process_ns(getpid());
	return thread_cpu_ns() + cpu_meter_process_ns(partner->pid);
}

/* CPU time of both ends for one context switch. */
static uint64_t measure_turn(const struct partner *partner)
{
	const uint64_t before_ns = both_cpu_ns(partner);

	const int round_trips = partner->pid == 0 ? THREAD_ROUND_TRIPS : TURN_ROUND_TRIPS;

	ping(partner->to, partner->from, round_trips);
	return (both_cpu_ns(partner) - before_ns) / (uint64_t)(2 * round_trips);
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t more_than(uint64_t bare_ns, uint64_t with_ns)
{
	return bare_ns != 0 && with_ns > bare_ns ? with_ns - bare_ns : 0;
}

/* The part of the calling thread's CPU clock that its sampler has not counted. */
static uint64_t missed_by(int event)
{
	const uint64_t counted_ns = event < 0 ? 0 : perf_read_counter(event);
	const uint64_t clock_ns = thread_cpu_ns();

	return event >= 0 && clock_ns > counted_ns ? clock_ns - counted_ns : 0;
}

static uint64_t pack(uint64_t high, uint64_t low)
{
	return (high < UINT32_MAX ? high : UINT32_MAX) << 32 |
	       (low < UINT32_MAX ? low : UINT32_MAX);
}

/* Medians; upper half: CPU time of a switch; lower half: the part that this sampler misses. */
static uint64_t measure_turns(const void *context)
{
	const struct with_events *with = context;
	uint64_t turns[TURNS], gaps[TURNS];
	struct partner partner;

	stay_on_one_processor();
	signal(SIGTRAP, SIG_IGN);
	if (!with->is_thread && !partner_start(&partner, begin_with_events, context))
		return 0;
	const int event = open_events(with);

	if (with->is_thread && !partner_start_thread(&partner))
		return 0;
	/* Wait until the other end has started. */
	ping(partner.to, partner.from, TURN_ROUND_TRIPS);
	for (int i = 0; i < TURNS; i++) {
		/* Space the turns, so that few of them are near the next tick. */
		nanosleep(&(struct timespec){ .tv_nsec = BETWEEN_TURNS_NS }, NULL);
		const uint64_t missed_ns = missed_by(event);

		turns[i] = measure_turn(&partner);
		gaps[i] = more_than(missed_ns, missed_by(event)) / TURN_ROUND_TRIPS;
	}
	partner_end(&partner);
	qsort(turns, TURNS, sizeof turns[0], compare_u64);
	qsort(gaps, TURNS, sizeof gaps[0], compare_u64);
	return pack(turns[TURNS / 2], gaps[TURNS / 2]);
}

/* The CPU time for a switch that measure_turns() finds. */
static uint64_t turn_of(const struct with_events *with)
{
	return child_measurement_run(measure_turns, with) >> 32;
}

double switch_costs_of_siblings(const struct switch_costs *costs, uint64_t switches,
				uint64_t missed_ns)
{
	const double count = (double)switches;
	double others = costs->gap_ns == 0 ? count : (double)missed_ns / (double)costs->gap_ns;

	if (others > count)
		others = count;
	return others * (double)costs->all_ns + (count - others) * (double)costs->siblings_ns;
}

double switch_cost_nearer(uint64_t period_ns, uint64_t tick_ns)
{
	const double period = (double)period_ns, tick = (double)tick_ns;

	return period < tick ? 1 - period / (2 * tick) : tick / (2 * period);
}

static uint64_t tick_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0 || tick.tv_nsec <= 0)
		return 4000000;
	return (uint64_t)tick.tv_nsec;
}

/* Four figures of 16 bits, each of at most 65 us. */
static uint64_t pack_costs(const struct switch_costs *costs)
{
	const uint64_t figures[] = { costs->tree_ns, costs->all_ns, costs->siblings_ns,
				     costs->gap_ns };
	uint64_t packed = 0;

	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		packed = packed << 16 | (figures[i] < UINT16_MAX ? figures[i] : UINT16_MAX);
	return packed;
}

static struct switch_costs unpack_costs(uint64_t packed)
{
	return (struct switch_costs){ .tree_ns = packed >> 48,
				      .all_ns = (uint16_t)(packed >> 32),
				      .siblings_ns = (uint16_t)(packed >> 16),
				      .gap_ns = (uint16_t)packed };
}

static double between(uint64_t far, uint64_t near, double share)
{
	return near > far ? (double)far + share * (double)(near - far) : (double)far;
}

static uint64_t measure_costs(const void *context)
{
	const struct switch_costs_terms *terms = context;
	const struct with_events bare = { .terms = terms };
	const struct with_events tree = { .terms = terms, .has_tree = true };
	const struct with_events bare_thread = { .terms = terms, .is_thread = true };
	struct with_events all = { .terms = terms, .has_tree = true };

	const uint64_t bare_ns = turn_of(&bare), tree_ns = turn_of(&tree);
	const uint64_t bare_thread_ns = turn_of(&bare_thread);

	all.period_ns = LONG_PERIOD_NS;
	const uint64_t far = child_measurement_run(measure_turns, &all);

	all.period_ns = SHORT_PERIOD_NS;
	const uint64_t near = child_measurement_run(measure_turns, &all);

	all.is_thread = true;
	const uint64_t thread_ns = turn_of(&all);
	const double share = switch_cost_nearer(terms->period_ns, tick_ns()) /
			     switch_cost_nearer(SHORT_PERIOD_NS, tick_ns());
	const struct switch_costs costs = {
		.tree_ns = more_than(bare_ns, tree_ns),
		.all_ns = more_than(bare_ns, (uint64_t)between(far >> 32, near >> 32, share)),
		.siblings_ns = more_than(bare_thread_ns, thread_ns),
		.gap_ns = (uint64_t)between((uint32_t)far, (uint32_t)near, share),
	};

	return pack_costs(&costs);
}

void switch_costs_begin(struct switch_costs_measuring *measuring,
			const struct switch_costs_terms *terms)
{
	measuring->terms = *terms;
	child_measurement_begin(&measuring->child, measure_costs, &measuring->terms);
}

bool switch_costs_take(struct switch_costs_measuring *measuring, bool must_wait,
		       struct switch_costs *out_costs)
{
	uint64_t costs;

	if (!child_measurement_take(&measuring->child, must_wait, &costs))
		return false;
	*out_costs = unpack_costs(costs);
	return true;
}
