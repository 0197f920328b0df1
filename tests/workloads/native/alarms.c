/*
 * alarms - a library whose signal handler calls functions of compiled code, for programs in any
 * language: alarms_begin() has it come every so many microseconds, alarms_end() no more.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>

#define UNTRACED __attribute__((no_instrument_function))

/* The handler may run on several threads at a time. */
static atomic_long count;
static volatile int sink;

__attribute__((noinline)) static void part_of_alarm(int i)
{
	sink += i;
}

__attribute__((noinline)) static void on_alarm(int number)
{
	count++;
	part_of_alarm(number);
	part_of_alarm(number + 1);
	sink++;
}

static UNTRACED void set_timer(int us)
{
	const struct itimerval every = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &every, NULL);
}

UNTRACED void alarms_begin(int us)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	set_timer(us);
}

/* How often it came. */
UNTRACED long alarms_end(void)
{
	set_timer(0);
	signal(SIGALRM, SIG_IGN);
	return count;
}
