#include "collect/costs/start_cost.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/environment.h"
#include "base/text.h"
#include "collect/events/exit_counters.h"
#include "collect/system/child_measurement.h"
#include "collect/events/perf_events.h"
#include "collect/events/sideband.h"

/* Of each kind. */
#define LEAST_RUNS   3
#define MOST_RUNS    5
#define CPU_NS_A_RUN 1000000000ULL
/* What they execute, when they have read a line: nothing, so many subshells, and programs. */
#define SUBSHELLS 8
#define PROGRAMS  4
#define NOTHING   "read line"
#define FORKS     NOTHING ";(:);(:);(:);(:);(:);(:);(:);(:);:"
#define EXECS     NOTHING ";/bin/true;/bin/true;/bin/true;/bin/true;:"
/* No process here burns so much: a hello is never said. */
#define LATE_NS "999999999"
/* None burns as much: no trap comes to it. */
#define SHELL_LIFE_NS 3000003ULL
/* As many as are measured. */
#define LEAST_FORKS 32
#define LEAST_EXECS 8
/* A start takes that much longer at the most. */
#define MOST_COST_NS  500000ULL
#define SAID_PERMILLE 10

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

static int open_sampler(pid_t pid, const struct start_costs_terms *terms)
{
	const uint64_t period_ns =
		terms->period_ns > SHELL_LIFE_NS ? terms->period_ns : SHELL_LIFE_NS;

	if (terms->period_ns == 0)
		return -1;
	return perf_open_sampler(pid, &(struct perf_sampler){
					      .period_ns = period_ns,
					      .is_user_mode_only = terms->is_user_mode_only,
				      });
}

/* How shells are run.  sampled: they have a sampling event as these terms say; NULL: none. */
struct shell {
	char *const *environment;
	const struct start_costs_terms *sampled;
};

/* CPU time of a shell that executes the script, and of its start; 0: it cannot be run. */
static uint64_t shell_ns(const struct shell *shell, const char *script)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	const uint64_t begin_ns = thread_cpu_ns();
	posix_spawn_file_actions_t actions;
	struct rusage usage = { 0 };
	int input[2], status = -1;
	pid_t pid;

	if (pipe2(input, O_CLOEXEC) < 0)
		return 0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
	const bool is_there =
		posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, shell->environment) == 0;
	const int event = is_there && shell->sampled ? open_sampler(pid, shell->sampled) : -1;
	const bool is_asked = write(input[1], "\n", 1) == 1;

	if (is_there)
		wait4(pid, &status, 0, &usage);
	posix_spawn_file_actions_destroy(&actions);
	close(input[0]);
	close(input[1]);
	if (event >= 0)
		close(event);
	if (!is_asked || status != 0)
		return 0;
	return thread_cpu_ns() - begin_ns + ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

/* What a process has that starts others. */
static void open_events(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);

	perf_open_counter(getpid(), true);
	for (int cpu = 0; cpu < cpus; cpu++)
		sideband_open_unread(getpid(), cpu);
	exit_counters_open(getpid());
}

static uint64_t lesser(uint64_t least_ns, uint64_t ns)
{
	return ns != 0 && (least_ns == 0 || ns < least_ns) ? ns : least_ns;
}

/* What shells take, the least of so many runs each: what else the machine does only adds to it. */
struct shells {
	int runs;
	bool wants_forks, wants_execs;
};

struct shell_times {
	uint64_t nothing_ns, forks_ns, execs_ns;
};

static struct shell_times run_shells(const struct shells *shells, const struct shell *shell)
{
	struct shell_times least = { 0 };

	for (int i = 0; i < shells->runs; i++) {
		least.nothing_ns = lesser(least.nothing_ns, shell_ns(shell, NOTHING));
		if (shells->wants_forks)
			least.forks_ns = lesser(least.forks_ns, shell_ns(shell, FORKS));
		if (shells->wants_execs)
			least.execs_ns = lesser(least.execs_ns, shell_ns(shell, EXECS));
	}
	return least;
}

static uint64_t more_of(uint64_t bare_ns, uint64_t recorded_ns)
{
	return bare_ns != 0 && recorded_ns > bare_ns ? recorded_ns - bare_ns : 0;
}

/* Both figures are of less than four seconds: the exec's in the upper half, the fork's below. */
static uint64_t pack(uint64_t exec_ns, uint64_t fork_ns)
{
	return (uint64_t)(uint32_t)exec_ns << 32 | (uint32_t)fork_ns;
}

struct question {
	const struct start_costs_terms *terms;
	struct shells shells;
};

/* In one child: to fork the recorder takes as long as a shell does. */
static uint64_t measure(const void *context)
{
	const struct question *question = context;
	const char *agent_path = question->terms->agent_path;
	struct text recorder = { 0 }, preload = { 0 };

	text_addf(&recorder, ENVIRONMENT_RECORDER ENVIRONMENT_DEFAULT "%c" LATE_NS ":%s:/none",
		  ENVIRONMENT_LATE, agent_path);
	text_addf(&preload, ENVIRONMENT_PRELOAD "%s", agent_path);
	char *const none[] = { NULL };
	char *const agent[] = { (char *)text_string(&recorder), (char *)text_string(&preload),
				NULL };
	const bool has_events = question->terms->has_events;
	const struct shell bare_shell = { .environment = none };
	const struct shell recorded_shell = { .environment = agent,
					      .sampled = has_events ? question->terms : NULL };
	const struct shell_times bare = run_shells(&question->shells, &bare_shell);

	if (has_events)
		open_events();
	const struct shell_times recorded = run_shells(&question->shells, &recorded_shell);
	const uint64_t shell_ns = more_of(bare.nothing_ns, recorded.nothing_ns);
	const uint64_t forks_ns = more_of(bare.forks_ns, recorded.forks_ns);
	const uint64_t execs_ns = more_of(bare.execs_ns, recorded.execs_ns);

	return pack(more_of(shell_ns, execs_ns) / PROGRAMS,
		    more_of(shell_ns, forks_ns) / SUBSHELLS);
}

static bool is_worth_measuring(uint64_t starts, uint64_t least, uint64_t cpu_ns)
{
	return starts >= least &&
	       (double)starts * MOST_COST_NS * 1000 >= (double)cpu_ns * SAID_PERMILLE;
}

/* Short recordings pay for it, too. */
static int runs_for(uint64_t cpu_ns)
{
	const uint64_t runs = cpu_ns / CPU_NS_A_RUN;

	return runs < LEAST_RUNS ? LEAST_RUNS : runs > MOST_RUNS ? MOST_RUNS : (int)runs;
}

struct start_costs start_costs_measure(const struct start_costs_terms *terms)
{
	const bool wants_forks = is_worth_measuring(terms->forks, LEAST_FORKS, terms->cpu_ns);
	const bool wants_execs = is_worth_measuring(terms->execs, LEAST_EXECS, terms->cpu_ns);
	const struct question question = {
		.terms = terms,
		.shells = { .runs = runs_for(terms->cpu_ns),
			    .wants_forks = wants_forks,
			    .wants_execs = wants_execs },
	};

	if (!wants_forks && !wants_execs)
		return (struct start_costs){ 0 };
	const uint64_t both = child_measurement_run(measure, &question);

	return (struct start_costs){
		.fork_ns = both & UINT32_MAX,
		.exec_ns = both >> 32,
	};
}
