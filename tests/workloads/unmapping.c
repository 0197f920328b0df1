/*
 * unmapping - what a stack walker may stumble over comes and goes while threads compute.
 *
 * Every thread blocks all signals it can, or none ("open").  One runs generated code whose
 * frame pointer leads into pages that another maps and unmaps all the time; one makes, runs and
 * unmaps generated code; one runs coroutines on stacks of two pages between pages that cannot
 * be read, and unmaps them; one opens, uses and closes a library.  Prints how often each was
 * done.
 */
#include "truth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE     4096UL
#define FLICKERS 64

static volatile uint64_t sink;
static atomic_bool is_over;
static char *flickering;
static const char *folder;
static int turns;

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void *map_pages(size_t count)
{
	void *pages = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		abort();
	return pages;
}

/* Pages come and go; while they are there, they lead from one to the next. */
static void *flicker(void *argument)
{
	for (uint64_t i = 0; !is_over; i++) {
		char *page = flickering + i % FLICKERS * PAGE;
		const uintptr_t next =
			(uintptr_t)(flickering + (i * 7 + 3) % FLICKERS * PAGE + 64);

		if (mmap(page, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
			abort();
		for (size_t at = 0; at < PAGE; at += 16) {
			memcpy(page + at, &next, sizeof next);
			memcpy(page + at + 8, &(uintptr_t){ next + 8 }, sizeof next);
		}
		/* Its place is kept, or another thread's memory might come to lie there. */
		mmap(flickering + i * 5 % FLICKERS * PAGE, PAGE, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	}
	return argument;
}

#ifdef __x86_64__
/*
 * push %rbp; mov %rdi,%rbp; 1: imul $3,%rsi,%rax; dec %rsi; jnz 1b; pop %rbp; ret:
 * code that no table describes, and a frame pointer that is none.
 */
static const unsigned char misleading[] = { 0x55, 0x48, 0x89, 0xfd, 0x48, 0x6b, 0xc6, 0x03,
					    0x48, 0xff, 0xce, 0x75, 0xf7, 0x5d, 0xc3 };
typedef void (*misleading_function)(const void *frame, uint64_t rounds);

static void *make_code(const unsigned char *code, size_t len)
{
	char *page = map_pages(1);

	memcpy(page, code, len);
	mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	return page;
}

static void *follow_flickering(void *argument)
{
	void *code = make_code(misleading, sizeof misleading);
	misleading_function run;

	memcpy(&run, &code, sizeof run);
	for (int i = 0; i < turns * 20; i++)
		run(flickering + (uint64_t)i % FLICKERS * PAGE + 64, 20000);
	munmap(code, PAGE);
	return argument;
}

/* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
static const unsigned char calling[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };

static void *run_generated(void *argument)
{
	uint64_t (*run)(uint64_t, uint64_t(*)(uint64_t));

	for (int i = 0; i < turns; i++) {
		void *code = make_code(calling, sizeof calling);

		memcpy(&run, &code, sizeof run);
		sink = run(200000, compute);
		munmap(code, PAGE);
	}
	return argument;
}
#else
static void *follow_flickering(void *argument)
{
	return argument;
}

static void *run_generated(void *argument)
{
	return argument;
}
#endif

static __thread ucontext_t outside, inside;

KEEP static uint64_t dig(int depth)
{
	volatile char room[96];

	memset((char *)room, depth, sizeof room);
	return depth == 0 ? compute(200000) : dig(depth - 1) + (uint64_t)room[3];
}

static void be_coroutine(void)
{
	sink = dig(12);
	swapcontext(&inside, &outside);
}

static void *run_coroutines(void *argument)
{
	for (int i = 0; i < turns; i++) {
		char *pages = map_pages(5);

		mprotect(pages, PAGE, PROT_NONE);
		mprotect(pages + 4 * PAGE, PAGE, PROT_NONE);
		getcontext(&inside);
		inside.uc_stack.ss_sp = pages + PAGE;
		inside.uc_stack.ss_size = 3 * PAGE;
		makecontext(&inside, be_coroutine, 0);
		swapcontext(&outside, &inside);
		munmap(pages, 5 * PAGE);
	}
	return argument;
}

static void *use_library(void *argument)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/lib%s.so", folder, (const char *)argument);
	for (int i = 0; i < turns; i++) {
		char name[64];
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

		if (library == NULL)
			abort();
		snprintf(name, sizeof name, "%s_work", (const char *)argument);
		uint64_t (*work)(uint64_t) =
			(uint64_t(*)(uint64_t))(uintptr_t)dlsym(library, name);
		sink = work(200000);
		dlclose(library);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static char first[] = "first", second[] = "second";
	pthread_t flickerer, others[5];
	sigset_t all;

	if (argc < 3) {
		fprintf(stderr, "usage: unmapping FOLDER-OF-LIBRARIES TURNS [open]\n");
		return 2;
	}
	folder = argv[1];
	turns = atoi(argv[2]);
	flickering = map_pages(FLICKERS);
	sigfillset(&all);
	if (argc == 3)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_create(&flickerer, NULL, flicker, NULL);
	pthread_create(&others[0], NULL, follow_flickering, NULL);
	pthread_create(&others[1], NULL, run_generated, NULL);
	pthread_create(&others[2], NULL, run_coroutines, NULL);
	pthread_create(&others[3], NULL, use_library, first);
	pthread_create(&others[4], NULL, use_library, second);
	for (int i = 0; i < 5; i++)
		pthread_join(others[i], NULL);
	is_over = 1;
	pthread_join(flickerer, NULL);
	truth_add(TRUTH_COUNT, "turns", (uint64_t)turns);
	truth_print();
	return 0;
}
