#include "collect/start_cost.h"

#include <spawn.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/environment.h"
#include "base/text.h"
#include "collect/exit_counters.h"
#include "collect/in_child.h"
#include "collect/perf_events.h"
#include "collect/sideband.h"

#define RUNS 5
/* What they execute: nothing, and so many subshells. */
#define SUBSHELLS 8
#define NOTHING   ":"
#define FORKS     "(:);(:);(:);(:);(:);(:);(:);(:);:"
/* No process here burns so much: a hello is never said. */
#define LATE_NS "999999999"
/* As many as are measured. */
#define LEAST_FORKS 32
#define LEAST_EXECS 8
/* A start takes that much longer at the most. */
#define MOST_COST_NS  500000ULL
#define TOLD_PERMILLE 10

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000ULL + (uint64_t)time.tv_usec * 1000ULL;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* CPU time of a shell that executes the script, and of its start; 0: it cannot be run. */
static uint64_t shell_ns(const char *script, char *const *environment)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	const uint64_t begin_ns = thread_cpu_ns();
	struct rusage usage;
	int status;
	pid_t pid;

	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environment) != 0 ||
	    wait4(pid, &status, 0, &usage) < 0 || status != 0)
		return 0;
	return thread_cpu_ns() - begin_ns + ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

static void open_events(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);

	perf_open_counter(getpid(), true);
	for (int cpu = 0; cpu < cpus; cpu++)
		sideband_open_unread(getpid(), cpu);
	exit_counters_open(getpid());
}

/* One of the measurements. */
struct with {
	const struct start_costs_terms *terms;
	const char *script;
	bool is_recorded;
};

static uint64_t measure(const void *context)
{
	const struct with *with = context;
	const char *agent_path = with->terms->agent_path;
	struct text recorder = { 0 }, preload = { 0 };

	text_addf(&recorder, ENVIRONMENT_RECORDER ENVIRONMENT_DEFAULT "%c" LATE_NS ":%s:/none",
		  ENVIRONMENT_LATE, agent_path);
	text_addf(&preload, ENVIRONMENT_PRELOAD "%s", agent_path);
	char *const bare[] = { NULL };
	char *const recorded[] = { (char *)text_string(&recorder),
				   (char *)text_string(&preload), NULL };

	if (with->is_recorded && with->terms->has_events)
		open_events();
	return shell_ns(with->script, with->is_recorded ? recorded : bare);
}

static uint64_t lesser(uint64_t least_ns, uint64_t ns)
{
	return ns != 0 && (least_ns == 0 || ns < least_ns) ? ns : least_ns;
}

/* In turn, and the least of each: what else the machine does only adds to it. */
static uint64_t more_of(const struct start_costs_terms *terms, const char *script)
{
	const struct with bare = { .terms = terms, .script = script };
	const struct with recorded = { .terms = terms, .script = script, .is_recorded = true };
	uint64_t bare_ns = 0, recorded_ns = 0;

	for (int i = 0; i < RUNS; i++) {
		bare_ns = lesser(bare_ns, in_child(measure, &bare));
		recorded_ns = lesser(recorded_ns, in_child(measure, &recorded));
	}
	return bare_ns != 0 && recorded_ns > bare_ns ? recorded_ns - bare_ns : 0;
}

static bool is_worth_measuring(uint64_t starts, uint64_t least, uint64_t cpu_ns)
{
	return starts >= least &&
	       (double)starts * MOST_COST_NS * 1000 >= (double)cpu_ns * TOLD_PERMILLE;
}

struct start_costs start_costs_measure(const struct start_costs_terms *terms)
{
	const bool wants_forks = is_worth_measuring(terms->forks, LEAST_FORKS, terms->cpu_ns);
	const bool wants_execs = is_worth_measuring(terms->execs, LEAST_EXECS, terms->cpu_ns);
	const uint64_t exec_ns = wants_forks || wants_execs ? more_of(terms, NOTHING) : 0;
	const uint64_t all_ns = wants_forks ? more_of(terms, FORKS) : 0;

	return (struct start_costs){
		.fork_ns = all_ns > exec_ns ? (all_ns - exec_ns) / SUBSHELLS : 0,
		.exec_ns = wants_execs ? exec_ns : 0,
	};
}
