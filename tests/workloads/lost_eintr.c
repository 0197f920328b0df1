/*
 * lost_eintr [ALARMS] - alarms of the program's own come while it reads from an empty pipe.
 *
 * First without SA_RESTART: each read() must fail with EINTR.  A read that is made to begin
 * anew instead ends with the next alarm, 0.2 s later, and is counted as lost.  An alarm that
 * came before the read began, since the program was held up, says nothing; it is counted
 * apart.  Then with SA_RESTART: the handler feeds the pipe, and no read() may fail.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "truth.h"

#define AGAIN_US 200000
#define ENOUGH   50 /* lost ones: each takes its time */

static int pipe_ends[2];
static volatile sig_atomic_t alarms, is_reading, was_reading;
static volatile uint64_t sink;

static void on_alarm(int number)
{
	(void)number;
	if (alarms++ == 0)
		was_reading = is_reading;
}

static void on_alarm_feed(int number)
{
	on_alarm(number);
	if (write(pipe_ends[1], "x", 1) != 1)
		abort();
}

static void catch_alarms(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

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

/* One read that an alarm ends, or does not. */
static ssize_t read_with_alarm(uint64_t turn, long again_us)
{
	char byte;
	ssize_t rc;

	compute(turn);
	alarms = 0;
	is_reading = 0;
	set_alarm(60 + (long)(turn % 64), again_us);
	is_reading = 1;
	rc = read(pipe_ends[0], &byte, 1);
	set_alarm(0, 0);
	return rc;
}

static void count_lost(uint64_t count)
{
	uint64_t lost = 0, came_before = 0, odd = 0;

	catch_alarms(on_alarm, 0);
	for (uint64_t turn = 0; turn < count && lost < ENOUGH; turn++) {
		if (read_with_alarm(turn, AGAIN_US) != -1 || errno != EINTR)
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
		failed += read_with_alarm(turn, 0) != 1;
	truth_add(TRUTH_COUNT, "restarts", count);
	truth_add(TRUTH_COUNT, "failed", failed);
}

int main(int argc, char **argv)
{
	const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;

	if (pipe(pipe_ends) != 0)
		return 2;
	count_lost(count);
	count_failed(count);
	truth_print();
	return 0;
}
