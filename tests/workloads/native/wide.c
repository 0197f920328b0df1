/*
 * One caller of 4,096 functions, each called in turn, and then in another order.
 */
#define COUNT  4096U
#define ROUNDS 3U
#define STEP   7919U

#define ONE(n)                                    \
	__attribute__((noinline)) void f##n(void) \
	{                                         \
		__asm__ volatile("");             \
	}
#define POINT(n)      f##n,
#define FOUR(X, n)    X(n##0) X(n##1) X(n##2) X(n##3)
#define SIXTEEN(X, n) FOUR(X, n##0) FOUR(X, n##1) FOUR(X, n##2) FOUR(X, n##3)
#define MANY(X, n)    SIXTEEN(X, n##0) SIXTEEN(X, n##1) SIXTEEN(X, n##2) SIXTEEN(X, n##3)
#define MORE(X, n)    MANY(X, n##0) MANY(X, n##1) MANY(X, n##2) MANY(X, n##3)
#define MOST(X, n)    MORE(X, n##0) MORE(X, n##1) MORE(X, n##2) MORE(X, n##3)
#define ALL(X)        MOST(X, 0) MOST(X, 1) MOST(X, 2) MOST(X, 3)

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
ALL(ONE)
static void (*const functions[COUNT])(void) = { ALL(POINT) };

__attribute__((noinline)) static void dispatch(void)
{
	for (unsigned int turn = 0; turn < ROUNDS * COUNT; turn++)
		functions[turn % COUNT]();
	for (unsigned int turn = 0; turn < ROUNDS * COUNT; turn++)
		functions[turn * STEP % COUNT]();
}

int main(void)
{
	dispatch();
	return 0;
}
