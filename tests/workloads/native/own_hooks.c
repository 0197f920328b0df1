/*
 * own_hooks - has the hooks of -finstrument-functions itself, and prints how often they were
 * called.
 */
#include <stdio.h>

#define UNTRACED __attribute__((no_instrument_function))

static int begun, ended;
static volatile int sink;

UNTRACED void __cyg_profile_func_enter(void *function, void *caller)
{
	begun += function != caller;
}

UNTRACED void __cyg_profile_func_exit(void *function, void *caller)
{
	ended += function != caller;
}

__attribute__((noinline)) static void called(int i)
{
	sink += i;
}

int main(void)
{
	for (int i = 0; i < 100; i++)
		called(i);
	printf("%d %d\n", begun, ended);
	return 0;
}
