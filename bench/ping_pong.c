/*
 * ping_pong - two threads on one processor pass a byte to and fro through pipes: ping_pong TIMES
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static int there[2], back[2];

static void *echo(void *unused)
{
	char byte;

	(void)unused;
	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		continue;
	return NULL;
}

int main(int argc, char **argv)
{
	const long times = argc > 1 ? atol(argv[1]) : 100000;
	pthread_t other;
	cpu_set_t one;
	char byte = 0;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	if (pipe(there) < 0 || pipe(back) < 0 || pthread_create(&other, NULL, echo, NULL) != 0)
		return 2;
	for (long i = 0; i < times; i++) {
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 2;
	}
	close(there[1]);
	pthread_join(other, NULL);
	return 0;
}
