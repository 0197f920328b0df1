/*
 * signal_calls - long random sequences of calls about signals, and what came of each.
 *
 * A sequence is that of its seed, the transcript what the program sees: results and errors,
 * actions and masks reported back, signals delivered to handlers, with what and in which order.
 * Two runs print the same, whoever watches.  Half of it is about SIGTRAP.
 *
 * The other signals have numbers above SIGSTKFLT's, which is in full sets only: what decision
 * 0009 says remains visible is left out.
 *
 * usage: signal_calls FIRST_SEED COUNT STEPS
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define BIT(signal) (1ULL << ((signal)-1))

static const int signals[] = {
	SIGTRAP, SIGTRAP, SIGTRAP, SIGCHLD, SIGURG, SIGIO, SIGWINCH, 40
};

static uint64_t state;
static int depth;
static int is_thread;
static int is_waiting;
static sigjmp_buf step_begin;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((state >> 33) % below);
}

static int draw_signal(void)
{
	return signals[draw(sizeof signals / sizeof signals[0])];
}

static uint64_t draw_set(void)
{
	uint64_t set = 0;

	for (int i = 0; i < 3; i++)
		set |= draw(2) ? BIT(draw_signal()) : 0;
	if (draw(3) == 0)
		set = ~0ULL;
	if (draw(4) == 0)
		set &= ~BIT(draw_signal());
	return set & ~BIT(32) & ~BIT(33);
}

static sigset_t as_set(uint64_t bits)
{
	sigset_t set;

	sigemptyset(&set);
	memcpy(&set, &bits, sizeof bits);
	return set;
}

static unsigned long long bits_of(const sigset_t *set)
{
	unsigned long long bits;

	memcpy(&bits, set, sizeof bits);
	return bits;
}

static unsigned long long mask_now(void)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return bits_of(&now);
}

/* Not buffered: the sequence may end with a signal that kills. */
#define SAY(...) dprintf(STDOUT_FILENO, __VA_ARGS__)

static void compute(void)
{
	for (volatile int i = 0; i < 30000; i++)
		;
}

static void send(int number);

static void on_signal(int number, siginfo_t *info, void *context)
{
	const int saved_errno = errno;

	(void)context;
	depth++;
	SAY("  handler %d signo %d code %d ours %d value %d mask %llx depth %d\n", number,
	    info->si_signo, info->si_code,
	    info->si_code == SI_KERNEL || info->si_pid == getpid(),
	    info->si_code == SI_QUEUE ? info->si_value.sival_int : 0, mask_now(), depth);
	compute();
	const uint32_t act = draw(6);

	if (act == 0 && !is_thread) {
		depth = 0;
		siglongjmp(step_begin, 1);
	}
	/* What it sends may be let in by the wait, or come too late for it. */
	if (act == 1 && depth < 4 && !is_waiting)
		send(draw_signal());
	SAY("  leaves %d\n", depth);
	depth--;
	errno = saved_errno;
}

static void on_plain_signal(int number)
{
	SAY("  plain handler %d mask %llx\n", number, mask_now());
	compute();
}

static const char *name_of(sighandler_t handler)
{
	return handler == SIG_DFL                              ? "default"
	       : handler == SIG_IGN                            ? "ignored"
	       : handler == SIG_HOLD                           ? "held"
	       : handler == SIG_ERR                            ? "error"
	       : handler == (sighandler_t)(uintptr_t)on_signal ? "handler"
	       : handler == on_plain_signal                    ? "plain"
							       : "?";
}

static sighandler_t draw_handler(void)
{
	const uint32_t kind = draw(8);

	return kind == 0  ? SIG_IGN
	       : kind < 6 ? (sighandler_t)(uintptr_t)on_signal
			  : on_plain_signal;
}

static void say_action(const char *what, int rc, const struct sigaction *action)
{
	SAY("%s %d: %s flags %x mask %llx restorer %d\n", what, rc, name_of(action->sa_handler),
	    (unsigned)action->sa_flags, bits_of(&action->sa_mask), action->sa_restorer != NULL);
}

static int is_handled(int number)
{
	struct sigaction now;

	sigaction(number, NULL, &now);
	return now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
}

static void send(int number)
{
	const uint32_t way = draw(is_thread ? 2 : 5);

	if (way == 4 && number == SIGTRAP && is_handled(SIGTRAP) &&
	    !(mask_now() & BIT(SIGTRAP))) {
		SAY("breakpoint\n");
#ifdef __x86_64__
		__asm__ volatile("int3");
#endif
		return;
	}
	SAY("send %d by %u\n", number, way);
	if (way == 0)
		raise(number);
	else if (way == 1)
		pthread_kill(pthread_self(), number);
	else if (way == 2)
		kill(getpid(), number);
	else
		sigqueue(getpid(), number, (union sigval){ .sival_int = 77 });
}

static void step_send(void)
{
	send(draw_signal());
}

static void step_sigaction(void)
{
	static const int flags[] = { SA_SIGINFO, SA_SIGINFO | SA_RESTART,
				     SA_SIGINFO | SA_NODEFER, (int)(SA_SIGINFO | SA_RESETHAND),
				     SA_SIGINFO | SA_ONSTACK | 0x400 };
	struct sigaction action = { .sa_handler = draw_handler(),
				    .sa_flags = flags[draw(5)],
				    .sa_mask = as_set(draw_set()) };
	struct sigaction old;
	const int number = draw_signal();

	/* Else a second handler may begin before it, and jump. */
	if (action.sa_flags & (int)SA_RESETHAND)
		action.sa_mask = as_set(~0ULL);
	SAY("sigaction %d %s\n", number, name_of(action.sa_handler));
	say_action("  before", sigaction(number, &action, &old), &old);
}

static void step_query(void)
{
	struct sigaction old;
	const int number = draw_signal();

	SAY("query %d\n", number);
	say_action("  is", sigaction(number, NULL, &old), &old);
}

static void step_mask(void)
{
	const int how = (int)draw(4);
	const sigset_t set = as_set(draw_set());
	sigset_t old = as_set(0);
	const int rc =
		draw(2) ? sigprocmask(how, &set, &old) : pthread_sigmask(how, &set, &old);

	SAY("mask %d %llx: %d, was %llx\n", how, bits_of(&set), rc, bits_of(&old));
}

static void step_pending(void)
{
	sigset_t set = as_set(0);
	const int rc = draw(2) ? sigpending(&set) : (int)syscall(SYS_rt_sigpending, &set, 8L);

	SAY("pending %d %llx mask %llx\n", rc, bits_of(&set), mask_now());
}

static void step_wait(void)
{
	const sigset_t set = as_set(draw_set());
	const struct timespec at_once = { 0 };
	siginfo_t info = { 0 };
	const uint32_t is_raw = draw(2);
	const int rc = is_raw ? (int)syscall(SYS_rt_sigtimedwait, &set, &info, &at_once, 8L)
			      : sigtimedwait(&set, &info, &at_once);

	SAY("sigtimedwait %llx: %d errno %d code %d value %d\n", bits_of(&set), rc,
	    rc < 0 ? errno : 0, info.si_code,
	    info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
}

/* What waits for this thread: sent to it, and to the process. */
static void read_pending(uint64_t *out_own, uint64_t *out_shared)
{
	char text[4096] = "";
	const int fd = open("/proc/thread-self/status", O_RDONLY);

	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0) {
		*out_own = strtoull(strstr(text, "SigPnd:") + 7, NULL, 16);
		*out_shared = strtoull(strstr(text, "ShdPnd:") + 7, NULL, 16);
	}
	close(fd);
	/* Under fathom SIGTRAP waits as SIGSTKFLT, which nothing here sends. */
	for (int i = 0; i < 2; i++) {
		uint64_t *pending = i == 0 ? out_own : out_shared;

		if (*pending & BIT(SIGSTKFLT))
			*pending = (*pending & ~BIT(SIGSTKFLT)) | BIT(SIGTRAP);
	}
}

/* Whether its handler holds back one of these, as most do that of their own signal. */
static int holds_back(int number, uint64_t others)
{
	struct sigaction now;

	sigaction(number, NULL, &now);
	return ((bits_of(&now.sa_mask) | (now.sa_flags & SA_NODEFER ? 0 : BIT(number))) &
		others) != 0;
}

/*
 * Of several that a wait lets in the first may hold back the rest, until the mask from before
 * the wait does.  Whether that was so or nothing ran yet is not shown by our trap if no fault
 * is among the signals that only the wait lets in (decision 0009).
 */
static int is_left_to_chance(uint64_t mask, uint64_t own, uint64_t shared)
{
	/* Those for real time queue, and may be more than one. */
	const uint64_t twice = (own & shared) | ((own | shared) & BIT(40));
	const uint64_t all = own | shared;
	int holding = 0;

	if (mask_now() & ~mask & (BIT(SIGSEGV) | BIT(SIGBUS)))
		return 0;
	for (int number = 1; number <= 64; number++) {
		const uint64_t others = (all & ~BIT(number)) | (twice & BIT(number));

		holding |= (all & BIT(number)) && holds_back(number, others);
	}
	return holding;
}

/*
 * How many signals are pending that this mask lets in; -1 if what ends the wait depends on what
 * else comes: one of them is ignored (decision 0010), or holds back another.
 */
static int count_awaited(uint64_t mask)
{
	uint64_t own = 0, shared = 0;
	int count = 0;

	read_pending(&own, &shared);
	own &= ~mask;
	shared &= ~mask;
	for (int number = 1; number <= 64; number++) {
		if (!((own | shared) & BIT(number)))
			continue;
		if (!is_handled(number))
			return -1;
		count++;
	}
	return is_left_to_chance(mask, own, shared) ? -1 : count;
}

static void step_suspend(void)
{
	const uint64_t mask = draw_set();
	const sigset_t set = as_set(mask);

	if (count_awaited(mask) <= 0)
		return;
	SAY("suspend %llx\n", bits_of(&set));
	is_waiting = 1;
	const int rc = sigsuspend(&set);

	is_waiting = 0;
	SAY("  %d errno %d mask %llx\n", rc, errno, mask_now());
}

static void step_sigwait(void)
{
	const sigset_t set = as_set(draw_set());
	sigset_t pending;
	int number = 0;

	sigpending(&pending);
	if ((bits_of(&pending) & bits_of(&set)) == 0)
		return;
	const int rc = sigwait(&set, &number);

	SAY("sigwait %llx: %d %d\n", bits_of(&set), rc, number);
}

static void step_poll(void)
{
	const sigset_t set = as_set(draw_set());
	const struct timespec at_once = { 0 };
	struct epoll_event event;
	const struct {
		const sigset_t *set;
		size_t bytes;
	} raw = { &set, 8 };
	const uint32_t way = draw(5);
	int rc;

	if (count_awaited(bits_of(&set)) < 0)
		return;
	SAY("poll %u %llx\n", way, bits_of(&set));
	errno = 0;
	is_waiting = 1;
	if (way == 0)
		rc = ppoll(NULL, 0, &at_once, &set);
	else if (way == 1)
		rc = pselect(0, NULL, NULL, NULL, &at_once, &set);
	else if (way == 2)
		rc = epoll_pwait(3, &event, 1, 0, &set);
	else if (way == 3)
		rc = (int)syscall(SYS_ppoll, NULL, 0L, &at_once, &set, 8L);
	else
		rc = (int)syscall(SYS_pselect6, 0L, NULL, NULL, NULL, &at_once, &raw);
	is_waiting = 0;
	SAY("  %d errno %d mask %llx\n", rc, rc < 0 ? errno : 0, mask_now());
}

static void step_older(void)
{
	const int number = draw_signal();
	const uint32_t way = draw(8);
	sighandler_t handler = SIG_DFL;

	SAY("older %u %d\n", way, number);
	if (way == 0)
		handler = signal(number, on_plain_signal);
	else if (way == 1)
		handler = sigset(number, on_plain_signal);
	else if (way == 2)
		handler = sigset(number, SIG_HOLD);
	else if (way == 3)
		SAY("  %d\n", sighold(number));
	else if (way == 4)
		SAY("  %d\n", sigrelse(number));
	else if (way == 5)
		SAY("  %d\n", siginterrupt(number, (int)draw(2)));
	else if (way == 6)
		SAY("  %x\n", (unsigned)sigblock(BIT(SIGTRAP)));
	else
		SAY("  %x\n", (unsigned)siggetmask());
	SAY("  %s mask %llx\n", name_of(handler), mask_now());
}

static void step_raw(void)
{
	uint64_t set = draw_set(), old = 0;
	struct {
		sighandler_t handler;
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} action;
	const int number = draw_signal();
	const int how = (int)draw(3);
	long rc = syscall(SYS_rt_sigaction, number, NULL, &action, 8L);

	SAY("raw action %d: %ld %s %lx %llx\n", number, rc, name_of(action.handler),
	    action.flags, (unsigned long long)action.mask);
	rc = syscall(SYS_rt_sigprocmask, how, &set, &old, 8L);
	SAY("raw mask %d %llx: %ld %llx\n", how, (unsigned long long)set, rc,
	    (unsigned long long)old);
}

static void step(void);

static void *thread(void *argument)
{
	(void)argument;
	is_thread = 1;
	SAY("thread mask %llx\n", mask_now());
	for (int i = 0; i < 4; i++)
		step();
	return NULL;
}

/* One at a time, and while it runs this one waits with everything blocked. */
static void step_thread(void)
{
	sigset_t all, before;
	pthread_t id;

	if (is_thread || depth > 0)
		return;
	pthread_create(&id, NULL, thread, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_join(id, NULL);
	is_thread = 0;
	SAY("joined\n");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void step_child(void)
{
	int status = 0;

	if (is_thread)
		return;
	const sigset_t set = as_set(~0ULL);
	sigset_t before;

	sigprocmask(SIG_SETMASK, &set, &before);
	const pid_t child = fork();

	if (child == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		step_pending();
		step_query();
		step_send();
		_exit(3);
	}
	waitpid(child, &status, 0);
	SAY("child %x\n", (unsigned)status);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void step(void)
{
	static void (*const steps[])(void) = {
		step_send,  step_send,  step_send,    step_sigaction, step_sigaction,
		step_query, step_mask,  step_mask,    step_mask,      step_pending,
		step_wait,  step_wait,  step_suspend, step_sigwait,   step_poll,
		step_poll,  step_older, step_raw,
	};
	const uint32_t which = draw(200);

	compute();
	if (which == 0)
		step_child();
	else if (which < 6)
		step_thread();
	else
		steps[which % (sizeof steps / sizeof steps[0])]();
}

static void run(uint64_t seed, int count)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	volatile int done = 0;

	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaction(signals[i], &action, NULL);
	/* A handler may jump here out of any step. */
	if (sigsetjmp(step_begin, 1) != 0) {
		is_waiting = 0;
		SAY("jumped, mask %llx\n", mask_now());
	}
	while (done < count) {
		done++;
		step();
	}
}

int main(int argc, char **argv)
{
	const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 50;
	const int steps = argc > 3 ? atoi(argv[3]) : 100;

	/* Descriptor 3, for step_poll(). */
	if (epoll_create1(0) != 3)
		return 2;
	for (uint64_t seed = first; seed < first + count; seed++) {
		const pid_t child = fork();
		int status;

		if (child == 0) {
			run(seed, steps);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child)
			return 1;
		SAY("seed %llu ended with %x\n", (unsigned long long)seed, (unsigned)status);
	}
	return 0;
}
