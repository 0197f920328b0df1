/*
 * faulting - a stack walker goes astray all the time, into what cannot be read or is being
 * unmapped, and it goes unnoticed; or the program dies of a fault of its own, and says so.
 *
 * usage: faulting WAY TURNS.  The ways: "open" and "blocked", with SIGSEGV let in or not;
 * "ignored"; "handled", by a handler on an alternate stack; "gone", the same, and the stack has
 * been unmapped; "past_libc", the default action having been set past libc when walks had
 * begun.  And the deaths: "read", "write", "call", "nowhere", "short_file", "sent".
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "astray.h"

#define PAGE    4096UL
#define THREADS 3

static char *flickering, *unreadable, *short_file;
static volatile sig_atomic_t handled;
static atomic_bool is_over;
static int turns;

static void *map(int protection)
{
	void *page = mmap(NULL, PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		abort();
	return page;
}

static void on_fault(int number)
{
	(void)number;
	handled = handled + 1;
}

static void *flicker(void *unused)
{
	while (!is_over) {
		mprotect(flickering, PAGE, PROT_READ | PROT_WRITE);
		mprotect(flickering, PAGE, PROT_NONE);
	}
	return unused;
}

static void *go_astray(void *unused)
{
	for (int i = 0; i < turns; i++) {
		astray_run();
		astray_run_at((uintptr_t)flickering + 64, 20000);
	}
	return unused;
}

static void handle(bool is_stack_gone)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
	const stack_t stack = { .ss_sp = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
				.ss_size = 16 * PAGE };

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	if (is_stack_gone)
		munmap(stack.ss_sp, stack.ss_size);
}

/* As rt_sigaction(2) has it; not by syscall(), which is libc's. */
static void set_default_past_libc(void)
{
#ifdef __x86_64__
	const uint64_t action[4] = { 0 };
	const int numbers[] = { SIGSEGV, SIGBUS };

	for (int i = 0; i < 2; i++) {
		register long bytes __asm__("r10") = 8;
		long rc;

		__asm__ volatile("syscall"
				 : "=a"(rc)
				 : "0"((long)SYS_rt_sigaction), "D"((long)numbers[i]),
				   "S"(action), "d"(0L), "r"(bytes)
				 : "rcx", "r11", "memory");
		if (rc != 0)
			abort();
	}
#endif
}

static void prepare(const char *way)
{
	sigset_t all;

	sigfillset(&all);
	if (strcmp(way, "blocked") == 0)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	if (strcmp(way, "ignored") == 0)
		signal(SIGSEGV, SIG_IGN);
	if (strcmp(way, "handled") == 0 || strcmp(way, "gone") == 0)
		handle(way[0] == 'g');
	if (strcmp(way, "past_libc") == 0) {
		go_astray(NULL);
		set_default_past_libc();
	}
}

static void die(const char *way)
{
	void (*volatile nowhere)(void) = (void (*)(void))(uintptr_t)0x10;

	go_astray(NULL);
	if (strcmp(way, "read") == 0)
		handled = *(volatile char *)(unreadable + 24);
	if (strcmp(way, "write") == 0)
		*(volatile char *)(uintptr_t) "text" = 'x';
	if (strcmp(way, "call") == 0)
		nowhere();
	if (strcmp(way, "nowhere") == 0)
		handled = *(volatile char *)0x8000000000000018UL;
	if (strcmp(way, "short_file") == 0)
		handled = *(volatile char *)(short_file + 24);
	if (strcmp(way, "sent") == 0)
		kill(getpid(), SIGSEGV);
}

int main(int argc, char **argv)
{
	pthread_t flickerer, others[THREADS];

	if (argc != 3) {
		fprintf(stderr, "usage: faulting WAY TURNS\n");
		return 2;
	}
	turns = atoi(argv[2]);
	flickering = map(PROT_NONE);
	unreadable = map(PROT_NONE);
	short_file = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, memfd_create("short", 0), 0);
	astray_begin(unreadable, short_file);
	prepare(argv[1]);
	die(argv[1]);
	pthread_create(&flickerer, NULL, flicker, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&others[i], NULL, go_astray, NULL);
	go_astray(NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(others[i], NULL);
	is_over = true;
	pthread_join(flickerer, NULL);
	printf("handled %d\n", (int)handled);
	return 0;
}
