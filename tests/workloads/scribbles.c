/*
 * scribbles STYLE SEED [CHILDREN] - children that write at random into the memory which they share
 * with a recorder, one after the other, and a parent that computes beside them.  Without a
 * STYLE it lists them.  Ends with 7.
 *
 * Every second child scribbles while it computes, and may die of what its agent makes of it; the
 * others at their end, in one go.  The parent's figures are true.
 */
#include "truth.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/ring.h"
#include "abi/trace.h"

#define QUIET    __attribute__((no_instrument_function))
#define CHILDREN 12
#define BURSTS   30
#define WRITES   64
/* So much of a trace's area is scribbled over: all but most of the nodes. */
#define AREA_BYTES (offsetof(struct trace_area, nodes) + (64 << 10))

static volatile uint64_t sink;

struct memory {
	char *start;
	uint64_t bytes;
	uint64_t word_count; /* before anything was scribbled */
	uint64_t random;
};

/* What is neither right nor random: where figures end, change their sign or wrap. */
static const uint64_t edges[] = {
	0,
	1,
	2,
	UINT64_MAX,
	UINT64_MAX - 99,
	INT64_MAX,
	(uint64_t)INT64_MAX + 1,
	(uint64_t)INT64_MAX + 2,
	1ULL << 62,
	(1ULL << 62) - 1,
	1ULL << 59,
	1ULL << 50,
	1ULL << 40,
	UINT32_MAX,
	1ULL << 32,
	1ULL << 31,
	0x0000000100000001,
	0x7fffffff7fffffff,
	0x8000000080000000,
	0xffff0000ffff0000,
};

enum { EDGES = sizeof edges / sizeof *edges };

KEEP static uint64_t work_of_the_parent(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

KEEP static uint64_t work_of_a_scribbler(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 3935559000370003845u + 2691343689449507681u;
	return x;
}

/* splitmix64 */
QUIET static uint64_t next_random(struct memory *memory)
{
	uint64_t z = memory->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* The largest mapping of this name; false: nothing records this process. */
QUIET static int find_memory(struct memory *memory)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	memory->bytes = 0;
	while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
		uint64_t start, end;

		if (strstr(line, "memfd:fathom-ring") != NULL &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    end - start > memory->bytes) {
			memory->start = (char *)(uintptr_t)start;
			memory->bytes = end - start;
		}
	}
	if (maps != NULL)
		fclose(maps);
	if (memory->bytes == 0)
		return 0;
	memory->word_count = ((struct ring_header *)(void *)memory->start)->word_count;
	return 1;
}

/* In the header, in the ring's words, or in the area behind them if there is one. */
QUIET static char *any_place(struct memory *memory, unsigned int part)
{
	const uint64_t words = RING_HEADER_BYTES + memory->word_count * sizeof(u64);
	uint64_t from = 0, to = sizeof(struct ring_header);

	if (part % 3 == 1) {
		from = RING_HEADER_BYTES;
		to = words;
	} else if (part % 3 == 2 && memory->bytes > words + AREA_BYTES) {
		from = words;
		to = words + AREA_BYTES;
	}
	return memory->start + from + next_random(memory) % ((to - from) / 8) * 8;
}

QUIET static void random_words(struct memory *memory, unsigned int part)
{
	const uint64_t word = next_random(memory);

	memcpy(any_place(memory, part), &word, sizeof word);
}

QUIET static void flipped_bits(struct memory *memory, unsigned int part)
{
	char *place = any_place(memory, part);

	place[next_random(memory) % 8] ^= (char)(1 << next_random(memory) % 8);
}

QUIET static void large_numbers(struct memory *memory, unsigned int part)
{
	memcpy(any_place(memory, part), &edges[next_random(memory) % EDGES], sizeof *edges);
}

/* A record as an agent commits it. */
QUIET static void commit(struct memory *memory, u8 type, const u64 *words, u16 count)
{
	struct ring_header *ring = (struct ring_header *)(void *)memory->start;
	u64 position = 0;

	if (ring_reserve(ring, memory->word_count, count, &position) < 0)
		return;
	for (u16 i = 1; i < count; i++)
		ring_put(ring, memory->word_count, position, i, words[i]);
	ring_commit(ring, memory->word_count, position, count, type);
}

QUIET static uint64_t edge_or(struct memory *memory, uint64_t otherwise)
{
	return next_random(memory) % 2 ? edges[next_random(memory) % EDGES] : otherwise;
}

QUIET static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whole records of figures that cannot be. */
QUIET static void committed_records(struct memory *memory, unsigned int part)
{
	u64 words[24] = { 0 };
	const u8 type = (u8)(RING_SAMPLE + next_random(memory) % RING_THREAD);

	for (int i = 1; i < 24; i++)
		words[i] = edge_or(memory, part % 2 ? next_random(memory) : 8);
	if (type == RING_SAMPLE && part % 3 == 0)
		words[1] = (u64)getpid();
	commit(memory, type, words,
	       type == RING_SAMPLE ? RING_WORDS(struct ring_sample)
				   : (u16)(1 + next_random(memory) % 23));
}

/* Samples that are right but for their time. */
QUIET static void times_of_its_choice(struct memory *memory, unsigned int part)
{
	const u64 pid = (u64)getpid();
	const u64 time_ns = part % 2 ? now_ns() + edges[next_random(memory) % EDGES]
				     : edges[next_random(memory) % EDGES];

	commit(memory, RING_SAMPLE,
	       (const u64[]){ 0, pid, time_ns, 0, (uintptr_t)work_of_a_scribbler, 1000, 1000 },
	       RING_WORDS(struct ring_sample));
}

QUIET static void nothing(struct memory *memory, unsigned int part)
{
	(void)memory;
	(void)part;
}

static const struct style {
	const char *name;
	void (*write)(struct memory *memory, unsigned int part);
} styles[] = {
	{ "random words", random_words },
	{ "flipped bits", flipped_bits },
	{ "large numbers", large_numbers },
	{ "committed records", committed_records },
	{ "times of its choice", times_of_its_choice },
	{ "nothing", nothing },
};

QUIET static void spend(uint64_t (*work)(uint64_t), uint64_t budget_us)
{
	const uint64_t begin = truth_thread_cpu_ns();

	do
		sink = work(20000);
	while (truth_thread_cpu_ns() - begin < budget_us * 1000);
}

QUIET static void scribble(const struct style *style, uint64_t seed, unsigned int turn)
{
	struct memory memory = { .random = seed << 8 | turn };

	spend(work_of_a_scribbler, 3000);
	if (!find_memory(&memory))
		_exit(0);
	for (int burst = 0; burst < BURSTS; burst++) {
		for (int i = 0; i < WRITES; i++)
			style->write(&memory, turn / 2);
		if (turn % 2 == 0)
			spend(work_of_a_scribbler, 500);
	}
	_exit(0);
}

QUIET static void run(const struct style *style, uint64_t seed, unsigned int children)
{
	for (unsigned int turn = 0; turn < children; turn++) {
		const pid_t child = fork();

		if (child < 0)
			abort();
		if (child == 0)
			scribble(style, seed, turn);
		spend(work_of_the_parent, 10000);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
}

QUIET int main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };

	if (argc < 3) {
		for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
			puts(styles[i].name);
		return 0;
	}
	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
		if (strcmp(argv[1], styles[i].name) != 0)
			continue;
		const uint64_t begin = truth_thread_cpu_ns();

		run(&styles[i], strtoull(argv[2], NULL, 10),
		    argc > 3 ? (unsigned int)atoi(argv[3]) : CHILDREN);
		truth_add(TRUTH_SELF, "work_of_the_parent", truth_thread_cpu_ns() - begin);
		truth_print();
		return 7;
	}
	fprintf(stderr, "scribbles: no such style: %s\n", argv[1]);
	return 2;
}
