/*
 * interruptible [TURNS [STOP_US]] - see interruptible.h; prints what each caller counted, as
 * JSON.
 *
 * Two more threads burn whatever time the others leave, so that traps come all the time.  With
 * STOP_US, all that is done by a child, which is stopped each time it has run for so long, and
 * continued; a second line says how often.
 */
#include "interruptible.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

#define CALLERS_MAX   64
#define BURNERS       2
#define DEFAULT_TURNS 2000

static struct caller callers[CALLERS_MAX];
static unsigned caller_count;
static volatile int is_over;

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct timespec timespec_of_ns(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };
}

void caller_lets_go(struct caller *caller)
{
	sem_post(&caller->go);
}

bool caller_is_interrupted(struct caller *caller, long result)
{
	if (result != -1 || errno != EINTR)
		return false;
	caller->interrupted++;
	return true;
}

void caller_judges(struct caller *caller, bool is_right)
{
	if (is_right)
		return;
	if (errno == EINTR) {
		caller->interrupted++;
	} else {
		caller->odd++;
		caller->odd_errno = errno;
	}
}

void caller_judges_time(struct caller *caller, bool is_right, uint64_t asked_ns)
{
	caller_judges(caller, is_right);
	caller->early +=
		is_right && clock_now_ns(CLOCK_MONOTONIC) < caller->begin_ns + asked_ns;
}

/* 20,000 steps are about 15 us. */
static void compute_a_while(uint64_t turn)
{
	volatile uint64_t sink = compute(truth_vary(turn, 10000, 50000));

	(void)sink;
}

static void *call_and_call(void *argument)
{
	struct caller *caller = argument;

	for (uint64_t turn = 0; turn < caller->turns; turn++) {
		compute_a_while(turn);
		caller->begin_ns = clock_now_ns(CLOCK_MONOTONIC);
		errno = 0;
		caller->row->call(caller);
		caller->made++;
	}
	return NULL;
}

static void *wake_and_wake(void *argument)
{
	struct caller *caller = argument;

	for (uint64_t turn = 0; turn < caller->turns; turn++) {
		while (sem_wait(&caller->go) != 0)
			caller->interrupted++;
		compute_a_while(turn + caller->turns);
		caller->row->wake(caller);
	}
	return NULL;
}

static void *burn(void *argument)
{
	/* On Linux niceness is the thread's. */
	setpriority(PRIO_PROCESS, 0, 19);
	while (!is_over)
		compute_a_while(0);
	return argument;
}

static void start(pthread_t *thread, void *(*run)(void *), void *argument)
{
	if (pthread_create(thread, NULL, run, argument) != 0)
		abort();
}

static void add_callers(const struct row *rows, uint64_t turns)
{
	for (; rows->name != NULL; rows++) {
		struct caller *caller = &callers[caller_count];

		if (++caller_count > CALLERS_MAX)
			abort();
		caller->row = rows;
		caller->turns = rows->turns_per_call ? turns / rows->turns_per_call : turns;
		if (sem_init(&caller->go, 0, 0) != 0 ||
		    (rows->prepare != NULL && rows->prepare(caller) != 0)) {
			perror(rows->name);
			exit(2);
		}
	}
}

static void run_all(void)
{
	pthread_t burners[BURNERS];

	for (unsigned i = 0; i < BURNERS; i++)
		start(&burners[i], burn, NULL);
	for (unsigned i = 0; i < caller_count; i++) {
		start(&callers[i].thread, call_and_call, &callers[i]);
		if (callers[i].row->wake != NULL)
			start(&callers[i].partner, wake_and_wake, &callers[i]);
	}
	for (unsigned i = 0; i < caller_count; i++) {
		pthread_join(callers[i].thread, NULL);
		if (callers[i].row->wake != NULL)
			pthread_join(callers[i].partner, NULL);
	}
	is_over = 1;
	for (unsigned i = 0; i < BURNERS; i++)
		pthread_join(burners[i], NULL);
}

static void print_all(void)
{
	const char *separator = "";

	printf("{");
	for (unsigned i = 0; i < caller_count; i++) {
		const struct caller *c = &callers[i];

		printf("%s\"%s\": {\"made\": %" PRIu64 ", \"eintr\": %" PRIu64
		       ", \"early\": %" PRIu64 ", \"odd\": %" PRIu64 ", \"odd_errno\": %d}",
		       separator, c->row->name, c->made, c->interrupted, c->early, c->odd,
		       c->odd_errno);
		separator = ", ";
	}
	printf("}\n");
}

static int make_all_calls(uint64_t turns)
{
	sigset_t waited_for;

	/* For the rows that wait for signals; every thread blocks them. */
	sigemptyset(&waited_for);
	sigaddset(&waited_for, SIGUSR1);
	sigaddset(&waited_for, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &waited_for, NULL);
	add_callers(timed_rows, turns);
	add_callers(woken_rows, turns);
	run_all();
	print_all();
	return fflush(stdout);
}

/* Returns how the child ended. */
static int stop_and_continue(pid_t child, useconds_t after_us)
{
	uint64_t stops = 0;
	int status;

	for (;; stops++) {
		usleep(after_us);
		kill(child, SIGSTOP);
		if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
			break;
		kill(child, SIGCONT);
	}
	printf("{\"stops\": %" PRIu64 "}\n", stops);
	return status;
}

int main(int argc, char **argv)
{
	const uint64_t turns = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_TURNS;

	if (argc <= 2)
		return make_all_calls(turns);
	const pid_t child = fork();

	if (child == 0)
		return make_all_calls(turns);
	return child < 0 || stop_and_continue(child, (useconds_t)atoi(argv[2])) != 0;
}
