/*
 * Calls a function as often before the program forbids itself something as behind that:
 * forbidden.c WHAT, strict (seccomp's strict mode), counter (PR_SET_TSC), or filter (a seccomp
 * filter that kills a thread that asks for its tid, and a thread behind it).
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURNS 1000

static __attribute__((noinline)) long called(long x)
{
	__asm__ volatile("");
	return x + 1;
}

static __attribute__((noinline)) long call_all(void)
{
	long sum = 0;

	for (int i = 0; i < TURNS; i++)
		sum = called(sum);
	return sum;
}

static void *in_thread(void *sum)
{
	*(long *)sum = call_all();
	return NULL;
}

static int forbid_tid(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof steps / sizeof *steps, steps };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int be_filtered(void)
{
	long sum = 0;
	pthread_t thread;

	if (forbid_tid() || pthread_create(&thread, NULL, in_thread, &sum))
		return 1;
	pthread_join(thread, NULL);
	return sum != TURNS;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const int is_filter = strcmp(what, "filter") == 0;
	int bad = call_all() != TURNS;

	/* A thread that begins behind the filter is not traced. */
	printf("calls called %d\n", is_filter ? TURNS : 2 * TURNS);
	fflush(stdout);
	if (is_filter)
		return bad | be_filtered();
	bad |= strcmp(what, "strict") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
					   : prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	bad |= call_all() != TURNS;
	syscall(SYS_exit, bad);
	return 1;
}
