/* What threads had burned when they ended, and rings of perf events. */
#include "collect/events/exit_counters.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/events/perf_events.h"
#include "collect/events/perf_ring.h"

#define CHILDREN 40
#define PAGE     4096

/* What one child says of itself. */
struct life {
	pid_t pid;
	uint64_t cpu_ns;
};

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void child_live(int out, uint64_t ns)
{
	struct life life = { .pid = getpid() };

	do {
		life.cpu_ns = cpu_now_ns();
	} while (life.cpu_ns < ns);
	_exit(write(out, &life, sizeof life) == (ssize_t)sizeof life ? 0 : 1);
}

/* Makes its children when it is asked to; two at a time, so that both CPUs have some. */
static void parent_live(int go, int out)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	for (uint64_t i = 0; i < CHILDREN; i++) {
		if (fork() == 0)
			child_live(out, i % 3 * 300000);
		if (i % 2 == 1) {
			wait(NULL);
			wait(NULL);
		}
	}
	_exit(0);
}

static void the_end_of_each_process_says_what_it_had_burned(void **state)
{
	struct exit_counters *counters;
	struct life life;
	int go[2], out[2], close_ones = 0;
	uint64_t ns = 0, sum = 0, sum_of_lives = 0;

	(void)state;
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(out), 0);
	const pid_t pid = fork();

	if (pid == 0)
		parent_live(go[0], out[1]);
	close(out[1]);
	/* The kernel exchanges contexts of clones: another event that is not inherited forbids it. */
	const int unshared = perf_open_unshared(pid);

	counters = exit_counters_open(pid);
	if (counters == NULL) {
		close(go[1]);
		close(go[0]);
		print_message("perf events are refused here\n");
		skip();
	}
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	exit_counters_read(counters);
	for (int i = 0; i < CHILDREN; i++) {
		assert_int_equal(read(out[0], &life, sizeof life), sizeof life);
		assert_true(exit_counters_take(counters, life.pid, &ns));
		/* It says so before its end; its clock counts switches, too. */
		close_ones += ns > life.cpu_ns / 2;
		sum += ns;
		sum_of_lives += life.cpu_ns;
		assert_false(exit_counters_take(counters, life.pid, &ns));
	}
	/* Beside a load the kernel exchanges the figures of two that end together, once in thousands. */
	assert_true(close_ones > CHILDREN * 3 / 4);
	assert_true(sum > sum_of_lives / 2);
	exit_counters_close(counters);
	close(unshared);
	close(go[0]);
	close(go[1]);
	close(out[0]);
}

static void nothing_is_there_where_nothing_was_opened(void **state)
{
	(void)state;
	exit_counters_close(NULL);
	/* No process has that number: linux/threads.h, PID_MAX_LIMIT. */
	assert_null(exit_counters_open((4 << 20) + 1));
}

struct seen {
	unsigned count;
	uint32_t last_type;
	uint8_t last_bytes[256];
};

static void see(void *context, const struct perf_event_header *record)
{
	struct seen *seen = context;

	seen->count++;
	seen->last_type = record->type;
	memcpy(seen->last_bytes, record, record->size);
}

/* A ring of one page, as the kernel lays it out. */
static void make_ring(struct perf_ring *ring)
{
	const int fd = memfd_create("ring", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, 2 * PAGE), 0);
	assert_int_equal(perf_ring_map(ring, fd, 1), 0);
	ring->page->data_offset = PAGE;
	close(fd);
}

static void put(struct perf_ring *ring, uint32_t type, uint16_t size, uint8_t fill)
{
	uint8_t bytes[256];
	const struct perf_event_header header = { .type = type, .size = size };

	memset(bytes, fill, sizeof bytes);
	memcpy(bytes, &header, sizeof header);
	for (uint16_t i = 0; i < size; i++)
		((uint8_t *)ring->page)[PAGE + (ring->page->data_head + i) % PAGE] = bytes[i];
	ring->page->data_head += size;
}

static void a_record_that_the_rings_end_cuts_in_two_is_read_whole(void **state)
{
	struct perf_ring ring;
	struct seen seen = { 0 };

	(void)state;
	make_ring(&ring);
	for (int i = 0; i < 33; i++) {
		put(&ring, 3, 120, 7);
		assert_int_equal(perf_ring_read(&ring, see, &seen), 120 * 100 / PAGE);
	}
	put(&ring, 5, 240, 9); /* from 3,960 on */
	perf_ring_read(&ring, see, &seen);
	assert_int_equal(seen.count, 34);
	assert_int_equal(seen.last_type, 5);
	for (int i = 8; i < 240; i++)
		assert_int_equal(seen.last_bytes[i], 9);
	assert_int_equal(ring.page->data_tail, ring.page->data_head);
	perf_ring_unmap(&ring);
}

static void what_is_no_record_ends_the_reading(void **state)
{
	struct perf_ring ring;
	struct seen seen = { 0 };

	(void)state;
	make_ring(&ring);
	put(&ring, 3, 40, 1);
	put(&ring, 3, 40, 1);
	((struct perf_event_header *)((uint8_t *)ring.page + PAGE + 40))->size = 0;
	perf_ring_read(&ring, see, &seen);
	assert_int_equal(seen.count, 1);
	((struct perf_event_header *)((uint8_t *)ring.page + PAGE + 40))->size = 48;
	perf_ring_read(&ring, see, &seen);
	assert_int_equal(seen.count, 1);
	perf_ring_unmap(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_each_process_says_what_it_had_burned),
		cmocka_unit_test(nothing_is_there_where_nothing_was_opened),
		cmocka_unit_test(a_record_that_the_rings_end_cuts_in_two_is_read_whole),
		cmocka_unit_test(what_is_no_record_ends_the_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
