/*
 * waiting - waits a thousand times by one means, with every signal blocked, and computes in
 * between and on another thread; prints how often it was woken, and by what.
 *
 * usage: waiting sigwait|ppoll|pselect|epoll_pwait|sigsuspend|signalfd
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 1000

static sigset_t all, but_usr1;
static volatile int is_done, handled;
static int epoll_fd, signal_fd;

static void compute(int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		;
}

static void on_usr1(int signal)
{
	(void)signal;
	handled++;
}

static void *compute_until_done(void *argument)
{
	while (!is_done)
		compute(100000);
	return argument;
}

static const struct timespec a_while = { .tv_nsec = 200000 };

/* Each returns what it got, negative for an error; SIGUSR1 is pending in every other round. */
static int by_sigwait(void)
{
	const int rc = sigtimedwait(&all, NULL, &a_while);

	return rc < 0 ? -errno : rc;
}

static int by_ppoll(void)
{
	return ppoll(NULL, 0, &a_while, &but_usr1) < 0 ? -errno : 0;
}

static int by_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &a_while, &but_usr1) < 0 ? -errno : 0;
}

static int by_epoll(void)
{
	struct epoll_event event;

	return epoll_pwait(epoll_fd, &event, 1, 1, &but_usr1) < 0 ? -errno : 0;
}

static int by_sigsuspend(void)
{
	sigset_t pending;

	sigpending(&pending);
	if (!sigismember(&pending, SIGUSR1))
		return 0;
	return sigsuspend(&but_usr1) < 0 ? -errno : 0;
}

static int by_signalfd(void)
{
	struct epoll_event event;
	struct signalfd_siginfo info;

	if (epoll_wait(epoll_fd, &event, 1, 1) == 0)
		return 0;
	return read(signal_fd, &info, sizeof info) < 0 ? -errno : (int)info.ssi_signo;
}

static const struct {
	const char *name;
	int (*wait)(void);
} means[] = {
	{ "sigwait", by_sigwait },       { "ppoll", by_ppoll },
	{ "pselect", by_pselect },       { "epoll_pwait", by_epoll },
	{ "sigsuspend", by_sigsuspend }, { "signalfd", by_signalfd },
};

static void run(int (*wait)(void))
{
	int counts[128] = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		compute(50000);
		if (i % 2)
			raise(SIGUSR1);
		const int rc = wait();

		counts[rc < 0 ? 64 - rc % 64 : rc]++;
	}
	for (int i = 0; i < 128; i++)
		if (counts[i] != 0)
			printf("%s %d: %d\n", i > 64 ? "error" : "result", i > 64 ? i - 64 : i,
			       counts[i]);
	printf("handled %d\n", handled);
}

int main(int argc, char **argv)
{
	struct epoll_event event = { .events = EPOLLIN };
	const struct sigaction action = { .sa_handler = on_usr1 };
	pthread_t other;

	sigfillset(&all);
	but_usr1 = all;
	sigdelset(&but_usr1, SIGUSR1);
	sigaction(SIGUSR1, &action, NULL);
	sigprocmask(SIG_SETMASK, &all, NULL);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (argc > 1 && strcmp(argv[1], "signalfd") == 0) {
		signal_fd = signalfd(-1, &all, SFD_CLOEXEC);
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, signal_fd, &event);
	}
	pthread_create(&other, NULL, compute_until_done, NULL);
	for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
		if (argc > 1 && strcmp(argv[1], means[i].name) == 0)
			run(means[i].wait);
	is_done = 1;
	pthread_join(other, NULL);
	return 0;
}
