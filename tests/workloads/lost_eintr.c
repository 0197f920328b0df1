/*
 * lost_eintr [ALARMS [CALL]] - alarms of the program's own come while it waits: reads from an
 * empty pipe, or what CALL says.
 *
 * First without SA_RESTART: each call must fail with EINTR.  One that is made to begin anew
 * instead ends with the next alarm, 0.2 s later, and is counted as lost.  An alarm that came
 * before the call began, since the program was held up, says nothing; it is counted apart.
 * Then, of read(), with SA_RESTART: the handler feeds the pipe, and none may fail.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "truth.h"

#define AGAIN_US 200000
#define ENOUGH   50 /* lost ones: each takes its time */

static int pipe_ends[2];
static volatile sig_atomic_t alarms, is_reading, was_reading;
static volatile uint64_t sink;

/* It interrupted a system call: one that has failed, or one that is put back to begin anew. */
static int is_at_call(const ucontext_t *context)
{
#if defined(__x86_64__)
	const greg_t *registers = context->uc_mcontext.gregs;
	const char *pc = (const char *)registers[REG_RIP];

	if (registers[REG_RAX] == -EINTR && memcmp(pc - 2, "\x0f\x05", 2) == 0)
		return 1;
	return registers[REG_RCX] == registers[REG_RIP] + 2 && memcmp(pc, "\x0f\x05", 2) == 0;
#else
	(void)context;
	return 1;
#endif
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (alarms++ == 0)
		was_reading = is_reading && is_at_call(context);
}

static void on_alarm_feed(int number, siginfo_t *info, void *context)
{
	on_alarm(number, info, context);
	if (write(pipe_ends[1], "x", 1) != 1)
		abort();
}

static void catch_alarms(void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
}

static void set_alarm(long first_us, long again_us)
{
	const struct itimerval alarm = { .it_value.tv_usec = first_us,
					 .it_interval.tv_usec = again_us };

	setitimer(ITIMER_REAL, &alarm, NULL);
}

KEEP static void compute(uint64_t turn)
{
	for (uint64_t i = truth_vary(turn, 1000, 40000); i > 0; i--)
		sink += i;
}

static long call_read(void)
{
	char byte;

	return read(pipe_ends[0], &byte, 1);
}

static long call_poll(void)
{
	struct pollfd end = { .fd = pipe_ends[0], .events = POLLIN };

	return poll(&end, 1, 2000);
}

static long call_select(void)
{
	struct timeval limit = { .tv_sec = 2 };

	return select(0, NULL, NULL, NULL, &limit);
}

static long call_nanosleep(void)
{
	const struct timespec time = { .tv_sec = 2 };

	return nanosleep(&time, NULL);
}

static long call_pause(void)
{
	return pause();
}

static const struct {
	const char *name;
	long (*call)(void);
} calls[] = {
	{ "read", call_read },           { "poll", call_poll },   { "select", call_select },
	{ "nanosleep", call_nanosleep }, { "pause", call_pause },
};

static long (*the_call)(void);

/* One call that an alarm ends, or does not. */
static long call_with_alarm(uint64_t turn, long again_us)
{
	long rc;

	compute(turn);
	alarms = 0;
	is_reading = 0;
	set_alarm(60 + (long)(turn % 64), again_us);
	is_reading = 1;
	rc = the_call();
	set_alarm(0, 0);
	return rc;
}

static void count_lost(uint64_t count)
{
	uint64_t lost = 0, came_before = 0, odd = 0;

	catch_alarms(on_alarm, 0);
	for (uint64_t turn = 0; turn < count && lost < ENOUGH; turn++) {
		if (call_with_alarm(turn, AGAIN_US) != -1 || errno != EINTR)
			odd++;
		else if (!was_reading)
			came_before++;
		else
			lost += alarms > 1;
	}
	truth_add(TRUTH_COUNT, "alarms", count);
	truth_add(TRUTH_COUNT, "lost", lost);
	truth_add(TRUTH_COUNT, "came_before", came_before);
	truth_add(TRUTH_COUNT, "odd", odd);
}

static void count_failed(uint64_t count)
{
	uint64_t failed = 0;

	catch_alarms(on_alarm_feed, SA_RESTART);
	for (uint64_t turn = 0; turn < count; turn++)
		failed += call_with_alarm(turn, 0) != 1;
	truth_add(TRUTH_COUNT, "restarts", count);
	truth_add(TRUTH_COUNT, "failed", failed);
}

int main(int argc, char **argv)
{
	const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
	const char *name = argc > 2 ? argv[2] : calls[0].name;

	for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		if (strcmp(calls[i].name, name) == 0)
			the_call = calls[i].call;
	}
	if (the_call == NULL || pipe(pipe_ends) != 0)
		return 2;
	count_lost(count);
	if (the_call == call_read)
		count_failed(count);
	truth_print();
	return 0;
}
