/*
 * calls - functions that are left in every way there is; prints how often each was called.
 *
 * Each counts itself: what a tracer counts must be the same.  Given a name, only that part.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
/* No compiler makes another function of it: with fewer arguments, or a loop. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
#define COUNTED(name)                       \
	static atomic_long calls_of_##name; \
	ALONE static
#define COUNT(name) atomic_fetch_add(&calls_of_##name, 1)

static volatile double sink;

COUNTED(leaf) void leaf(int i)
{
	COUNT(leaf);
	sink += i;
}

COUNTED(middle) void middle(int i)
{
	COUNT(middle);
	leaf(i);
	leaf(i + 1);
}

COUNTED(recursive) long recursive(int n)
{
	COUNT(recursive);
	if (n < 2)
		return n;
	const long one = recursive(n - 1), two = recursive(n - 2);

	sink = (double)one;
	return one + two;
}

COUNTED(deep) long deep(int n)
{
	COUNT(deep);
	const long inner = n == 0 ? 0 : 1 + deep(n - 1);

	sink = (double)inner;
	return inner;
}

COUNTED(tail_end) int tail_end(int i)
{
	COUNT(tail_end);
	return i + 1;
}

COUNTED(tail_begin) int tail_begin(int i)
{
	COUNT(tail_begin);
	sink += i;
	return tail_end(i);
}

static jmp_buf back;

COUNTED(jumps) void jumps(int n)
{
	COUNT(jumps);
	if (n == 0)
		longjmp(back, 1);
	jumps(n - 1);
	sink += n;
}

/* Arguments and results in registers of every kind. */
struct pair {
	double a, b;
};

COUNTED(sums) double sums(int count, ...)
{
	__builtin_va_list list;
	double sum = 0;

	COUNT(sums);
	__builtin_va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += __builtin_va_arg(list, double);
	__builtin_va_end(list);
	return sum;
}

COUNTED(pairs) struct pair pairs(double a, float b, int c, long double d)
{
	COUNT(pairs);
	return (struct pair){ a + (double)d, (double)b * c };
}

COUNTED(longs) long double longs(long double x)
{
	COUNT(longs);
	return x / 3;
}

COUNTED(backs) int backs(int n)
{
	void *frames[64];

	COUNT(backs);
	if (n > 0)
		return backs(n - 1) + (sink > 1e300);
	const int count = backtrace(frames, 64);
	int own = 0;

	for (int i = 0; i < count; i++) {
		Dl_info info;

		own += dladdr(frames[i], &info) && strstr(info.dli_fname, "fathom") == NULL;
	}
	return own;
}

static void part_plain(void)
{
	for (int i = 0; i < 1000; i++)
		middle(i);
	printf("recursive gives %ld\n", recursive(15));
	printf("deep gives %ld\n", deep(50000));
	for (int i = 0; i < 100; i++)
		sink += tail_begin(i);
	for (int i = 0; i < 100; i++) {
		if (setjmp(back) == 0)
			jumps(5);
		leaf(i);
	}
	double sum = 0;

	for (int i = 0; i < 100; i++) {
		const struct pair pair = pairs(i, 2.5F, i, 3.0L);

		sum += sums(3, 1.5, 2.5, (double)i) + sums(0) + pair.a + pair.b +
		       (double)longs(i);
	}
	printf("the sum is %.3f\n", sum);
	printf("the stack has %d frames\n", backs(5));
}

COUNTED(in_thread) void in_thread(int i)
{
	COUNT(in_thread);
	if (i == 999)
		pthread_exit(NULL);
	leaf(i);
}

COUNTED(thread_main) void *thread_main(void *unused)
{
	COUNT(thread_main);
	for (int i = 0; i < 2000; i++)
		in_thread(i);
	return unused;
}

static atomic_int is_waiting, cleanups;

static UNTRACED void clean_up(void *unused)
{
	(void)unused;
	cleanups++;
}

COUNTED(waits) void waits(int n)
{
	COUNT(waits);
	pthread_cleanup_push(clean_up, NULL);
	if (n > 0)
		waits(n - 1);
	is_waiting = 1;
	for (;;)
		pause();
	pthread_cleanup_pop(0);
}

COUNTED(cancelled_main) void *cancelled_main(void *unused)
{
	COUNT(cancelled_main);
	waits(3);
	return unused;
}

static void part_threads(void)
{
	pthread_t threads[8];
	void *result;

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	pthread_create(&threads[0], NULL, cancelled_main, NULL);
	while (!is_waiting)
		usleep(1000);
	pthread_cancel(threads[0]);
	pthread_join(threads[0], &result);
	printf("cancelled: %d, cleaned up %d\n", result == PTHREAD_CANCELED, cleanups);
}

COUNTED(in_handler) void in_handler(int i)
{
	COUNT(in_handler);
	sink += i;
}

COUNTED(on_alarm) void on_alarm(int number)
{
	COUNT(on_alarm);
	in_handler(number);
	in_handler(number);
}

COUNTED(on_jump) void on_jump(int number)
{
	static sigset_t empty;

	COUNT(on_jump);
	in_handler(number);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	longjmp(back, 1);
}

/* Alarms as often as they come, while there are calls, on which stack there is. */
static UNTRACED void be_alarmed(int flags, void (*handler)(int), long count)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	const struct itimerval often = { { 0, 300 }, { 0, 300 } },
			       never = { { 0, 0 }, { 0, 0 } };
	volatile long i = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	setjmp(back);
	while (i < count) {
		i++;
		middle((int)i);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
}

static void part_signals(void)
{
	static char low[65536];
	char high[65536];
	stack_t stack = { .ss_sp = low, .ss_size = sizeof low };

	be_alarmed(0, on_alarm, 300000);
	be_alarmed(0, on_jump, 300000);
	sigaltstack(&stack, NULL);
	be_alarmed(SA_ONSTACK, on_alarm, 300000);
	be_alarmed(SA_ONSTACK, on_jump, 300000);
	stack.ss_sp = high;
	sigaltstack(&stack, NULL);
	be_alarmed(SA_ONSTACK, on_alarm, 300000);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

COUNTED(in_child) int in_child(int n)
{
	COUNT(in_child);
	const int inner = n == 0 ? 0 : in_child(n - 1) + 1;

	sink = inner;
	return inner;
}

static void part_children(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		/* Its calls are its own. */
		leaf(in_child(3));
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("the child ended with %d\n", WEXITSTATUS(status));
	child = vfork();
	if (child == 0) {
		in_child(10);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("the other child ended with %d\n", WEXITSTATUS(status));
}

static ucontext_t outside, inside[2];
static char stacks[2][262144];

COUNTED(in_context) void in_context(int i)
{
	COUNT(in_context);
	swapcontext(&inside[i], &outside);
	leaf(i);
}

COUNTED(context_main) void context_main(int i)
{
	COUNT(context_main);
	for (int k = 0; k < 100; k++)
		in_context(i);
}

static void part_contexts(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&inside[i]);
		inside[i].uc_stack.ss_sp = stacks[i];
		inside[i].uc_stack.ss_size = sizeof stacks[i];
		inside[i].uc_link = &outside;
		makecontext(&inside[i], (void (*)(void))context_main, 1, i);
	}
	for (int k = 0; k < 101; k++) {
		for (int i = 0; i < 2; i++)
			swapcontext(&outside, &inside[i]);
	}
}

static void part_libraries(int count, char **paths)
{
	int sum = 0;

	for (int round = 0; round < 20; round++) {
		void *library = dlopen(paths[round % count], RTLD_NOW);
		int (*const function)(int) = (int (*)(int))dlsym(library, "library_entry");

		for (int i = 0; i < 50; i++)
			sum += function(i);
		dlclose(library);
	}
	printf("libraries give %d\n", sum);
}

int main(int argc, char **argv)
{
	const char *part = argv[1];

	(void)argc;
	if (strstr(part, "plain"))
		part_plain();
	if (strstr(part, "threads"))
		part_threads();
	if (strstr(part, "signals"))
		part_signals();
	if (strstr(part, "children"))
		part_children();
	if (strstr(part, "contexts"))
		part_contexts();
	if (strstr(part, "libraries"))
		part_libraries(argc - 2, argv + 2);
#define PRINT(name) printf("calls %s %ld\n", #name, (long)calls_of_##name)
	PRINT(leaf);
	PRINT(middle);
	PRINT(recursive);
	PRINT(deep);
	PRINT(tail_end);
	PRINT(tail_begin);
	PRINT(jumps);
	PRINT(sums);
	PRINT(pairs);
	PRINT(longs);
	PRINT(backs);
	PRINT(in_thread);
	PRINT(thread_main);
	PRINT(waits);
	PRINT(cancelled_main);
	PRINT(in_handler);
	PRINT(on_alarm);
	PRINT(on_jump);
	PRINT(in_child);
	PRINT(in_context);
	PRINT(context_main);
	return 0;
}
