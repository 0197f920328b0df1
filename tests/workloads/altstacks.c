/*
 * altstacks - small alternate signal stacks, and what sigaltstack() says of them.
 *
 *	altstacks say          what every kind of call answers
 *	altstacks compute N    handlers compute on stacks of N bytes; counts bytes written below
 *	altstacks threads      200 threads with a small stack each
 *	altstacks coroutines   three of them, on stacks that were signal stacks for a moment
 */
#include "truth.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BELOW      65536
#define PAINT      0x5a
#define BIG        65536
#define SMALL      4096
#define AUTODISARM (1U << 31)

static char stacks[2][BELOW + BIG] __attribute__((aligned(64)));
static volatile int has_computed;

/* Nothing is called from here: a handler that does needs a larger stack. */
static void compute_on_it(int signal)
{
	uint64_t x = (uint64_t)signal;

	for (int i = 0; i < 2000000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	has_computed = 1;
}

static const char *name_of(const void *address)
{
	return address == NULL                ? "nothing"
	       : address == stacks[0] + BELOW ? "the first"
	       : address == stacks[1] + BELOW ? "the second"
					      : "something else";
}

static int say(const char *what, int rc, const stack_t *old)
{
	const int error = rc == 0 ? 0 : errno;

	printf("%s: %d (%s)", what, rc, strerror(error));
	if (rc == 0 && old != NULL)
		printf(", was %s, %zu bytes, flags %x", name_of(old->ss_sp), old->ss_size,
		       (unsigned int)old->ss_flags);
	printf("\n");
	return rc;
}

static stack_t stack_of(int which, size_t size, int flags)
{
	return (stack_t){ .ss_sp = stacks[which] + BELOW, .ss_size = size, .ss_flags = flags };
}

static void set(const char *what, stack_t stack)
{
	stack_t old;

	memset(&old, 0, sizeof old);
	say(what, sigaltstack(&stack, &old), &old);
}

static void ask(const char *what)
{
	stack_t old;

	memset(&old, 0, sizeof old);
	say(what, sigaltstack(NULL, &old), &old);
}

static void on_it(int signal)
{
	(void)signal;
	ask("asked on it");
	set("set on it", stack_of(1, BIG, 0));
	set("disabled on it", (stack_t){ .ss_flags = SS_DISABLE });
}

static void handle(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaction(SIGUSR1, &action, NULL);
}

static void say_in_child(void)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ask("asked in a child");
		handle(compute_on_it);
		raise(SIGUSR1);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void *say_in_thread(void *argument)
{
	ask("asked in a thread");
	set("first in a thread", stack_of(0, 16000, 0));
	return argument;
}

static int say_all(void)
{
	stack_t same = stack_of(0, 9000, 0), *volatile place = &same;
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 4096);
	ask("asked");
	set("too small", stack_of(0, 2047, 0));
	set("of a strange kind", stack_of(0, SMALL, 77));
	say("from nowhere", sigaltstack((const stack_t *)8, NULL), NULL);
	set("small", stack_of(0, 5000, 0));
	ask("asked");
	set("another small one", stack_of(1, 6000, SS_ONSTACK));
	set("the first again", stack_of(0, 5000, 0));
	say("to nowhere", sigaltstack(NULL, (stack_t *)8), NULL);
	say("both in one place", sigaltstack(&same, place), &same);
	ask("asked");
	set("a large one", stack_of(1, BIG, 0));
	set("one that disarms itself", stack_of(0, SMALL, (int)AUTODISARM));
	ask("asked");
	set("disabled", (stack_t){ .ss_flags = SS_DISABLE });
	ask("asked");
	set("one to be on", stack_of(0, 12000, 0));
	handle(on_it);
	raise(SIGUSR1);
	ask("asked");
	say_in_child();
	pthread_create(&thread, NULL, say_in_thread, NULL);
	pthread_join(thread, NULL);
	ask("asked");
	return 0;
}

/*
 * Coroutines as GNU Pth makes them: a handler on an alternate stack leaves its registers in a
 * buffer and returns; the stack is no signal stack any more, and is jumped back to.
 */
#define COROUTINES 3

static jmp_buf coroutines[COROUTINES], outside;
static volatile int current;
static volatile uint64_t turns[COROUTINES];

static void be_coroutine(int signal)
{
	if (_setjmp(coroutines[current]) == 0)
		return;
	for (;;) {
		compute_on_it(signal);
		turns[current]++;
		if (_setjmp(coroutines[current]) == 0)
			_longjmp(outside, 1);
	}
}

static int run_coroutines(void)
{
	static char pages[COROUTINES][6000] __attribute__((aligned(64)));
	static volatile int turn;

	handle(be_coroutine);
	for (current = 0; current < COROUTINES; current++) {
		stack_t stack = { .ss_sp = pages[current], .ss_size = sizeof pages[current] };

		sigaltstack(&stack, NULL);
		raise(SIGUSR1);
		stack = (stack_t){ .ss_flags = SS_DISABLE };
		sigaltstack(&stack, NULL);
	}
	for (turn = 0; turn < 100 * COROUTINES; turn++) {
		current = turn % COROUTINES;
		if (_setjmp(outside) == 0)
			_longjmp(coroutines[current], 1);
	}
	truth_add(TRUTH_COUNT, "turns", turns[0] + turns[1] + turns[2]);
	truth_print();
	return 0;
}

static uint64_t bytes_gone(const char *below)
{
	size_t i = 0;

	while (i < BELOW && below[i] == PAINT)
		i++;
	return BELOW - i;
}

static int compute_on(size_t size)
{
	stack_t stack = stack_of(0, size, 0);

	memset(stacks[0], PAINT, BELOW);
	if (sigaltstack(&stack, NULL) != 0)
		return 3;
	handle(compute_on_it);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	truth_add(TRUTH_COUNT, "computed", (uint64_t)has_computed);
	truth_add(TRUTH_COUNT, "bytes_below", bytes_gone(stacks[0]));
	truth_print();
	return 0;
}

static void *have_small_stack(void *argument)
{
	stack_t stack = { .ss_sp = argument, .ss_size = SMALL };

	sigaltstack(&stack, NULL);
	raise(SIGUSR1);
	return argument;
}

static uint64_t count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t count = 0;
	int c;

	while (maps != NULL && (c = fgetc(maps)) != EOF)
		count += c == '\n';
	fclose(maps);
	return count;
}

static int many_threads(void)
{
	uint64_t before = 0;

	handle(compute_on_it);
	for (int i = 0; i < 200; i++) {
		pthread_t threads[2];

		for (int k = 0; k < 2; k++)
			pthread_create(&threads[k], NULL, have_small_stack, stacks[k] + BELOW);
		for (int k = 0; k < 2; k++)
			pthread_join(threads[k], NULL);
		if (i == 20)
			before = count_mappings();
	}
	truth_add(TRUTH_COUNT, "mappings_grow", count_mappings() > before + 20);
	truth_print();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "say") == 0)
		return say_all();
	if (argc == 3 && strcmp(argv[1], "compute") == 0)
		return compute_on(strtoul(argv[2], NULL, 10));
	if (argc == 2 && strcmp(argv[1], "threads") == 0)
		return many_threads();
	if (argc == 2 && strcmp(argv[1], "coroutines") == 0)
		return run_coroutines();
	fprintf(stderr, "usage: altstacks say | compute BYTES | threads | coroutines\n");
	return 2;
}
