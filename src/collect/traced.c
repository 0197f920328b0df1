#include "collect/traced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/ticks.h"
#include "abi/trace.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/codes.h"
#include "collect/image.h"
#include "collect/mappings.h"
#include "collect/pump.h"
#include "collect/trace_notes.h"
#include "collect/traced_costs.h"
#include "record/writer.h"

#define NODES ((uint32_t)TRACE_CHUNKS * TRACE_CHUNK_NODES)
/* As in pump.c: longer than anybody records, and more than anybody counts. */
#define MAX_TIME_NS (30ULL * 24 * 3600 * 1000000000)
#define MAX_CALLS   (1ULL << 50)
#define MAX_IN_ALL  (1ULL << 59) /* half of what reader_calls.c allows */
_Static_assert((int)TRACE_QUIET_COUNT == RECORDING_QUIET_KINDS, "a column for each");
/* Nodes in each other: more than any that an agent makes. */
#define MOST_DEEP (1U << 17)
/* The fixed point of trace_area.ticks_per_ns. */
#define TWO_TO_32 4294967296.0
/* A thread's first event may seem to be before the kernel told of it: two clocks. */
#define START_SLACK_NS 2000000

/* What is known of a node. */
struct known_node {
	uint64_t calls, self_ticks; /* as they were written */
	uint64_t ns;                /* of the row, with what was left out of it */
	uint32_t stack;             /* of the recording; for the outermost, 0 */
	uint32_t row;               /* of calls; 0: none so far */
	uint32_t missed_in;         /* the reading that had no name for it, or for a caller */
	bool has_stack;
};

struct known_thread {
	uint32_t row; /* of the recording; 0: the slot is nobody's */
	int tid;
};

struct traced {
	struct trace_area *area;
	struct known_node *chunks[TRACE_CHUNKS]; /* of the nodes of each; NULL: none was seen */
	struct known_thread threads[TRACE_THREADS];
	bool is_ended[TRACE_THREADS]; /* in this reading */
	double counter_ns_per_tick;   /* of the machine's counter */
	double ns_per_tick;           /* of the clock that calls are timed by */
	double cpu_ns_per_tick;       /* if that is the threads' own CPU time; else 0 */
	struct traced_costs costs;
	uint32_t *path; /* room for the nodes outside of one */
	size_t path_capacity;
	uint32_t reading; /* the how many-th; the first is 1 */
	uint64_t calls;
	uint64_t nameless; /* callees whose names never came */
};

struct traced *traced_new(struct trace_area *area)
{
	struct traced *traced = xzalloc(sizeof *traced);

	traced->area = area;
	if (area->ticks_per_ns != 0)
		traced->cpu_ns_per_tick = TWO_TO_32 / (double)area->ticks_per_ns;
	return traced;
}

void traced_free(struct traced *traced)
{
	if (traced == NULL)
		return;
	for (uint32_t i = 0; i < TRACE_CHUNKS; i++)
		free(traced->chunks[i]);
	free(traced->path);
	free(traced);
}

uint64_t traced_calls(const struct traced *traced)
{
	return traced->calls;
}

static struct known_node *known_of(struct traced *traced, uint32_t node)
{
	struct known_node **chunk = &traced->chunks[node / TRACE_CHUNK_NODES];

	if (*chunk == NULL) {
		*chunk = xreallocarray(NULL, TRACE_CHUNK_NODES, sizeof **chunk);
		memset(*chunk, 0, TRACE_CHUNK_NODES * sizeof **chunk);
	}
	return *chunk + node % TRACE_CHUNK_NODES;
}

static uint64_t key_of(const struct traced *traced, uint32_t node)
{
	/* Pairs with the release in the agent: what a node has is whole. */
	return __atomic_load_n(&traced->area->nodes[node].key, __ATOMIC_ACQUIRE);
}

/*
 * A node and what it is called in, from inwards out, up to one that has its stack.  False if one
 * of them is known to have no name so far: in each reading it is looked for once.
 */
static bool path_of(struct traced *traced, uint32_t node, size_t *out_count)
{
	bool has_names = true;
	size_t count = 0;

	while (node != 0 && node < NODES && count < MOST_DEEP) {
		const struct known_node *known = known_of(traced, node);

		has_names = known->missed_in != traced->reading;
		if (known->has_stack || !has_names)
			break;
		if (count == traced->path_capacity)
			traced->path = array_grow(traced->path, count, &traced->path_capacity,
						  sizeof *traced->path);
		traced->path[count++] = node;
		if (key_of(traced, node) == TRACE_OUTSIDE)
			break;
		node = __atomic_load_n(&traced->area->nodes[node].parent, __ATOMIC_RELAXED);
	}
	*out_count = count;
	return has_names;
}

static bool give_up(struct traced *traced, size_t count)
{
	while (count-- > 0)
		known_of(traced, traced->path[count])->missed_in = traced->reading;
	return false;
}

/* When a node's address means what it meant as it was called. */
static uint64_t time_of(const struct traced *traced, uint32_t node)
{
	const uint64_t identity =
		__atomic_load_n(&traced->area->nodes[node].identity, __ATOMIC_RELAXED);

	return identity & TRACE_UNLOADED ? identity & ~TRACE_UNLOADED : monotonic_ns();
}

static uint32_t stack_in(struct pump *pump, struct image *image, uint32_t parent, uint64_t key,
			 uint64_t when_ns)
{
	struct recording_stack stack = { .parent = parent };
	struct recording_frame frame;
	uint32_t row = 0;

	/* Compiled code has addresses: only interpreters' functions lack a key. */
	if (key & RING_INTERPRETED || key == 0)
		codes_place(&pump->codes, &pump->epochs, image, pump->epochs.number,
			    key | RING_INTERPRETED | RING_NO_INSTRUCTION, &frame);
	else
		frame = pump_place(pump, image, key, mappings_era(image->mappings, when_ns));
	recording_writer_add_frame(pump->writer, &frame, &stack.frame);
	recording_writer_add_stack(pump->writer, &stack, &row);
	return row;
}

/* Whether it is known now what a key stands for; 0: the ring was full when it was to be sent. */
static bool has_name(const struct image *image, const struct pump *pump, uint64_t key,
		     uint64_t when_ns)
{
	if (key == 0)
		return false;
	if (key & RING_INTERPRETED)
		return codes_has(&pump->epochs, image->row, key);
	return mappings_find(image->mappings, key, mappings_era(image->mappings, when_ns)) !=
	       NULL;
}

/* Whether the recording has the node's stack now: its name may be on its way. */
static bool find_stack(struct image *image, struct pump *pump, uint32_t node, bool is_last)
{
	struct traced *traced = image->traced;
	uint32_t parent = 0;
	size_t count;

	if (!path_of(traced, node, &count) && !is_last)
		return give_up(traced, count);
	if (count == 0)
		return true;
	const uint32_t outer = traced->area->nodes[traced->path[count - 1]].parent;

	if (key_of(traced, traced->path[count - 1]) != TRACE_OUTSIDE && outer < NODES)
		parent = known_of(traced, outer)->stack;
	while (count-- > 0) {
		struct known_node *known = known_of(traced, traced->path[count]);
		const uint64_t key = key_of(traced, traced->path[count]);

		if (key != TRACE_OUTSIDE) {
			const uint64_t when_ns = time_of(traced, traced->path[count]);

			if (!has_name(image, pump, key, when_ns)) {
				if (!is_last)
					return give_up(traced, count + 1);
				traced->nameless += key == 0 || key & RING_INTERPRETED;
			}
			parent = stack_in(pump, image, parent, key, when_ns);
		}
		known->stack = parent;
		known->has_stack = true;
	}
	return true;
}

static int64_t to_ns(uint64_t ticks, double ns_per_tick)
{
	const double ns = (double)ticks * ns_per_tick;

	return ns < (double)MAX_TIME_NS ? (int64_t)(ns + 0.5) : 0;
}

static int64_t ns_of(const struct traced *traced, uint64_t ticks)
{
	return to_ns(ticks, traced->ns_per_tick);
}

static uint64_t count_in(const u64 *place)
{
	const uint64_t count = __atomic_load_n(place, __ATOMIC_RELAXED);

	return count <= MAX_CALLS ? count : 0;
}

/* What is beside a node, and of its thread if it is the outermost. */
static void add_toll(const struct traced *traced, uint32_t number, uint32_t slot,
		     struct recording_calls *row)
{
	const struct trace_toll *toll = &traced->area->tolls[number];
	const struct trace_thread *thread = &traced->area->threads[slot];

	row->misses = count_in(&toll->misses);
	for (size_t i = 0; i < TRACE_QUIET_COUNT; i++)
		row->quiet[i] = count_in(&toll->quiet[i]);
	if (key_of(traced, number) == TRACE_OUTSIDE)
		row->left_out_ns = ns_of(
			traced, __atomic_load_n(&thread->left_out_ticks, __ATOMIC_RELAXED));
}

/* A longest call that to_ns() does not believe is not known, and with it the shortest. */
static void add_extremes(const struct traced *traced, const struct trace_node *node,
			 struct recording_calls *row)
{
	const uint64_t shortest = __atomic_load_n(&node->shortest_ticks, __ATOMIC_RELAXED);
	const uint64_t longest = __atomic_load_n(&node->longest_ticks, __ATOMIC_RELAXED);
	const bool are_known = shortest <= longest &&
			       (double)longest * traced->ns_per_tick < (double)MAX_TIME_NS;

	row->shortest_ns = are_known ? ns_of(traced, shortest) : RECORDING_UNKNOWN;
	row->longest_ns = are_known ? ns_of(traced, longest) : RECORDING_UNKNOWN;
}

/*
 * Counts a row that is to take the place of what was known.  False: readers would take all rows
 * together for damage (reader_calls.c).
 */
static bool add_to_all(struct pump *pump, struct known_node *known,
		       const struct recording_calls *row)
{
	const uint64_t ns = (uint64_t)row->self_ns + (uint64_t)row->left_out_ns;
	const uint64_t all_calls = pump->traced_calls - known->calls + row->calls;
	const uint64_t all_ns = pump->traced_ns - known->ns + ns;

	if (all_calls > MAX_IN_ALL || all_ns > MAX_IN_ALL)
		return false;
	pump->traced_calls = all_calls;
	pump->traced_ns = all_ns;
	known->ns = ns;
	return true;
}

static void write_node(struct image *image, struct pump *pump, uint32_t number, uint32_t slot,
		       bool is_last)
{
	struct traced *traced = image->traced;
	const struct trace_node *node = &traced->area->nodes[number];
	struct known_node *known = known_of(traced, number);
	const uint64_t calls = __atomic_load_n(&node->calls, __ATOMIC_RELAXED);
	const uint64_t self_ticks = __atomic_load_n(&node->self_ticks, __ATOMIC_RELAXED);

	if ((calls == known->calls && self_ticks == known->self_ticks) || calls > MAX_CALLS ||
	    !find_stack(image, pump, number, is_last))
		return;
	struct recording_calls row = {
		.id = known->row,
		.thread = traced->threads[slot].row,
		.stack = known->stack,
		.calls = calls,
		.self_ns = ns_of(traced, self_ticks),
		.kind = node->kind,
	};

	add_extremes(traced, node, &row);
	add_toll(traced, number, slot, &row);
	if (!add_to_all(pump, known, &row))
		return;
	if (known->row == 0)
		recording_writer_add_calls(pump->writer, &row, &known->row);
	else
		recording_writer_update_calls(pump->writer, &row);
	traced->calls += calls - known->calls;
	known->calls = calls;
	known->self_ticks = self_ticks;
}

/* Which of the image's threads had this tid at that time. */
static struct image_thread *thread_at(struct image *image, struct pump *pump, int tid,
				      uint64_t time_ns)
{
	for (size_t i = image->thread_count; i-- > 0;) {
		struct image_thread *thread = &image->threads[i];

		if (thread->tid == tid && thread->start_ns <= time_ns + START_SLACK_NS &&
		    thread->end_ns + (thread->end_ns == UINT64_MAX ? 0 : START_SLACK_NS) >=
			    time_ns)
			return thread;
	}
	const struct image_thread *known = image_find_thread(image, tid);

	/* The tid was another one's; what the kernel says of this thread is on its way. */
	if (known != NULL && known->end_ns != UINT64_MAX)
		image_forget_tid(image, tid);
	return image_thread_at(image, tid, time_ns, pump->writer);
}

static bool has_thread_ended(struct image *image, const struct known_thread *known,
			     const struct traced_terms *terms)
{
	const struct image_thread *thread = image_find_thread(image, known->tid);
	char path[64];

	if (thread == NULL || thread->row != known->row || thread->end_ns != UINT64_MAX)
		return true;
	if (terms->has_sideband)
		return false;
	snprintf(path, sizeof path, "/proc/%d/task/%d", (int)image->pid, known->tid);
	return access(path, F_OK) < 0;
}

/* The threads that have slots, and which of them have ended: before their nodes are read. */
static void look_at_threads(struct image *image, struct pump *pump,
			    const struct traced_terms *terms)
{
	struct traced *traced = image->traced;

	for (uint32_t slot = 0; slot < TRACE_THREADS; slot++) {
		struct trace_thread *thread = &traced->area->threads[slot];
		struct known_thread *known = &traced->threads[slot];

		/* Pairs with the release in the agent. */
		const int tid = (int)__atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);

		traced->is_ended[slot] = false;
		if (__atomic_load_n(&thread->state, __ATOMIC_RELAXED) != TRACE_THREAD_TAKEN ||
		    tid == 0)
			continue;
		if (known->row == 0) {
			const uint64_t ticks = thread->first_ticks;
			const uint64_t since =
				ticks > terms->start_ticks ? ticks - terms->start_ticks : 0;
			const uint64_t time_ns =
				terms->start_ns +
				(uint64_t)to_ns(since, traced->counter_ns_per_tick);

			known->row = thread_at(image, pump, tid, time_ns)->row;
			known->tid = tid;
		}
		traced->is_ended[slot] = has_thread_ended(image, known, terms);
	}
}

/* The agent may have it again. */
static void give_back_chunk(struct traced *traced, uint32_t chunk)
{
	if (traced->chunks[chunk] != NULL)
		memset(traced->chunks[chunk], 0,
		       TRACE_CHUNK_NODES * sizeof *traced->chunks[chunk]);
	__atomic_fetch_sub(&traced->area->chunks_taken, 1, __ATOMIC_RELAXED);
	/* Pairs with the acquire in the agent: what was in it has been read. */
	__atomic_store_n(&traced->area->owners[chunk], 0, __ATOMIC_RELEASE);
}

static void give_back_threads(struct traced *traced)
{
	for (uint32_t slot = 0; slot < TRACE_THREADS; slot++) {
		struct trace_thread *thread = &traced->area->threads[slot];

		if (!traced->is_ended[slot])
			continue;
		traced->threads[slot] = (struct known_thread){ 0 };
		__atomic_fetch_sub(&traced->area->threads_taken, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&thread->tid, 0, __ATOMIC_RELAXED);
		/* Pairs with the acquire in the agent. */
		__atomic_store_n(&thread->state, TRACE_THREAD_FREE, __ATOMIC_RELEASE);
	}
}

static void read_chunk(struct image *image, struct pump *pump, uint32_t chunk, uint32_t slot,
		       bool is_last)
{
	for (uint32_t i = 0; i < TRACE_CHUNK_NODES; i++) {
		const uint32_t node = chunk * TRACE_CHUNK_NODES + i;

		/* One that is used has a key, or calls: its name was not sent. */
		if (key_of(image->traced, node) != 0 ||
		    (is_last && image->traced->area->nodes[node].calls != 0))
			write_node(image, pump, node, slot, is_last);
	}
}

void traced_read(struct image *image, struct pump *pump, const struct traced_terms *terms,
		 bool is_last)
{
	struct traced *traced = image->traced;
	const uint64_t ticks = ticks_now() - terms->start_ticks;

	traced->counter_ns_per_tick =
		ticks == 0 ? 0 : (double)(monotonic_ns() - terms->start_ns) / (double)ticks;
	/* Ticks of a CPU clock were made of nanoseconds, by a rate that was given. */
	traced->ns_per_tick = traced->cpu_ns_per_tick > 0 ? traced->cpu_ns_per_tick
							  : traced->counter_ns_per_tick;
	traced->reading++;
	traced_costs_write(&traced->costs, traced->area, traced->ns_per_tick, image->row,
			   pump->writer);
	look_at_threads(image, pump, terms);
	for (uint32_t chunk = 1; chunk < TRACE_CHUNKS; chunk++) {
		const uint32_t owner =
			__atomic_load_n(&traced->area->owners[chunk], __ATOMIC_ACQUIRE);

		if (owner == 0 || owner > TRACE_THREADS || traced->threads[owner - 1].row == 0)
			continue;
		const bool is_ended = traced->is_ended[owner - 1];

		read_chunk(image, pump, chunk, owner - 1, is_last || is_ended);
	}
	/* Not before all are read: a node's callers may be in another chunk. */
	for (uint32_t chunk = 1; chunk < TRACE_CHUNKS; chunk++) {
		const uint32_t owner =
			__atomic_load_n(&traced->area->owners[chunk], __ATOMIC_RELAXED);

		if (owner != 0 && owner <= TRACE_THREADS && traced->is_ended[owner - 1])
			give_back_chunk(traced, chunk);
	}
	give_back_threads(traced);
}

bool traced_is_urgent(const struct traced *traced)
{
	return __atomic_load_n(&traced->area->threads_taken, __ATOMIC_RELAXED) >
	       TRACE_THREADS / 8;
}

/* How long the program had switched tracing off. */
static uint64_t off_ns(const struct traced *traced)
{
	const struct trace_area *area = traced->area;
	const uint64_t since = __atomic_load_n(&area->off_since_ticks, __ATOMIC_RELAXED);
	const uint64_t now = ticks_now();
	const uint64_t ticks = area->off_ticks + (since != 0 && now > since ? now - since : 0);

	return (uint64_t)to_ns(ticks, traced->counter_ns_per_tick);
}

void traced_tell(struct image *image, struct pump *pump)
{
	image->off_ns = off_ns(image->traced);
	trace_notes_add(image, image->traced->area, pump->writer);
	trace_notes_nameless(image, image->traced->nameless, pump->writer);
}
