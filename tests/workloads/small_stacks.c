/*
 * small_stacks - computes on the smallest stacks there are: 300 threads with PTHREAD_STACK_MIN
 * bytes, and coroutines on two pages between pages that cannot be written.
 *
 *	small_stacks filtered    only a coroutine, deeper than a page, behind a seccomp filter
 *				 that allows everything
 */
#include "truth.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "filtered") == 0)
		return run_filtered();
	run_threads();
	run_coroutines();
	truth_add(TRUTH_COUNT, "threads", THREADS);
	truth_add(TRUTH_COUNT, "coroutines", COROUTINES);
	truth_print();
	return 0;
}
