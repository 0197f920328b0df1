#include "collect/costs/start_cost.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
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

/* Runs of each script. */
#define LEAST_RUNS   5
#define MOST_RUNS    9
#define CPU_NS_A_RUN 1000000000ULL
/*
 * The scripts, each of which first reads a line: nothing more, SUBSHELLS subshells, or PROGRAMS
 * programs.
 */
/*
 * With 8 subshells the figure was half too large, since the first forks of a shell cost more.
 */
#define SUBSHELLS 24
#define PROGRAMS  4
#define NOTHING   "read line"
#define EIGHT     ";(:);(:);(:);(:);(:);(:);(:);(:)"
#define FORKS     NOTHING EIGHT EIGHT EIGHT ";:"
#define EXECS     NOTHING ";/bin/true;/bin/true;/bin/true;/bin/true;:"
/*
 * CPU time after which an agent does its handshake: no process here uses as much, so none does.
 */
#define DELAY_NS "999999999"
/* The shortest period: no process here uses as much CPU time, so none gets a trap. */
#define SHELL_LIFE_NS 30000001ULL
/* Fewer in the recording are not measured: the measurement makes about as many itself. */
#define LEAST_FORKS 32
#define LEAST_EXECS 8
/* An upper bound of one start's extra cost. */
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

/* How shells are run.  sampled: with a sampling event by these terms; NULL: without. */
struct shell {
	char *const *environment;
	const struct start_costs_terms *sampled;
};

/* CPU time of a shell that executes the script, including its start; 0: it cannot be run. */
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

/* Opens the events that a recorded process passes on to its children. */
static void open_events(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);

	perf_open_counter(getpid(), true);
	for (int cpu = 0; cpu < cpus; cpu++)
		sideband_open_unread(getpid(), cpu);
	exit_counters_open(getpid());
}

/*
 * A child process that runs shells without events of ours: in this process all shells inherit
 * them.  Bare and recorded shells alternate, so that a change of the machine's speed affects
 * both.
 */
struct bare_side {
	pid_t pid;
	int ask, answer; /* pipes: a script's letter goes in, its CPU time comes out */
};

static const char *script_of(char letter)
{
	return letter == 'f' ? FORKS : letter == 'e' ? EXECS : NOTHING;
}

static void serve(int asked, int answer)
{
	char *const none[] = { NULL };
	const struct shell shell = { .environment = none };
	char letter;

	while (read(asked, &letter, 1) == 1) {
		const uint64_t ns = shell_ns(&shell, script_of(letter));

		if (write(answer, &ns, sizeof ns) != sizeof ns)
			return;
	}
}

static bool bare_side_begin(struct bare_side *side)
{
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0)
		return false;
	side->pid = fork();
	if (side->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ask[1]);
		serve(ask[0], answer[1]);
		_exit(0);
	}
	close(ask[0]);
	close(answer[1]);
	side->ask = ask[1];
	side->answer = answer[0];
	return side->pid > 0;
}

static void bare_side_end(const struct bare_side *side)
{
	close(side->ask);
	waitpid(side->pid, NULL, 0);
}

/* How much longer a script takes with the agent and events; false: it cannot be run. */
static bool more_ns(const struct bare_side *side, const struct shell *recorded, char letter,
		    int64_t *out_ns)
{
	uint64_t bare_ns = 0;

	if (write(side->ask, &letter, 1) != 1 ||
	    read(side->answer, &bare_ns, sizeof bare_ns) != sizeof bare_ns)
		return false;
	const uint64_t recorded_ns = shell_ns(recorded, script_of(letter));

	*out_ns = (int64_t)recorded_ns - (int64_t)bare_ns;
	return bare_ns != 0 && recorded_ns != 0;
}

struct question {
	const struct start_costs_terms *terms;
	int runs;
	bool wants_forks, wants_execs;
};

/* The extra cost of a fork and of a program, in each run. */
struct runs {
	int64_t forks_ns[MOST_RUNS], execs_ns[MOST_RUNS];
};

/*
 * The shell counts as one of the programs: with nothing to do, its start has the same extra
 * cost.
 */
static bool run_shells(const struct question *question, const struct bare_side *side,
		       const struct shell *recorded, struct runs *out)
{
	const int programs = question->wants_execs ? PROGRAMS : 0;

	for (int i = 0; i < question->runs; i++) {
		int64_t programs_ns, forks_ns = 0;

		if (!more_ns(side, recorded, programs > 0 ? 'e' : 'n', &programs_ns) ||
		    (question->wants_forks && !more_ns(side, recorded, 'f', &forks_ns)))
			return false;
		out->execs_ns[i] = programs_ns / (programs + 1);
		out->forks_ns[i] = (forks_ns - out->execs_ns[i]) / SUBSHELLS;
	}
	return true;
}

static int compare_i64(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(int64_t *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, compare_i64);
	return values[count / 2] > 0 ? (uint64_t)values[count / 2] : 0;
}

/*
 * Both figures are below four seconds, so each fits into 32 bits: the exec's in the upper half.
 */
static uint64_t pack(uint64_t exec_ns, uint64_t fork_ns)
{
	return (uint64_t)(uint32_t)exec_ns << 32 | (uint32_t)fork_ns;
}

static uint64_t measure_beside(const struct question *question, const struct bare_side *side)
{
	const bool has_events = question->terms->has_events;
	const char *agent_path = question->terms->agent_path;
	struct text recorder = { 0 }, preload = { 0 };
	struct runs runs;

	text_addf(&recorder, ENVIRONMENT_RECORDER ENVIRONMENT_DEFAULT "%c" DELAY_NS ":%s:/none",
		  ENVIRONMENT_DELAYED, agent_path);
	text_addf(&preload, ENVIRONMENT_PRELOAD "%s", agent_path);
	char *const agent[] = { (char *)text_string(&recorder), (char *)text_string(&preload),
				NULL };
	const struct shell recorded = { .environment = agent,
					.sampled = has_events ? question->terms : NULL };

	if (has_events)
		open_events();
	if (!run_shells(question, side, &recorded, &runs))
		return 0;
	return pack(question->wants_execs ? median(runs.execs_ns, question->runs) : 0,
		    question->wants_forks ? median(runs.forks_ns, question->runs) : 0);
}

/* Runs in a child of the recorder: a fork of the recorder itself takes as long as a shell. */
static uint64_t measure(const void *context)
{
	struct bare_side side;

	if (!bare_side_begin(&side))
		return 0;
	const uint64_t both = measure_beside(context, &side);

	bare_side_end(&side);
	return both;
}

static bool is_worth_measuring(uint64_t starts, uint64_t least, uint64_t cpu_ns)
{
	return starts >= least &&
	       (double)starts * MOST_COST_NS * 1000 >= (double)cpu_ns * SAID_PERMILLE;
}

/* Short recordings get fewer runs: the user waits for the measurement. */
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
		.runs = runs_for(terms->cpu_ns),
		.wants_forks = wants_forks,
		.wants_execs = wants_execs,
	};

	if (!wants_forks && !wants_execs)
		return (struct start_costs){ 0 };
	const uint64_t both = child_measurement_run(measure, &question);

	return (struct start_costs){
		.fork_ns = both & UINT32_MAX,
		.exec_ns = both >> 32,
	};
}
