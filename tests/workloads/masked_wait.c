/*
 * masked_wait - waits that block all signals for as long as they last, while others stop and
 * continue the program; from below a frame whose caller cannot be read.
 *
 * usage: masked_wait libc|raw
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Beyond all that a process can map. */
#define NOWHERE 0x7ffffffff008UL
#define STOPS   500

/* Calls run, and says of itself that its caller's address lies where `frame` points. */
void astray_call(uintptr_t frame, void (*run)(void));
#if defined(__x86_64__)
__asm__(".text\n"
	".globl astray_call\n"
	".type astray_call, @function\n"
	"astray_call:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	"mov %rdi, %rbx\n"
	".cfi_def_cfa %rbx, 16\n"
	"call *%rsi\n"
	".cfi_def_cfa %rsp, 16\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size astray_call, . - astray_call\n");
#else
void astray_call(uintptr_t frame, void (*run)(void))
{
	(void)frame;
	run();
}
#endif

static bool is_raw;

static void wait_with_all_blocked(void)
{
	struct timespec time = { .tv_nsec = 2000000 };
	sigset_t all;

	sigfillset(&all);
	if (is_raw)
		syscall(SYS_ppoll, NULL, 0, &time, &all, 8);
	else
		ppoll(NULL, 0, &time, &all);
}

static void stop_and_continue(pid_t pid)
{
	const struct timespec stopped = { .tv_nsec = 300000 }, between = { .tv_nsec = 1500000 };

	for (int i = 0; i < STOPS; i++) {
		kill(pid, SIGSTOP);
		nanosleep(&stopped, NULL);
		kill(pid, SIGCONT);
		nanosleep(&between, NULL);
	}
}

int main(int argc, char **argv)
{
	const pid_t self = getpid(), child = fork();

	is_raw = argc > 1 && strcmp(argv[1], "raw") == 0;
	if (child == 0) {
		stop_and_continue(self);
		_exit(0);
	}
	while (waitpid(child, NULL, WNOHANG) == 0)
		astray_call(NOWHERE, wait_with_all_blocked);
	puts("lives");
	return 0;
}
