/* killed - by itself, after 12,345 calls of before_the_end(). */
#include <signal.h>

static volatile int sink;

__attribute__((noinline)) static void before_the_end(int i)
{
	sink += i;
}

int main(void)
{
	for (int i = 0; i < 12345; i++)
		before_the_end(i);
	raise(SIGKILL);
	return 0;
}
