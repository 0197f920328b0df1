/*
 * fault_calls - random sequences of what programs do with SIGSEGV and SIGBUS: actions that are
 * set, asked for, and reset when they begin; faults of each kind, handled, left by a jump or
 * deadly; the same signals sent; masks, alternate stacks, children.
 *
 * Each sequence is a process of its own that says what it sees, which is nothing but what the
 * kernel promises: two runs with the same seed print the same.  Between two steps it runs for a
 * while in code whose unwind rules lead a stack walker astray.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "astray.h"

#define PAGE       4096UL
#define STACK_SIZE (64UL << 10)

static struct {
	char *page;  /* that cannot be read */
	char *file;  /* that ends before it */
	char *stack; /* the alternate one */
	sigjmp_buf back;
	volatile sig_atomic_t must_jump;
	int fd; /* of the file */
	uint64_t random;
} the;

static uint32_t roll(uint32_t sides)
{
	the.random = the.random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(the.random >> 33) % sides;
}

/* Signals that are shown, of a mask: the others may be ours to say. */
static const int shown[] = { SIGSEGV, SIGBUS, SIGUSR1, SIGALRM };

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	char text[256];
	va_list list;

	va_start(list, format);
	const int length = vsnprintf(text, sizeof text, format, list);

	va_end(list);
	if (write(STDOUT_FILENO, text, (size_t)length) < 0)
		abort();
}

static unsigned bits_of(const sigset_t *set)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < sizeof shown / sizeof shown[0]; i++)
		bits |= (unsigned)sigismember(set, shown[i]) << i;
	return bits;
}

static const char *place_of(const void *address)
{
	const char *at = address;

	if (at == NULL)
		return "0";
	if (at >= the.page && at < the.page + PAGE)
		return "page";
	return at >= the.file && at < the.file + PAGE ? "file" : "else";
}

/* As the program is answered: its handlers run on another stack under fathom (decision 0038). */
static int flags_of_alternate(void)
{
	stack_t now;

	return sigaltstack(NULL, &now) == 0 ? now.ss_flags : -1;
}

/* Makes what could not be read readable, so that the instruction goes on. */
static void mend(void)
{
	mprotect(the.page, PAGE, PROT_READ | PROT_WRITE);
	mmap(the.file, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
	     -1, 0);
}

static void report(int number)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	say("  handler %d mask %x%s\n", number, bits_of(&mask),
	    flags_of_alternate() & SS_ONSTACK ? " alternate" : "");
}

static void on_plain(int number)
{
	report(number);
	if (the.must_jump)
		siglongjmp(the.back, 1);
	mend();
}

static void on_info(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;

	report(number);
	say("  code %d at %s, pid %d, from %x%s\n", info->si_code,
	    info->si_code > 0 ? place_of(info->si_addr) : "-",
	    info->si_code <= 0 && info->si_pid == getpid(), bits_of(&interrupted->uc_sigmask),
	    flags_of_alternate() == 0 ? " beside" : "");
	if (the.must_jump)
		siglongjmp(the.back, 1);
	mend();
}

static void say_action(const struct sigaction *action)
{
	const char *name = "?";

	if (action->sa_handler == SIG_DFL)
		name = "default";
	else if (action->sa_handler == SIG_IGN)
		name = "ignored";
	else if (action->sa_handler == on_plain)
		name = "plain";
	else if (action->sa_sigaction == on_info)
		name = "info";
	say("  was %s flags %x mask %x\n", name, (unsigned)action->sa_flags,
	    bits_of(&action->sa_mask));
}

static int either(void)
{
	return roll(3) == 0 ? SIGBUS : SIGSEGV;
}

static struct sigaction random_action(void)
{
	static const int flags[] = { (int)SA_RESETHAND, SA_NODEFER, SA_ONSTACK, SA_RESTART };
	struct sigaction action = { .sa_handler = on_plain };
	const uint32_t kind = roll(20);

	if (kind == 0)
		action.sa_handler = SIG_IGN;
	else if (kind == 1)
		action.sa_handler = SIG_DFL;
	for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
		action.sa_flags |= roll(i == 0 ? 6 : 3) == 0 ? flags[i] : 0;
	if (kind > 11) {
		action.sa_sigaction = on_info;
		action.sa_flags |= SA_SIGINFO;
	}
	for (unsigned i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		if (roll(4) == 0)
			sigaddset(&action.sa_mask, shown[i]);
	}
	return action;
}

static void set_action(void)
{
	const struct sigaction action = random_action();
	const int number = either();
	struct sigaction old;

	say("set %d: %d\n", number, sigaction(number, &action, &old));
	say_action(&old);
}

static void ask_action(void)
{
	const int number = either();
	struct sigaction old;

	say("ask %d: %d\n", number, sigaction(number, NULL, &old));
	say_action(&old);
}

/* As the kernel has it. */
struct raw_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static void ask_raw(void)
{
	struct raw_action old = { 0 };
	const int number = either();
	const long rc = syscall(SYS_rt_sigaction, number, NULL, &old, sizeof old.mask);
	struct sigaction action = { .sa_handler = old.handler, .sa_flags = (int)old.flags };

	memcpy(&action.sa_mask, &old.mask, sizeof old.mask);
	say("raw %d: %ld\n", number, rc);
	say_action(&action);
}

static void swap_raw(void)
{
	struct raw_action old = { 0 };
	const int number = either();
	long rc = syscall(SYS_rt_sigaction, number, NULL, &old, sizeof old.mask);

	rc += syscall(SYS_rt_sigaction, number, &old, NULL, sizeof old.mask);
	say("put back %d: %ld\n", number, rc);
}

static void set_old_way(void)
{
	const int number = either(), way = (int)roll(4);
	void (*before)(int) = way == 0   ? signal(number, on_plain)
			      : way == 1 ? sysv_signal(number, on_plain)
			      : way == 2 ? ssignal(number, on_plain)
					 : signal(number, roll(4) ? on_plain : SIG_DFL);

	say("signal %d way %d: %d\n", number, way, before == on_plain);
}

static void change_mask(void)
{
	const int number = either(), how = roll(4) == 0 ? SIG_BLOCK : SIG_UNBLOCK;
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, number);
	say("%s %d: %d", how == SIG_BLOCK ? "block" : "unblock", number,
	    sigprocmask(how, &set, &old));
	say(" was %x\n", bits_of(&old));
}

static void change_stack(void)
{
	const stack_t stack = { .ss_sp = the.stack,
				.ss_size = STACK_SIZE,
				.ss_flags = roll(3) == 0 ? SS_DISABLE : 0 };
	stack_t old;
	const int rc = sigaltstack(&stack, &old);

	say("stack %d: %d was %d %d\n", stack.ss_flags, rc, old.ss_flags, old.ss_sp != NULL);
}

static void break_again(void)
{
	mprotect(the.page, PAGE, PROT_NONE);
	if (mmap(the.file, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, the.fd, 0) ==
	    MAP_FAILED)
		abort();
}

static void fault(void)
{
	const char *const places[] = { the.page + 8, the.file + 16,
				       (const char *)0x8000000000001234UL };
	const char *place = places[roll(3)];

	the.must_jump = roll(2) || place == places[2];
	say("fault at %s%s\n", place == places[2] ? "nowhere" : place_of(place),
	    the.must_jump ? " and jump" : "");
	break_again();
	if (sigsetjmp(the.back, (int)roll(2)) == 0)
		say("  read %d\n", *(const volatile char *)place);
	else
		say("  jumped\n");
	the.must_jump = 0;
}

static void send(void)
{
	const int number = either();
	const uint32_t way = roll(4);
	siginfo_t info = { .si_signo = number, .si_code = 1, .si_addr = the.page };

	sigset_t mask;

	/* The kernel delivers what looks like a fault although it is blocked (6.18). */
	sigprocmask(SIG_BLOCK, NULL, &mask);
	if (way == 3 && sigismember(&mask, number))
		return;
	say("send %d way %u\n", number, way);
	if (way == 0)
		raise(number);
	else if (way == 1)
		kill(getpid(), number);
	else if (way == 2)
		sigqueue(getpid(), number, (union sigval){ .sival_int = 7 });
	else
		syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, &info);
}

static void say_pending(void)
{
	sigset_t set;

	sigpending(&set);
	say("pending %x\n", bits_of(&set));
}

static void step(void);

static void say_end(const char *which, pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	say("%s ended %x\n", which, (unsigned)status & ~0x80U);
}

static void have_child(void)
{
	const pid_t child = fork();

	if (child == 0) {
		for (int i = 0; i < 4; i++)
			step();
		_exit(3);
	}
	say_end("child", child);
}

static void have_vfork_child(void)
{
	const struct sigaction action = random_action();
	const bool must_die = roll(2);
	const int number = either();
	const pid_t child = vfork();

	if (child == 0) {
		sigaction(number, &action, NULL);
		if (must_die)
			signal(number, SIG_DFL);
		if (must_die)
			raise(number);
		_exit(4);
	}
	say_end("vfork child", child);
}

static void spawn(void)
{
	const char *command =
		"grep -E 'SigIgn' /proc/self/status | cut -c 10- | rev | cut -c -4 | rev";
	FILE *stream = popen(command, "r");
	char line[64] = "";

	if (stream == NULL || fgets(line, sizeof line, stream) == NULL)
		abort();
	/* Of the next image's ignored signals, these two. */
	const unsigned long ignored = strtoul(line, NULL, 16);

	pclose(stream);
	say("next image ignores %lx\n", ignored & (1UL << (SIGSEGV - 1) | 1UL << (SIGBUS - 1)));
}

static void (*const steps[])(void) = { set_action, set_action,  ask_action,   ask_raw,
				       swap_raw,   set_old_way, change_mask,  change_mask,
				       fault,      fault,       change_stack, send,
				       say_pending };
static void (*const rare_steps[])(void) = { have_child, have_vfork_child, spawn };

static void step(void)
{
	astray_run();
	if (roll(24) == 0)
		rare_steps[roll(3)]();
	else
		steps[roll(sizeof steps / sizeof steps[0])]();
}

static void run_sequence(uint64_t seed, int length)
{
	the.random = seed * 0x9e3779b97f4a7c15u + 1;
	signal(SIGSEGV, on_plain);
	signal(SIGBUS, on_plain);
	for (int i = 0; i < length; i++)
		step();
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: fault_calls SEED COUNT LENGTH\n");
		return 2;
	}
	/* Of no length: every page of it is behind its end. */
	the.fd = memfd_create("short", 0);
	the.page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	the.file = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, the.fd, 0);
	the.stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (the.page == MAP_FAILED || the.file == MAP_FAILED || the.stack == MAP_FAILED)
		return 2;
	prctl(PR_SET_DUMPABLE, 1);
	astray_begin(the.page, the.file);
	/* Walks have begun when it begins. */
	for (int i = 0; i < 1000; i++)
		astray_run();
	for (int i = 0; i < atoi(argv[2]); i++) {
		say("sequence %d\n", atoi(argv[1]) + i);
		const pid_t child = fork();

		if (child == 0)
			run_sequence((uint64_t)(atoi(argv[1]) + i), atoi(argv[3]));
		say_end("sequence", child);
	}
	return 0;
}
