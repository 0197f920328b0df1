/*
 * count_calls NAME COMMAND… - counts the system calls of a command and all its descendants, by
 * number, and prints them as one line of JSON behind the command's output.
 *
 * The kernel reports each call by its tracepoint: nothing is stopped or slowed as under
 * ptrace(2).  What programs called NAME do is left out, and so are their children until they
 * run another program: that is the recorder.  What a child of such a child runs stays left out: with
 * that the recorder measures what a start costs.  Rings of all processors are put in order by time
 * at the end.  Needs root; ends with 77 and a sentence where tracepoints cannot be had.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING_BYTES   (8u << 20)
#define PAGE_BYTES   4096u
#define CPUS_MAX     256
#define CALLS_MAX    1024
#define PIDS_MAX     (1u << 22)
#define CANNOT_COUNT 77

enum what { CALL, FORK, EXEC };

struct happened {
	uint64_t time;
	enum what what;
	uint32_t pid, parent;
	uint32_t call;   /* CALL */
	int is_left_out; /* EXEC */
};

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

static struct ring rings[CPUS_MAX];
static int ring_count;
static struct happened *events;
static size_t event_count, event_room;
static uint64_t lost;
static const char *left_out_name;
/* By pid: whether this process is left out, and how many forks it is from a program called NAME. */
enum { COUNTED, LEFT_OUT, CHILD_LEFT_OUT, GRANDCHILD_LEFT_OUT };
static uint8_t is_left_out[PIDS_MAX];

static void fail(const char *what)
{
	fprintf(stderr, "count_calls: %s: %s\n", what, strerror(errno));
	exit(CANNOT_COUNT);
}

/* ---- the tracepoint ---- */

static const char id_path[] = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id";

/* Mounts what is missing where only this process sees it. */
static uint64_t tracepoint_id(void)
{
	char text[32] = "";
	FILE *file = fopen(id_path, "re");

	if (file == NULL && unshare(CLONE_NEWNS) == 0 &&
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) == 0)
		file = fopen(id_path, "re");
	if (file == NULL)
		fail("tracefs cannot be had");
	if (fgets(text, sizeof text, file) == NULL)
		fail(id_path);
	fclose(file);
	return strtoull(text, NULL, 10);
}

static void open_ring(uint64_t id, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = RING_BYTES / 4,
	};
	struct ring *ring = &rings[ring_count];

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0 && errno == ENODEV) /* a processor that is off */
		return;
	if (ring->fd < 0)
		fail("perf_event_open of raw_syscalls:sys_enter");
	ring->page = mmap(NULL, PAGE_BYTES + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring->fd, 0);
	if (ring->page == MAP_FAILED)
		fail("a ring");
	ring_count++;
}

/* ---- what the rings have ---- */

static struct happened *add_event(enum what what, uint64_t time, uint32_t pid)
{
	if (event_count == event_room) {
		event_room = event_room ? event_room * 2 : 4096;
		events = realloc(events, event_room * sizeof *events);
		if (events == NULL)
			fail("memory");
	}
	events[event_count] = (struct happened){ .what = what, .time = time, .pid = pid };
	return &events[event_count++];
}

static uint64_t word_at(const char *record, size_t offset, size_t len)
{
	uint64_t word = 0;

	memcpy(&word, record + offset, len);
	return word;
}

/* See perf_event_open(2) for the layouts; all end with the time. */
static void take_record(const char *record, const struct perf_event_header *header)
{
	const uint32_t pid = (uint32_t)word_at(record, 8, 4);
	const uint64_t end_time = word_at(record, header->size - 8u, 8);

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		/* pid, tid, time, size of the raw part, which has 8 common bytes */
		add_event(CALL, word_at(record, 16, 8), pid)->call =
			(uint32_t)word_at(record, 24 + 4 + 8, 8);
		break;
	case PERF_RECORD_COMM:
		if (header->misc & PERF_RECORD_MISC_COMM_EXEC)
			add_event(EXEC, end_time, pid)->is_left_out =
				strcmp(record + 16, left_out_name) == 0;
		break;
	case PERF_RECORD_FORK:
		add_event(FORK, end_time, pid)->parent = (uint32_t)word_at(record, 12, 4);
		break;
	case PERF_RECORD_LOST:
		lost += word_at(record, 16, 8);
		break;
	}
}

static void drain(struct ring *ring)
{
	/* Pairs with the kernel's barrier before it moves data_head. */
	const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	const char *data = (const char *)ring->page + PAGE_BYTES;
	uint64_t tail = ring->page->data_tail;
	static char record[UINT16_MAX];

	while (tail < head) {
		struct perf_event_header header;

		for (size_t i = 0; i < sizeof header; i++)
			record[i] = data[(tail + i) % RING_BYTES];
		memcpy(&header, record, sizeof header);
		for (size_t i = 0; i < header.size; i++)
			record[i] = data[(tail + i) % RING_BYTES];
		take_record(record, &header);
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static int by_time(const void *left, const void *right)
{
	const struct happened *a = left, *b = right;

	return (a->time > b->time) - (a->time < b->time);
}

/* ---- the sums ---- */

static uint8_t child_of(uint8_t parent)
{
	return parent == COUNTED || parent == GRANDCHILD_LEFT_OUT ? parent : parent + 1;
}

static void print_sums(void)
{
	static uint64_t calls[CALLS_MAX];
	uint64_t images = 0, forks = 0, threads = 0;
	const char *separator = "";

	qsort(events, event_count, sizeof *events, by_time);
	for (size_t i = 0; i < event_count; i++) {
		const struct happened *e = &events[i];
		uint8_t *out = &is_left_out[e->pid % PIDS_MAX];

		if (e->what == EXEC) {
			if (e->is_left_out)
				*out = LEFT_OUT;
			else if (*out != GRANDCHILD_LEFT_OUT)
				*out = COUNTED;
			images += !*out;
		} else if (e->what == FORK) {
			if (e->pid != e->parent)
				*out = child_of(is_left_out[e->parent % PIDS_MAX]);
			forks += !*out && e->pid != e->parent;
			threads += !*out && e->pid == e->parent;
		} else if (!*out && e->call < CALLS_MAX) {
			calls[e->call]++;
		}
	}
	printf("\n{\"images\": %" PRIu64 ", \"forks\": %" PRIu64 ", \"threads\": %" PRIu64
	       ", \"lost\": %" PRIu64 ", \"calls\": {",
	       images, forks, threads, lost);
	for (unsigned i = 0; i < CALLS_MAX; i++) {
		if (calls[i] > 0) {
			printf("%s\"%u\": %" PRIu64, separator, i, calls[i]);
			separator = ", ";
		}
	}
	printf("}}\n");
}

/* The command waits until it is asked to go on, so that nothing of it is missed. */
static pid_t start(char **command, int *out_go)
{
	int go[2];
	char byte;

	if (pipe(go) != 0)
		fail("pipe");
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1) {
			close(go[0]);
			execvp(command[0], command);
			perror(command[0]);
		}
		_exit(127);
	}
	close(go[0]);
	*out_go = go[1];
	return pid;
}

int main(int argc, char **argv)
{
	int status = 0, go;

	if (argc < 3)
		return CANNOT_COUNT;
	left_out_name = argv[1];
	const pid_t pid = start(argv + 2, &go);
	const uint64_t id = tracepoint_id();

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF) && cpu < CPUS_MAX; cpu++)
		open_ring(id, pid, cpu);
	if (write(go, "x", 1) != 1)
		fail("the command");
	close(go);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		poll(NULL, 0, 5);
		for (int i = 0; i < ring_count; i++)
			drain(&rings[i]);
	}
	for (int i = 0; i < ring_count; i++)
		drain(&rings[i]);
	print_sums();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
