/* threads - three named threads of different work: 1, 2 and 3 parts of CPU time. */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>

KEEP static uint64_t work_one(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t work_two(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

KEEP static uint64_t work_three(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 2862933555777941757u + 3037000493u;
	return x;
}

static struct worker {
	const char *thread_name, *function_name;
	uint64_t (*work)(uint64_t);
	uint64_t parts;
	pthread_t thread;
	uint64_t budget_ns, spent_ns, cpu_ns;
	volatile uint64_t sink;
} workers[3] = {
	{ .thread_name = "first", .function_name = "work_one", .work = work_one, .parts = 1 },
	{ .thread_name = "second", .function_name = "work_two", .work = work_two, .parts = 2 },
	{ .thread_name = "third",
	  .function_name = "work_three",
	  .work = work_three,
	  .parts = 3 },
};

static void *run(void *argument)
{
	struct worker *worker = argument;

	pthread_setname_np(pthread_self(), worker->thread_name);
	uint64_t begin = truth_thread_cpu_ns(), now = begin;
	for (uint64_t turn = 0; now < worker->budget_ns; turn++) {
		worker->sink = worker->work(truth_vary(turn, 200000, 300000));
		now = truth_thread_cpu_ns();
	}
	worker->spent_ns = now - begin;
	worker->cpu_ns = now;
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 1800);

	for (int i = 0; i < 3; i++) {
		workers[i].budget_ns = budget * workers[i].parts / 6;
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0)
			abort();
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(workers[i].thread, NULL);
		truth_add(TRUTH_SELF, workers[i].function_name, workers[i].spent_ns);
		truth_add(TRUTH_THREAD, workers[i].thread_name, workers[i].cpu_ns);
	}
	truth_print();
	return 0;
}
