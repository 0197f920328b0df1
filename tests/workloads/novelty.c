/*
 * novelty - calls that hardly ever repeat: from `threads` threads, walks down a tree of calls
 * whose branches are drawn anew each time, so that each sample has a stack of its own:
 * novelty [MS [DEPTH [THREADS]]].
 *
 * All the work is at the bottom, in half_a and half_b, equally long.
 */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 16

struct walker {
	pthread_t thread;
	uint64_t random, budget_ns, spent[2];
	unsigned int depth;
	volatile uint64_t sink;
};

KEEP static uint64_t half_a(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t half_b(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

/* The 64-bit xorshift of Marsaglia, "Xorshift RNGs". */
static unsigned int draw(struct walker *walker)
{
	walker->random ^= walker->random << 13;
	walker->random ^= walker->random >> 7;
	walker->random ^= walker->random << 17;
	return (unsigned int)(walker->random >> 40) & 7;
}

typedef uint64_t branch(struct walker *walker, unsigned int depth);
static branch *const branches[8];

static uint64_t bottom(struct walker *walker)
{
	const uint64_t before = truth_thread_cpu_ns();
	const int half = walker->spent[1] < walker->spent[0];
	const uint64_t result = (half ? half_b : half_a)(20000 + 1000 * draw(walker));

	walker->spent[half] += truth_thread_cpu_ns() - before;
	return result;
}

/* The sum afterwards keeps the call from becoming a jump. */
#define BRANCH(name, number)                                                     \
	KEEP static uint64_t name(struct walker *walker, unsigned int depth)     \
	{                                                                        \
		if (depth == 0)                                                  \
			return bottom(walker);                                   \
		return branches[draw(walker)](walker, depth - 1) * 3 + (number); \
	}
BRANCH(branch_0, 0)
BRANCH(branch_1, 1)
BRANCH(branch_2, 2)
BRANCH(branch_3, 3)
BRANCH(branch_4, 4)
BRANCH(branch_5, 5)
BRANCH(branch_6, 6)
BRANCH(branch_7, 7)
#undef BRANCH

static branch *const branches[8] = { branch_0, branch_1, branch_2, branch_3,
				     branch_4, branch_5, branch_6, branch_7 };

static void *walk(void *argument)
{
	struct walker *walker = argument;

	while (truth_thread_cpu_ns() < walker->budget_ns)
		walker->sink = branches[draw(walker)](walker, walker->depth);
	return NULL;
}

static unsigned int number_of(int argc, char **argv, int place, unsigned int otherwise)
{
	return argc > place ? (unsigned int)strtoul(argv[place], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	static struct walker walkers[THREADS_MAX];
	const uint64_t budget_ns = truth_budget_ns(argc, argv, 2000);
	const unsigned int depth = number_of(argc, argv, 2, 12);
	const unsigned int threads = number_of(argc, argv, 3, 1) % (THREADS_MAX + 1);

	for (unsigned int i = 0; i < threads; i++) {
		walkers[i] = (struct walker){ .random = 88172645463325252u + i,
					      .budget_ns = budget_ns / threads,
					      .depth = depth };
		if (pthread_create(&walkers[i].thread, NULL, walk, &walkers[i]) != 0)
			abort();
	}
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(walkers[i].thread, NULL);
		truth_add(TRUTH_SELF, "half_a", walkers[i].spent[0]);
		truth_add(TRUTH_SELF, "half_b", walkers[i].spent[1]);
	}
	truth_print();
	return 0;
}
