/*
 * known_waits - threads that wait, each for one thing; four that hold a mutex in turn, and wait
 * for each other; and one that waits for several things in turn.
 *
 * usage: known_waits SECONDS FILE
 *
 * FILE is made: 8 MiB, read past the page cache and synced.  Prints what is true: for each thread
 * how long it lived, ran and was runnable, at its end too, and how long it waited in which state; of
 * the four with the mutex, which thread waited for how long while which one held it; and how many calls gave
 * EINTR.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "meter.h"

#define FILE_BYTES   (8 << 20)
#define BLOCK_BYTES  (256 << 10)
#define HOLDERS      4
#define HOLDS_MOST   20000
#define FIRST_HOLDER 7
#define LATE_NS      100000000ULL

enum state { IO, LOCK, SLEEP, WAIT, STATES };
static const char *const words[STATES] = { "io", "lock", "sleep", "wait" };

struct life {
	const char *name;
	enum state state;
	void (*wait)(struct life *life);
	uint64_t number;
	uint64_t life_ns, running_ns, runnable_ns, waited_ns[STATES];
	uint64_t
		late_ns; /* runnable since LATE_NS before the end, and in the wait before that */
	struct meter meter;
	pthread_t thread;
};

struct span {
	uint64_t from_ns, to_ns;
};

/* Of the threads with the mutex: when each wanted it, had it, and gave it back. */
static struct span wants[HOLDERS][HOLDS_MOST], holds[HOLDERS][HOLDS_MOST];
static size_t hold_count[HOLDERS];

static uint64_t until_ns;
static unsigned int interrupted;
static int pipe_ends[2], event, direct, synced;
static uint32_t word;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void count(long result)
{
	if (result < 0 && errno == EINTR)
		__atomic_add_fetch(&interrupted, 1, __ATOMIC_RELAXED);
}

static void nap(uint64_t us)
{
	const struct timespec time = { (time_t)(us / 1000000), (long)(us % 1000000 * 1000) };

	/* It returns the error. */
	if (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == EINTR)
		__atomic_add_fetch(&interrupted, 1, __ATOMIC_RELAXED);
}

static void burn(uint64_t us)
{
	const uint64_t from_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns < us * 1000)
		continue;
}

static void begin(struct life *life)
{
	meter_begin(&life->meter);
}

static void end(struct life *life, enum state state)
{
	life->waited_ns[state] += meter_waited_ns(&life->meter);
}

static void sleeps(struct life *life)
{
	begin(life);
	nap(5000);
	end(life, SLEEP);
}

static void reads_pipe(struct life *life)
{
	char byte;

	begin(life);
	count(read(pipe_ends[0], &byte, 1));
	end(life, IO);
}

static void waits_for_word(struct life *life)
{
	const uint32_t now = __atomic_load_n(&word, __ATOMIC_ACQUIRE);

	begin(life);
	count(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0));
	end(life, LOCK);
}

static void polls(struct life *life)
{
	struct pollfd fd = { .fd = event, .events = POLLIN };

	begin(life);
	count(poll(&fd, 1, 30));
	end(life, IO);
}

static void reads_disk(struct life *life)
{
	static char block[BLOCK_BYTES] __attribute__((aligned(4096)));
	const off_t at = (off_t)(life->number++ * 7 % (FILE_BYTES / BLOCK_BYTES)) * BLOCK_BYTES;

	begin(life);
	count(pread(direct, block, sizeof block, at));
	end(life, IO);
	burn(500);
}

static void syncs(struct life *life)
{
	char text[64];

	memset(text, (int)life->number++, sizeof text);
	begin(life);
	count(pwrite(synced, text, sizeof text, 0));
	count(fsync(synced));
	end(life, IO);
	begin(life);
	nap(2000);
	end(life, SLEEP);
}

static void waits_for_child(struct life *life)
{
	/* On a busy machine fork() waits, too. */
	begin(life);
	const pid_t child = fork();

	if (child == 0) {
		nap(40000);
		_exit(0);
	}
	count(waitpid(child, NULL, 0));
	end(life, WAIT);
}

/* 8, 4, 2 and 1 ms, a half of it running. */
static void holds_mutex(struct life *life)
{
	const uint64_t number = life->number, us = 8000 >> number;
	size_t *at = &hold_count[number];
	struct span *want = &wants[number][*at], *hold = &holds[number][*at];

	begin(life);
	want->from_ns = life->meter.wall_ns;
	pthread_mutex_lock(&mutex);
	want->to_ns = hold->from_ns = clock_ns(CLOCK_MONOTONIC);
	end(life, LOCK);
	burn(us / 2);
	begin(life);
	nap(us / 2);
	end(life, SLEEP);
	hold->to_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&mutex);
	*at += *at + 1 < HOLDS_MOST;
	begin(life);
	nap(500);
	end(life, SLEEP);
}

/* 0.3 ms in a pipe that nothing comes through, 0.6 ms for a word that nothing changes, 1.2 ms. */
static void mixes(struct life *life)
{
	const struct timespec some = { .tv_nsec = 600000 }, few = { .tv_nsec = 300000 };
	static uint32_t still;
	static int quiet;
	struct pollfd fd = { .events = POLLIN };

	if (quiet == 0)
		quiet = eventfd(0, 0);
	fd.fd = quiet;
	begin(life);
	count(ppoll(&fd, 1, &few, NULL));
	end(life, IO);
	begin(life);
	count(syscall(SYS_futex, &still, FUTEX_WAIT_PRIVATE, 0, &some, NULL, 0));
	end(life, LOCK);
	begin(life);
	nap(1200);
	end(life, SLEEP);
}

static void *live(void *argument)
{
	struct life *life = argument;
	const uint64_t from_ns = clock_ns(CLOCK_MONOTONIC);

	prctl(PR_SET_NAME, life->name);
	life->meter = meter_open();
	uint64_t early_ns = 0, now_ns;

	while ((now_ns = clock_ns(CLOCK_MONOTONIC)) < until_ns) {
		if (now_ns + LATE_NS < until_ns)
			early_ns = meter_delay_ns(&life->meter);
		life->wait(life);
	}
	life->runnable_ns = meter_delay_ns(&life->meter);
	life->late_ns = life->runnable_ns - early_ns;
	close(life->meter.sched_fd);
	life->running_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	life->life_ns = clock_ns(CLOCK_MONOTONIC) - from_ns;
	return NULL;
}

static struct life lives[] = {
	{ .name = "sleep", .wait = sleeps },
	{ .name = "pipe", .wait = reads_pipe },
	{ .name = "futex", .wait = waits_for_word },
	{ .name = "poll", .wait = polls },
	{ .name = "disk", .wait = reads_disk },
	{ .name = "fsync", .wait = syncs },
	{ .name = "child", .wait = waits_for_child },
	{ .name = "holder-0", .wait = holds_mutex, .number = 0 },
	{ .name = "holder-1", .wait = holds_mutex, .number = 1 },
	{ .name = "holder-2", .wait = holds_mutex, .number = 2 },
	{ .name = "holder-3", .wait = holds_mutex, .number = 3 },
	{ .name = "mixed", .wait = mixes },
};
#define LIVES (sizeof lives / sizeof *lives)

/* How long one waited while the other one held it. */
static uint64_t common_ns(size_t waiter, size_t holder)
{
	uint64_t sum = 0;
	size_t first = 0;

	for (size_t i = 0; i < hold_count[waiter]; i++) {
		const struct span *want = &wants[waiter][i];

		while (first < hold_count[holder] &&
		       holds[holder][first].to_ns <= want->from_ns)
			first++;
		for (size_t j = first; j < hold_count[holder]; j++) {
			const struct span *hold = &holds[holder][j];
			const uint64_t from =
				hold->from_ns > want->from_ns ? hold->from_ns : want->from_ns;
			const uint64_t to =
				hold->to_ns < want->to_ns ? hold->to_ns : want->to_ns;

			if (hold->from_ns >= want->to_ns)
				break;
			sum += to > from ? to - from : 0;
		}
	}
	return sum;
}

static void print_pairs(void)
{
	printf("}, \"pairs\": {");
	for (size_t i = 0; i < HOLDERS; i++) {
		printf("%s\"%s\": {", i > 0 ? ", " : "", lives[FIRST_HOLDER + i].name);
		for (size_t j = 0, n = 0; j < HOLDERS; j++) {
			if (i != j)
				printf("%s\"%s\": %llu", n++ > 0 ? ", " : "",
				       lives[FIRST_HOLDER + j].name,
				       (unsigned long long)common_ns(i, j));
		}
		printf("}");
	}
	printf("}}\n");
}

static void print_life(const struct life *life)
{
	printf("\"%s\": {\"life\": %llu, \"running\": %llu, \"runnable\": %llu, \"late\": %llu",
	       life->name, (unsigned long long)life->life_ns,
	       (unsigned long long)life->running_ns, (unsigned long long)life->runnable_ns,
	       (unsigned long long)life->late_ns);
	for (size_t i = 0; i < STATES; i++)
		printf(", \"%s\": %llu", words[i], (unsigned long long)life->waited_ns[i]);
	printf("}");
}

/* What it needs; false: there is no such file here. */
static int prepare(const char *path)
{
	static char block[BLOCK_BYTES] __attribute__((aligned(4096)));

	synced = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < FILE_BYTES / BLOCK_BYTES; i++) {
		if (synced < 0 || write(synced, block, sizeof block) != sizeof block)
			return 0;
	}
	fsync(synced);
	direct = open(path, O_RDONLY | O_DIRECT);
	event = eventfd(0, 0);
	return direct >= 0 && event >= 0 && pipe(pipe_ends) == 0 &&
	       pread(direct, block, sizeof block, 0) == sizeof block;
}

int main(int argc, char **argv)
{
	if (argc < 3 || !prepare(argv[2])) {
		printf("{\"refused\": \"no file can be read past the page cache there\"}\n");
		return 0;
	}
	until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9);
	for (size_t i = 0; i < LIVES; i++)
		pthread_create(&lives[i].thread, NULL, live, &lives[i]);
	do {
		nap(21000);
		/* The reader and the waiter may be in their last waits. */
		count(write(pipe_ends[1], "x", 1));
		__atomic_add_fetch(&word, 1, __ATOMIC_RELEASE);
		count(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	} while (clock_ns(CLOCK_MONOTONIC) < until_ns + 50000000);
	for (size_t i = 0; i < LIVES; i++)
		pthread_join(lives[i].thread, NULL);
	printf("{\"interrupted\": %u, \"threads\": {", interrupted);
	for (size_t i = 0; i < LIVES; i++) {
		printf("%s", i > 0 ? ", " : "");
		print_life(&lives[i]);
	}
	print_pairs();
	return 0;
}
