/*
 * trapped - one thing a program does about SIGTRAP, and what it sees of it.
 *
 * Run bare and recorded, each of these prints the same and ends the same.  All compute a while
 * before and after, so that there are traps to be mistaken for the program's own.
 *
 * usage: trapped WHAT
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SAY(...) dprintf(STDOUT_FILENO, __VA_ARGS__)

extern char **environ;

static sigjmp_buf jump;
static char stack[65536];
static const char *program;

__attribute__((noinline)) static void compute(void)
{
	for (volatile int i = 0; i < 3000000; i++)
		;
}

static sigset_t set_of(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	if (signal != 0)
		sigaddset(&set, signal);
	return set;
}

static void change_mask(int how, int signal)
{
	const sigset_t set = set_of(signal);

	sigprocmask(how, &set, NULL);
}

static void block_everything(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
	const struct sigaction action = { .sa_sigaction = handler,
					  .sa_flags = SA_SIGINFO | flags };

	sigaction(signal, &action, NULL);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	sigset_t mask;
	stack_t now;

	(void)context;
	compute();
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigaltstack(NULL, &now);
	SAY("handler: signal %d number %d errno %d code %d, pid %d, uid %d, value %d, "
	    "masked %d, alternate stack %d\n",
	    signal, info->si_signo, info->si_errno, info->si_code, info->si_pid == getpid(),
	    info->si_code == SI_KERNEL || info->si_pid == 0 || info->si_uid == getuid(),
	    info->si_code == SI_QUEUE ? info->si_value.sival_int : 0,
	    signal == SIGTRAP && sigismember(&mask, SIGTRAP), (now.ss_flags & SS_ONSTACK) != 0);
}

static void on_trap_jump(int signal, siginfo_t *info, void *context)
{
	on_trap(signal, info, context);
	siglongjmp(jump, 1);
}

static void on_other(int signal, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)info;
	(void)context;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	SAY("other handler: %d, SIGTRAP masked %d\n", signal, sigismember(&mask, SIGTRAP));
	raise(SIGTRAP);
	SAY("other handler: leaves\n");
}

static void send_by_system_call(int signal)
{
	const long pid = getpid(), tid = gettid();
	siginfo_t info = { .si_code = SI_QUEUE };

	SAY("system calls\n");
	syscall(SYS_kill, pid, signal);
	syscall(SYS_tkill, tid, signal);
	syscall(SYS_tgkill, pid, tid, signal);
	info.si_pid = (pid_t)pid;
	info.si_uid = getuid();
	info.si_value.sival_int = 4712;
	syscall(SYS_rt_sigqueueinfo, pid, signal, &info);
	info.si_value.sival_int = 4713;
	syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, &info);
}

/* By every way there is. */
static void send_all_of(int signal)
{
	SAY("raise\n");
	raise(signal);
	SAY("kill\n");
	kill(getpid(), signal);
	SAY("kill, to all of the group\n");
	setpgid(0, 0);
	kill(0, signal);
	SAY("pthread_kill\n");
	pthread_kill(pthread_self(), signal);
	SAY("tgkill\n");
	tgkill(getpid(), gettid(), signal);
	SAY("sigqueue\n");
	sigqueue(getpid(), signal, (union sigval){ .sival_int = 4711 });
	SAY("pthread_sigqueue\n");
	pthread_sigqueue(pthread_self(), signal, (union sigval){ .sival_int = 4710 });
	send_by_system_call(signal);
	SAY("sent\n");
}

static void send_all(void)
{
	send_all_of(SIGTRAP);
}

static void breakpoint(void)
{
#if defined __x86_64__
	__asm__ volatile("int3");
#else
	raise(SIGTRAP);
#endif
}

static void say_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	SAY("pending %d\n", sigismember(&pending, SIGTRAP));
}

static void by_default(void)
{
	raise(SIGTRAP);
}

static void kill_by_default(void)
{
	kill(getpid(), SIGTRAP);
}

static void ignored(void)
{
	signal(SIGTRAP, SIG_IGN);
	send_all();
}

static void handled(void)
{
	handle(SIGTRAP, on_trap, 0);
	send_all();
	breakpoint();
	SAY("behind the breakpoint\n");
}

/* The signal that stands in for it is the program's as well. */
static void substitute_handled(void)
{
	handle(SIGSTKFLT, on_trap, 0);
	signal(SIGTRAP, SIG_IGN);
	send_all_of(SIGSTKFLT);
	send_all();
	handle(SIGTRAP, on_trap, 0);
	send_all_of(SIGSTKFLT);
}

static void substitute_by_default(void)
{
	handle(SIGTRAP, on_trap, 0);
	raise(SIGSTKFLT);
}

/* Past libc, and past whatever interposes it. */
static void change_mask_by_hand(long how, int signal)
{
	const uint64_t set = 1ULL << (signal - 1);
#if defined __x86_64__
	register long bytes __asm__("r10") = sizeof set;
	long result = SYS_rt_sigprocmask;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(how), "S"(&set), "d"(0), "r"(bytes)
			 : "rcx", "r11", "memory");
#else
	syscall(SYS_rt_sigprocmask, how, &set, NULL, sizeof set);
#endif
}

/* What is sent while another SIGTRAP waits for the thread, which the program does not know of. */
static void sent_where_another_waits(void)
{
	handle(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 5; i++) {
		change_mask_by_hand(SIG_BLOCK, SIGTRAP);
		for (int j = 0; j < 5; j++)
			compute();
		pthread_kill(pthread_self(), SIGTRAP);
		change_mask_by_hand(SIG_UNBLOCK, SIGTRAP);
	}
}

/* The kernel then forgets what has sent a signal, and how. */
static void sent_with_no_room(void)
{
	const struct rlimit none = { 0 };

	setrlimit(RLIMIT_SIGPENDING, &none);
	handle(SIGTRAP, on_trap, 0);
	send_all();
}

static void *store_tid(void *tid)
{
	*(pid_t *)tid = gettid();
	return NULL;
}

static void sent_to_an_ended_thread(void)
{
	pthread_t thread;
	volatile pid_t tid = 0;

	handle(SIGTRAP, on_trap, 0);
	pthread_create(&thread, NULL, store_tid, (void *)&tid);
	while (tid == 0 || tgkill(getpid(), tid, 0) == 0)
		sched_yield();
	SAY("pthread_kill %d %d\n", pthread_kill(thread, SIGTRAP), pthread_kill(thread, 0));
	SAY("pthread_sigqueue %d\n", pthread_sigqueue(thread, SIGTRAP, (union sigval){ 0 }));
	SAY("tgkill %d ", tgkill(getpid(), 0, SIGTRAP));
	SAY("errno %d\n", errno);
	pthread_join(thread, NULL);
}

static void handled_as_ever(void)
{
	handle(SIGTRAP, on_trap, SA_NODEFER);
	send_all();
}

static void handled_once(void)
{
	handle(SIGTRAP, on_trap, (int)SA_RESETHAND);
	raise(SIGTRAP);
	raise(SIGTRAP);
}

static void handled_elsewhere(void)
{
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };

	sigaltstack(&other, NULL);
	handle(SIGTRAP, on_trap, SA_ONSTACK);
	send_all();
}

static void handled_with_a_jump(void)
{
	sigset_t mask;
	volatile int count = 0;

	handle(SIGTRAP, on_trap_jump, 0);
	sigsetjmp(jump, 1);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	SAY("masked %d\n", sigismember(&mask, SIGTRAP));
	if (count++ < 3)
		raise(SIGTRAP);
}

static void handled_in_another(void)
{
	const struct sigaction action = { .sa_sigaction = on_other,
					  .sa_flags = SA_SIGINFO,
					  .sa_mask = set_of(SIGTRAP) };

	handle(SIGTRAP, on_trap, 0);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void blocked(void)
{
	handle(SIGTRAP, on_trap, 0);
	change_mask(SIG_BLOCK, SIGTRAP);
	send_all();
	say_pending();
	SAY("unblocks\n");
	change_mask(SIG_UNBLOCK, SIGTRAP);
	say_pending();
}

static void blocked_by_default(void)
{
	change_mask(SIG_BLOCK, SIGTRAP);
	raise(SIGTRAP);
	say_pending();
	change_mask(SIG_UNBLOCK, SIGTRAP);
}

static void blocked_and_forgotten(void)
{
	handle(SIGTRAP, on_trap, 0);
	block_everything();
	raise(SIGTRAP);
	say_pending();
	signal(SIGTRAP, SIG_IGN);
	say_pending();
	handle(SIGTRAP, on_trap, 0);
	change_mask(SIG_SETMASK, 0);
}

static void breakpoint_by_default(void)
{
	breakpoint();
}

static void breakpoint_ignored(void)
{
	signal(SIGTRAP, SIG_IGN);
	breakpoint();
}

static void breakpoint_blocked(void)
{
	handle(SIGTRAP, on_trap, 0);
	change_mask(SIG_BLOCK, SIGTRAP);
	breakpoint();
}

static void awaited(void)
{
	const sigset_t set = set_of(SIGTRAP);
	const struct timespec at_once = { 0 };
	siginfo_t info;
	int number = 0;

	block_everything();
	raise(SIGTRAP);
	SAY("sigwait %d, ", sigwait(&set, &number));
	SAY("%d\n", number);
	sigqueue(getpid(), SIGTRAP, (union sigval){ .sival_int = 12 });
	SAY("sigwaitinfo %d, ", sigwaitinfo(&set, &info));
	SAY("code %d value %d\n", info.si_code, info.si_value.sival_int);
	SAY("sigtimedwait %d ", sigtimedwait(&set, &info, &at_once));
	SAY("errno %d\n", errno);
}

static void *send_later(void *argument)
{
	compute();
	pthread_kill(*(pthread_t *)argument, SIGTRAP);
	return NULL;
}

/* While another thread waits for it. */
static void awaited_from_another(void)
{
	pthread_t self = pthread_self(), other;
	const sigset_t set = set_of(SIGTRAP);
	siginfo_t info;

	block_everything();
	for (int i = 0; i < 20; i++) {
		pthread_create(&other, NULL, send_later, &self);
		SAY("waited: %d code %d\n", sigwaitinfo(&set, &info), info.si_code);
		pthread_join(other, NULL);
	}
}

static void suspended(void)
{
	const sigset_t none = set_of(0);
	pthread_t self = pthread_self(), other;

	handle(SIGTRAP, on_trap, 0);
	block_everything();
	pthread_create(&other, NULL, send_later, &self);
	SAY("sigsuspend %d ", sigsuspend(&none));
	SAY("errno %d\n", errno);
	pthread_join(other, NULL);
	pthread_create(&other, NULL, send_later, &self);
	SAY("ppoll %d ", ppoll(NULL, 0, NULL, &none));
	SAY("errno %d\n", errno);
	pthread_join(other, NULL);
}

static void read_from_signalfd(void)
{
	const sigset_t set = set_of(SIGTRAP);
	struct pollfd fd = { .events = POLLIN };

	block_everything();
	fd.fd = signalfd(-1, &set, SFD_CLOEXEC);
	SAY("ready %d\n", poll(&fd, 1, 0));
	raise(SIGTRAP);
	SAY("ready %d\n", poll(&fd, 1, 0));
}

static void say_inherited(const char *which)
{
	struct sigaction action;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigaction(SIGTRAP, NULL, &action);
	SAY("%s: masked %d, SIGSTKFLT masked %d, ignored %d\n", which,
	    sigismember(&mask, SIGTRAP), sigismember(&mask, SIGSTKFLT),
	    action.sa_handler == SIG_IGN);
}

static void inherited(void)
{
	say_inherited("image");
}

static void *thread_says(void *argument)
{
	say_inherited(argument);
	return NULL;
}

static int thread_says_as_c11(void *argument)
{
	say_inherited(argument);
	return 0;
}

static void await(pid_t child)
{
	int status;

	waitpid(child, &status, 0);
}

static void start_all(const char *how)
{
	char *const arguments[] = { (char *)(uintptr_t)program, (char *)"inherited", NULL };
	pthread_t thread;
	thrd_t other;
	pid_t child;

	SAY("%s\n", how);
	pthread_create(&thread, NULL, thread_says, (void *)"thread");
	pthread_join(thread, NULL);
	thrd_create(&other, thread_says_as_c11, (void *)"C11 thread");
	thrd_join(other, NULL);
	child = fork();
	if (child == 0) {
		say_inherited("child");
		execv(program, arguments);
		_exit(9);
	}
	await(child);
	child = vfork();
	if (child == 0) {
		execv(program, arguments);
		_exit(9);
	}
	await(child);
	posix_spawn(&child, program, NULL, NULL, arguments, environ);
	await(child);
}

static void handed_on(void)
{
	start_all("nothing");
	change_mask(SIG_BLOCK, SIGTRAP);
	start_all("blocked");
	block_everything();
	start_all("everything blocked");
	signal(SIGTRAP, SIG_IGN);
	start_all("ignored, too");
	change_mask(SIG_SETMASK, 0);
	start_all("ignored");
	signal(SIGTRAP, SIG_DFL);
	start_all("default again");
}

/* What a vfork child does to itself is not its parent's. */
static void vforked(void)
{
	char *const arguments[] = { (char *)(uintptr_t)program, (char *)"inherited", NULL };

	handle(SIGTRAP, on_trap, 0);
	const pid_t child = vfork();

	if (child == 0) {
		block_everything();
		signal(SIGTRAP, SIG_IGN);
		say_inherited("vfork child");
		execv(program, arguments);
		_exit(9);
	}
	await(child);
	say_inherited("parent");
	send_all();
}

static ucontext_t here, there;

static void other_context(void)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	SAY("other context: masked %d\n", sigismember(&mask, SIGTRAP));
	change_mask(SIG_BLOCK, SIGTRAP);
	swapcontext(&there, &here);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	SAY("other context again: masked %d\n", sigismember(&mask, SIGTRAP));
}

static void switched(void)
{
	getcontext(&there);
	there.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof stack };
	there.uc_link = &here;
	makecontext(&there, other_context, 0);
	for (int i = 0; i < 2; i++) {
		swapcontext(&here, &there);
		say_inherited("first context");
	}
}

/* The program's own perf events and timers may use SIGTRAP, too. */
static void timed(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGTRAP,
				  .sigev_value.sival_int = 5 };
	const struct itimerspec once = { .it_value.tv_nsec = 1000000 };
	const sigset_t set = set_of(SIGTRAP);
	siginfo_t info;
	timer_t timer;

	block_everything();
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &once, NULL);
	SAY("timer: %d code %d value %d\n", sigwaitinfo(&set, &info), info.si_code,
	    info.si_value.sival_int);
}

static const struct {
	const char *name;
	void (*run)(void);
} things[] = {
#define X(name)             \
	{                   \
#name, name \
	}
	X(by_default),
	X(kill_by_default),
	X(ignored),
	X(handled),
	X(substitute_handled),
	X(substitute_by_default),
	X(sent_where_another_waits),
	X(sent_with_no_room),
	X(sent_to_an_ended_thread),
	X(handled_as_ever),
	X(handled_once),
	X(handled_elsewhere),
	X(handled_with_a_jump),
	X(handled_in_another),
	X(blocked),
	X(blocked_by_default),
	X(blocked_and_forgotten),
	X(breakpoint_by_default),
	X(breakpoint_ignored),
	X(breakpoint_blocked),
	X(awaited),
	X(awaited_from_another),
	X(suspended),
	X(read_from_signalfd),
	X(inherited),
	X(handed_on),
	X(vforked),
	X(switched),
	X(timed),
#undef X
};

int main(int argc, char **argv)
{
	program = argv[0];
	for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
		if (argc < 2) {
			SAY("%s\n", things[i].name);
			continue;
		}
		if (strcmp(argv[1], things[i].name) != 0)
			continue;
		compute();
		things[i].run();
		compute();
		SAY("lives\n");
		return 5;
	}
	return argc < 2 ? 0 : 2;
}
