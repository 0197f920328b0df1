/*
 * small_stacks - computes on the smallest stacks there are: 300 threads with PTHREAD_STACK_MIN
 * bytes, and coroutines on two pages between pages that cannot be written.
 *
 *	small_stacks filtered    only a coroutine, deeper than a page, behind a seccomp filter
 *				 that allows everything
 *	small_stacks ends	 a thread ends behind a filter that kills for sigaltstack(2)
 *	small_stacks full N      four threads compute with 256 bytes left of a coroutine's page,
 *				 N of them with an alternate stack of their own
 */
#include "truth.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define THREADS    300
#define AT_ONCE    30
#define COROUTINES 300
#define PAGE       4096UL

static volatile uint64_t sink;
static ucontext_t outside, inside;

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void *run(void *argument)
{
	sink = compute(1000000);
	return argument;
}

static void run_threads(void)
{
	pthread_t threads[AT_ONCE];
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (int i = 0; i < THREADS / AT_ONCE; i++) {
		for (int k = 0; k < AT_ONCE; k++) {
			if (pthread_create(&threads[k], &attributes, run, NULL) != 0)
				abort();
		}
		for (int k = 0; k < AT_ONCE; k++)
			pthread_join(threads[k], NULL);
	}
}

static void be_coroutine(void)
{
	sink = compute(1000000);
	swapcontext(&inside, &outside);
}

static void run_coroutines(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			abort();
		mprotect(pages, PAGE, PROT_NONE);
		mprotect(pages + 3 * PAGE, PAGE, PROT_NONE);
		getcontext(&inside);
		inside.uc_stack.ss_sp = pages + PAGE;
		inside.uc_stack.ss_size = 2 * PAGE;
		makecontext(&inside, be_coroutine, 0);
		swapcontext(&outside, &inside);
		munmap(pages, 4 * PAGE);
	}
}

KEEP static uint64_t filtered_work(int depth)
{
	volatile char room[512];

	memset((char *)room, depth, sizeof room);
	return depth == 0 ? compute(300000000) : filtered_work(depth - 1) + (uint64_t)room[3];
}

static void be_deep(void)
{
	sink = filtered_work(24);
	swapcontext(&inside, &outside);
}

static int run_filtered(void)
{
	static char stack[16 * PAGE];
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { .len = 1, .filter = &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 77;
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof stack;
	makecontext(&inside, be_deep, 0);
	swapcontext(&outside, &inside);
	return 0;
}

static void *end_filtered(void *argument)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sigaltstack, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof rules / sizeof rules[0], .filter = rules };

	sink = compute(10000000);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return NULL;
	sink = compute(10000000);
	return argument;
}

static int run_ending_thread(void)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, end_filtered, &inside) != 0)
		abort();
	pthread_join(thread, &result);
	return result != NULL ? 0 : 77;
}

/*
 * Coroutines that have used up their only page but for 256 bytes: no signal has room there.
 * The rest is painted, and the page below cannot be written.
 */
#define FULL_THREADS 4
#define FULL_TURNS   50
#define LEFT         256UL
#define PAINT        0x5a
#define OWN_STACK    16384UL

struct full {
	ucontext_t outside, inside;
	char *page;
	bool has_own_stack;
	char *own_stack;
	const char *stack; /* the thread's, somewhere */
	uint64_t on_alternate, away, overwritten, other_stacks;
};

static __thread struct full *current;

/* Computes without a call, deeper than the rest of the stack allows for one. */
__attribute__((always_inline)) static inline uint64_t compute_inline(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static void fill_and_compute(void)
{
	char *here = __builtin_frame_address(0);
	volatile char *room = __builtin_alloca((size_t)(here - current->page) - LEFT);

	room[0] = PAINT;
	sink = compute_inline(1000000);
	current->overwritten += room[0] != PAINT;
}

static void be_full(void)
{
	fill_and_compute();
	swapcontext(&current->inside, &current->outside);
}

/* away: neither close to what it interrupted nor on it. */
static void on_signal(int signal)
{
	stack_t now;

	(void)signal;
	sigaltstack(NULL, &now);
	current->on_alternate += (now.ss_flags & SS_ONSTACK) != 0;
	current->away += (size_t)(current->stack - (char *)&now) > 16 * PAGE;
}

static void check_own_stack(struct full *full)
{
	stack_t now;

	sigaltstack(NULL, &now);
	if (full->has_own_stack)
		full->other_stacks += now.ss_sp != full->own_stack ||
				      now.ss_size != OWN_STACK || now.ss_flags != 0;
	else
		full->other_stacks += now.ss_sp != NULL || now.ss_flags != SS_DISABLE;
}

static void *run_full(void *argument)
{
	struct full *full = current = argument;
	char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
		abort();
	full->page = pages + PAGE;
	full->stack = (const char *)&full;
	if (full->has_own_stack) {
		const stack_t stack = { .ss_sp = full->own_stack = malloc(OWN_STACK),
					.ss_size = OWN_STACK };

		sigaltstack(&stack, NULL);
	}
	for (int i = 0; i < FULL_TURNS; i++) {
		memset(full->page, PAINT, PAGE);
		getcontext(&full->inside);
		full->inside.uc_stack.ss_sp = full->page;
		full->inside.uc_stack.ss_size = PAGE;
		makecontext(&full->inside, be_full, 0);
		swapcontext(&full->outside, &full->inside);
		for (size_t k = 0; k < LEFT / 2; k++)
			full->overwritten += full->page[k] != PAINT;
		raise(SIGUSR1);
		check_own_stack(full);
	}
	munmap(pages, 3 * PAGE);
	return NULL;
}

static int run_full_threads(int with_own_stack)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	static struct full fulls[FULL_THREADS];
	pthread_t threads[FULL_THREADS];
	struct sigaction now;

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < FULL_THREADS; i++) {
		fulls[i].has_own_stack = i < with_own_stack;
		if (pthread_create(&threads[i], NULL, run_full, &fulls[i]) != 0)
			abort();
	}
	for (int i = 0; i < FULL_THREADS; i++) {
		pthread_join(threads[i], NULL);
		free(fulls[i].own_stack);
		truth_add(TRUTH_COUNT, "on_alternate", fulls[i].on_alternate);
		truth_add(TRUTH_COUNT, "away", fulls[i].away);
		truth_add(TRUTH_COUNT, "overwritten", fulls[i].overwritten);
		truth_add(TRUTH_COUNT, "other_stacks", fulls[i].other_stacks);
	}
	sigaction(SIGUSR1, NULL, &now);
	truth_add(TRUTH_COUNT, "on_stack", (now.sa_flags & SA_ONSTACK) != 0);
	truth_print();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "filtered") == 0)
		return run_filtered();
	if (argc == 2 && strcmp(argv[1], "ends") == 0)
		return run_ending_thread();
	if (argc == 3 && strcmp(argv[1], "full") == 0)
		return run_full_threads(atoi(argv[2]));
	run_threads();
	run_coroutines();
	truth_add(TRUTH_COUNT, "threads", THREADS);
	truth_add(TRUTH_COUNT, "coroutines", COROUTINES);
	truth_print();
	return 0;
}
