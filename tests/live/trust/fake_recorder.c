/*
 * fake_recorder - answers agents as a recorder does, but with a ring that is spoiled in one way.
 *
 *   fake_recorder list record|trace	the ways, one a line; the first is a ring as it should be
 *   fake_recorder list layouts		those of interpreters' layouts (fake_layouts.h)
 *   fake_recorder SOCKET record|trace WAY [scribble]
 *
 * It says "listening", and for each request "request PID OCCASION".  When its standard input ends it
 * says of how many rings sampling or tracing was begun, and in how many of these an interpreter's
 * frames or calls were seen ("begun N M"), and ends.  With scribble it writes random words into
 * the rings while the programs run, head and tail included.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "abi/ring.h"
#include "abi/trace.h"
#include "fake_layouts.h"

#define WORDS      (128U * 1024)
#define WORDS_END  (RING_HEADER_BYTES + (uint64_t)WORDS * sizeof(u64))
#define PAGE       4096U
#define ALL_SEALS  (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define PERIOD_NS  997000U
#define MOST_RINGS 64

/* A ring before it is handed over. */
struct made {
	struct ring_header header;
	uint64_t bytes; /* of the memory */
	uint64_t said;  /* in the answer */
	int seals;
	int fd;        /* what is handed over in place of the memory; -1: nothing is */
	bool is_other; /* fd is that */
};

static void as_it_should_be(struct made *made)
{
	(void)made;
}

static void without_seals(struct made *made)
{
	made->seals = 0;
}

static void may_be_made_shorter(struct made *made)
{
	made->seals = F_SEAL_GROW;
}

static void may_be_made_longer(struct made *made)
{
	made->seals = F_SEAL_SHRINK;
}

static void may_not_be_written(struct made *made)
{
	made->seals = ALL_SEALS | F_SEAL_FUTURE_WRITE;
}

static void said_longer(struct made *made)
{
	made->said = made->header.bytes = made->bytes + PAGE;
}

static void said_as_long_but_is_empty(struct made *made)
{
	made->bytes = 0;
}

static void is_a_header_only(struct made *made)
{
	made->bytes = made->said = made->header.bytes = RING_HEADER_BYTES;
}

static void said_no_bytes(struct made *made)
{
	made->said = 0;
}

static void said_all_bytes(struct made *made)
{
	made->said = ~0ULL;
}

static void is_no_descriptor(struct made *made)
{
	made->is_other = true;
}

static void is_a_pipe(struct made *made)
{
	int ends[2];

	made->is_other = true;
	if (pipe(ends) == 0)
		made->fd = ends[0];
}

static void is_zeros(struct made *made)
{
	made->is_other = true;
	made->fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
}

/* A ring in all but that it is a file, which can be made shorter at any time. */
static void is_a_file(struct made *made)
{
	FILE *file = tmpfile();

	made->is_other = true;
	if (file == NULL)
		return;
	fwrite(&made->header, sizeof made->header, 1, file);
	fflush(file);
	made->fd = dup(fileno(file));
	if (ftruncate(made->fd, (off_t)made->bytes) < 0)
		exit(1);
	fclose(file);
}

static void has_other_magic(struct made *made)
{
	made->header.magic ^= 1;
}

static void is_of_another_version(struct made *made)
{
	made->header.version++;
}

static void has_no_words(struct made *made)
{
	made->header.word_count = 0;
}

static void has_an_odd_number_of_words(struct made *made)
{
	made->header.word_count = WORDS - 1;
}

static void has_more_words_than_fit(struct made *made)
{
	made->header.word_count = WORDS * 2;
}

static void has_all_words(struct made *made)
{
	made->header.word_count = ~0ULL;
}

static void says_other_bytes(struct made *made)
{
	made->header.bytes = 1ULL << 40;
}

static void has_unknown_flags(struct made *made)
{
	made->header.flags |= 1U << 31;
}

static void is_the_other_kind(struct made *made)
{
	made->header.flags ^= RING_TRACE;
}

static void is_traced_by_timers(struct made *made)
{
	made->header.flags |= RING_TRACE | RING_TIMER;
}

static void has_no_period(struct made *made)
{
	made->header.period_ns = 0;
}

static void has_a_period_without_end(struct made *made)
{
	made->header.period_ns = ~0ULL;
}

static void is_traced_at_its_end(struct made *made)
{
	made->header.trace_offset = made->bytes;
}

static void is_traced_in_its_header(struct made *made)
{
	made->header.trace_offset = 8;
}

static void is_traced_in_its_words(struct made *made)
{
	made->header.trace_offset = RING_HEADER_BYTES;
}

static void is_traced_one_byte_on(struct made *made)
{
	made->header.trace_offset = WORDS_END + 1;
}

static void is_traced_far_away(struct made *made)
{
	made->header.trace_offset = 1ULL << 46;
}

static void is_traced_before_itself(struct made *made)
{
	made->header.trace_offset = (uint64_t) - (int64_t)PAGE;
}

/* As a record's ring is, which has none. */
static void has_no_trace_area(struct made *made)
{
	made->bytes = made->said = made->header.bytes = WORDS_END;
}

static void has_half_a_trace_area(struct made *made)
{
	made->bytes -= sizeof(struct trace_area) / 2 & ~(uint64_t)(PAGE - 1);
	made->said = made->header.bytes = made->bytes;
}

enum { IN_RECORD = 1, IN_TRACE = 2, IN_BOTH = 3 };

#define WAY(kinds, name)           \
	{                          \
		kinds, #name, name \
	}
static const struct way {
	int kinds;
	const char *name;
	void (*spoil)(struct made *made);
} ways[] = {
	WAY(IN_BOTH, as_it_should_be),
	WAY(IN_BOTH, without_seals),
	WAY(IN_BOTH, may_be_made_shorter),
	WAY(IN_BOTH, may_be_made_longer),
	WAY(IN_BOTH, may_not_be_written),
	WAY(IN_BOTH, said_longer),
	WAY(IN_BOTH, said_as_long_but_is_empty),
	WAY(IN_BOTH, is_a_header_only),
	WAY(IN_BOTH, said_no_bytes),
	WAY(IN_BOTH, said_all_bytes),
	WAY(IN_BOTH, is_no_descriptor),
	WAY(IN_BOTH, is_a_pipe),
	WAY(IN_BOTH, is_zeros),
	WAY(IN_BOTH, is_a_file),
	WAY(IN_BOTH, has_other_magic),
	WAY(IN_BOTH, is_of_another_version),
	WAY(IN_BOTH, has_no_words),
	WAY(IN_BOTH, has_an_odd_number_of_words),
	WAY(IN_BOTH, has_more_words_than_fit),
	WAY(IN_BOTH, has_all_words),
	WAY(IN_BOTH, says_other_bytes),
	WAY(IN_BOTH, has_unknown_flags),
	WAY(IN_BOTH, is_the_other_kind),
	WAY(IN_BOTH, is_traced_by_timers),
	WAY(IN_BOTH, has_no_period),
	WAY(IN_BOTH, has_a_period_without_end),
	WAY(IN_BOTH, is_traced_at_its_end),
	WAY(IN_BOTH, is_traced_in_its_header),
	WAY(IN_BOTH, is_traced_in_its_words),
	WAY(IN_BOTH, is_traced_one_byte_on),
	WAY(IN_BOTH, is_traced_far_away),
	WAY(IN_BOTH, is_traced_before_itself),
	WAY(IN_TRACE, has_no_trace_area),
	WAY(IN_TRACE, has_half_a_trace_area),
};

static struct {
	struct ring_header *header;
	uint64_t bytes;
} rings[MOST_RINGS];
static size_t ring_count;
static const char *layout_way; /* NULL: rings have no layouts */

static struct made make(int kind)
{
	const bool is_trace = kind == IN_TRACE;
	const uint64_t bytes = WORDS_END + (is_trace ? sizeof(struct trace_area) : 0);

	return (struct made){
		.header = { .magic = RING_MAGIC,
			    .version = RING_VERSION,
			    .flags = is_trace ? RING_TRACE : RING_TIMER,
			    .word_count = WORDS,
			    .period_ns = PERIOD_NS,
			    .period_ticks = PERIOD_NS,
			    .trace_offset = is_trace ? WORDS_END : 0,
			    .bytes = bytes },
		.bytes = bytes,
		.said = bytes,
		.seals = ALL_SEALS,
		.fd = -1,
	};
}

/* The descriptor to hand over: the memory with the header as made, and sealed as made. */
static int put_into_memory(const struct made *made)
{
	const int fd = memfd_create("fake-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)made->bytes) < 0)
		exit(1);
	if (made->bytes >= RING_HEADER_BYTES && ring_count < MOST_RINGS) {
		void *memory =
			mmap(NULL, made->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (memory == MAP_FAILED)
			exit(1);
		memcpy(memory, &made->header, sizeof made->header);
		rings[ring_count].header = memory;
		rings[ring_count++].bytes = made->bytes;
	}
	if (fcntl(fd, F_ADD_SEALS, made->seals) < 0)
		exit(1);
	return fd;
}

static void answer(int connection, const struct made *made)
{
	const struct handshake_answer words = { .magic = HANDSHAKE_MAGIC,
						.verdict = HANDSHAKE_SAMPLE,
						.ring_bytes = made->said };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)&words, .iov_len = sizeof words };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	const int fd = made->is_other ? made->fd : put_into_memory(made);

	if (fd >= 0) {
		/* A second one comes along, which must not stay in the program. */
		const int fds[2] = { fd, STDOUT_FILENO };

		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof fds);
		memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
		message.msg_control = &control;
		message.msg_controllen = sizeof control;
	}
	if (sendmsg(connection, &message, MSG_NOSIGNAL) < 0)
		printf("not answered: %s\n", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void hear(int listener, int kind, const struct way *way)
{
	const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	struct handshake_request request;

	if (connection < 0)
		return;
	if (recv(connection, &request, sizeof request, 0) == (ssize_t)sizeof request) {
		printf("request %u %u\n", request.pid, request.occasion);
		fflush(stdout);
		struct made made = make(kind);

		way->spoil(&made);
		if (layout_way != NULL &&
		    !fake_layouts_put(layout_way, (pid_t)request.pid, &made.header))
			printf("no layout\n");
		if (request.occasion <= HANDSHAKE_FORK)
			answer(connection, &made);
	}
	close(connection);
}

static uint64_t next_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/*
 * The header, but for start_cpu_ns, which says that the agent has begun; and the links of the
 * first nodes of a trace.
 */
static void scribble(void)
{
	for (size_t i = 0; i < ring_count; i++) {
		u64 *words = (u64 *)(void *)rings[i].header;
		const bool is_trace = rings[i].bytes > WORDS_END;
		const size_t start = offsetof(struct ring_header, start_cpu_ns) / sizeof(u64);

		if (__atomic_load_n(&words[start], __ATOMIC_ACQUIRE) == 0)
			continue;
		for (size_t j = 0; j < 64; j++) {
			const uint64_t at = next_random() % (PAGE / sizeof(u64));

			if (at != start)
				words[at] = next_random();
		}
		struct trace_area *area = (void *)((char *)words + WORDS_END);

		for (size_t j = 0; is_trace && j < 512; j++) {
			const size_t node = next_random() % (16 * TRACE_CHUNK_NODES);

			area->nodes[node].first_child = (u32)next_random();
			area->nodes[node].next_sibling = (u32)next_random();
			area->nodes[node].parent = (u32)next_random();
			area->nodes[node].is_wide = (u8)next_random();
			area->nodes[node].depth = (u16)next_random();
			area->owners[node % TRACE_CHUNKS] = (u32)next_random();
		}
	}
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof address.sun_path - 1);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(fd, 64) < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static bool is_interpreted(size_t ring)
{
	const struct ring_header *header = rings[ring].header;
	const struct trace_area *area = (const void *)((const char *)header + WORDS_END);

	if (rings[ring].bytes > WORDS_END)
		return area->status == TRACE_ON;
	return header->python_walks + header->ruby_walks > 0;
}

static int serve(const char *path, int kind, const struct way *way, bool may_scribble)
{
	struct pollfd ready[2] = { { .fd = listen_at(path), .events = POLLIN },
				   { .fd = STDIN_FILENO, .events = POLLIN } };
	size_t begun = 0, interpreted = 0;

	puts("listening");
	fflush(stdout);
	do {
		poll(ready, 2, ring_count == 0 ? -1 : may_scribble ? 0 : 1);
		if (ready[0].revents != 0)
			hear(ready[0].fd, kind, way);
		if (may_scribble)
			scribble();
		for (size_t i = 0; layout_way != NULL && i < ring_count; i++)
			fake_layouts_change(layout_way, rings[i].header);
	} while (ready[1].revents == 0);
	for (size_t i = 0; i < ring_count; i++) {
		begun += rings[i].header->start_cpu_ns != 0;
		interpreted += is_interpreted(i);
	}
	printf("begun %zu %zu\n", begun, interpreted);
	return 0;
}

int main(int argc, char **argv)
{
	const int kind = argc > 2 && strcmp(argv[2], "trace") == 0 ? IN_TRACE : IN_RECORD;

	if (argc == 3 && strcmp(argv[2], "layouts") == 0) {
		fake_layouts_list();
		return 0;
	}
	if (argc > 3 && strchr(argv[3], '.') != NULL) {
		layout_way = argv[3];
		return serve(argv[1], kind, &ways[0], false);
	}
	for (size_t i = 0; argc > 2 && i < sizeof ways / sizeof ways[0]; i++) {
		if (strcmp(argv[1], "list") == 0 && ways[i].kinds & kind)
			puts(ways[i].name);
		else if (argc > 3 && strcmp(argv[3], ways[i].name) == 0)
			return serve(argv[1], kind, &ways[i], argc > 4);
	}
	return argc > 1 && strcmp(argv[1], "list") == 0 ? 0 : 2;
}
