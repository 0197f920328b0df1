/*
 * beside - a coroutine whose stack ends where the guard of its thread's own small stack begins: no word
 * above its outermost frame can be read.  Prints how often each function was called.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define COROUTINE_BYTES 16384
#define GUARD_BYTES     4096
#define THREAD_BYTES    65536
#define TURNS           100

static ucontext_t thread, coroutine;
static volatile long sink;
static long calls_of_leaf, calls_of_outermost, calls_of_switches;

static __attribute__((noinline)) void leaf(int i)
{
	calls_of_leaf++;
	sink += i;
}

static __attribute__((noinline)) void outermost(void)
{
	calls_of_outermost++;
	leaf(1);
	swapcontext(&coroutine, &thread);
}

static __attribute__((noinline)) void switches(void *stack)
{
	calls_of_switches++;
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = COROUTINE_BYTES;
	coroutine.uc_link = &thread;
	makecontext(&coroutine, outermost, 0);
	swapcontext(&thread, &coroutine);
	leaf(2);
}

static void *run(void *stack)
{
	for (int i = 0; i < TURNS; i++)
		switches(stack);
	return NULL;
}

int main(void)
{
	char *room = mmap(NULL, COROUTINE_BYTES + GUARD_BYTES + THREAD_BYTES,
			  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t other;

	if (room == MAP_FAILED || mprotect(room + COROUTINE_BYTES, GUARD_BYTES, PROT_NONE) != 0)
		return 1;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, room + COROUTINE_BYTES + GUARD_BYTES, THREAD_BYTES);
	if (pthread_create(&other, &attributes, run, room) != 0)
		return 1;
	pthread_join(other, NULL);
	printf("calls leaf %ld\ncalls outermost %ld\ncalls switches %ld\n", calls_of_leaf,
	       calls_of_outermost, calls_of_switches);
	return 0;
}
