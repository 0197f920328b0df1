/*
 * small_stacks - computes on the smallest stacks there are: 300 threads with PTHREAD_STACK_MIN
 * bytes, and coroutines on two pages between pages that cannot be written.
 */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
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

int main(void)
{
	run_threads();
	run_coroutines();
	truth_add(TRUTH_COUNT, "threads", THREADS);
	truth_add(TRUTH_COUNT, "coroutines", COROUTINES);
	truth_print();
	return 0;
}
