#include "collect/calls/tree_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/ticks.h"
#include "abi/trace.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "collect/calls/tree_stacks.h"
#include "collect/stacks/codes.h"
#include "collect/processes/image.h"
#include "collect/processes/known_calls.h"
#include "collect/processes/mappings.h"
#include "collect/samples/pump.h"
#include "collect/calls/notes.h"
#include "collect/processes/call_costs.h"
#include "collect/processes/trust.h"
#include "record/writer.h"

/* No program makes so many calls. */
#define MAX_CALLS (1ULL << 50)
/*
 * Tolerance for a thread's life, besides an eighth: clocks differ, and the rate of ticks
 * changes from reading to reading.
 */
#define MOST_SLACK_NS 1000000000ULL
#define MAX_IN_ALL    (1ULL << 59) /* half of what reader_calls.c allows */
_Static_assert((int)TRACE_UNCOUNTED_COUNT == RECORDING_UNCOUNTED_KINDS, "a column for each");
/* Tolerance between two clocks: a thread's first call may seem to be before its creation. */
#define START_SLACK_NS 2000000

/* 0 if no thread can have lived that long. */
static int64_t to_ns(const struct known_calls *tree, uint64_t ticks, double ns_per_tick)
{
	const double ns = (double)ticks * ns_per_tick;

	return ns <= (double)tree->most_ns ? (int64_t)(ns + 0.5) : 0;
}

static int64_t ns_of(const struct known_calls *tree, uint64_t ticks)
{
	return to_ns(tree, ticks, tree->ns_per_tick);
}

static bool is_time(const struct known_calls *tree, uint64_t ticks)
{
	return (double)ticks * tree->ns_per_tick <= (double)tree->most_ns;
}

static uint64_t count_in(const u64 *place)
{
	const uint64_t count = __atomic_load_n(place, __ATOMIC_RELAXED);

	return count <= MAX_CALLS ? count : 0;
}

/* Adds the uncounted events of a node, and to the outermost the time left out of its thread. */
static void add_overhead(const struct known_calls *tree, uint32_t number, uint64_t key,
			 uint32_t slot, struct recording_calls *row)
{
	const struct trace_overhead *overhead = &tree->area->overheads[number];
	const struct trace_thread *thread = &tree->area->threads[slot];

	row->misses = count_in(&overhead->misses);
	for (size_t i = 0; i < TRACE_UNCOUNTED_COUNT; i++)
		row->uncounted[i] = count_in(&overhead->uncounted[i]);
	if (key == TRACE_OUTSIDE)
		row->left_out_ns =
			ns_of(tree, __atomic_load_n(&thread->left_out_ticks, __ATOMIC_RELAXED));
}

/* If the longest call is impossible by to_ns(), it and the shortest are unknown. */
static void add_extremes(const struct known_calls *tree, const struct trace_node *node,
			 struct recording_calls *row)
{
	const uint64_t shortest = __atomic_load_n(&node->shortest_ticks, __ATOMIC_RELAXED);
	const uint64_t longest = __atomic_load_n(&node->longest_ticks, __ATOMIC_RELAXED);
	const bool are_known = shortest <= longest && is_time(tree, longest);

	row->shortest_ns = are_known ? ns_of(tree, shortest) : RECORDING_UNKNOWN;
	row->longest_ns = are_known ? ns_of(tree, longest) : RECORDING_UNKNOWN;
}

/*
 * Adds a row to the sums, in place of its last reading.  False: readers would treat the sums as
 * damage (reader_calls.c).
 */
static bool add_to_all(struct pump *pump, struct known_node *known,
		       const struct recording_calls *row)
{
	const uint64_t ns = (uint64_t)row->self_ns + (uint64_t)row->left_out_ns;
	const uint64_t all_calls = pump->calls - known->calls + row->calls;
	const uint64_t all_ns = pump->calls_ns - known->ns + ns;

	if (all_calls > MAX_IN_ALL || all_ns > MAX_IN_ALL)
		return false;
	pump->calls = all_calls;
	pump->calls_ns = all_ns;
	known->ns = ns;
	return true;
}

static void write_node(struct image *image, struct pump *pump, uint32_t number, uint64_t key,
		       uint32_t slot, bool is_last)
{
	struct known_calls *tree = image->calls;
	const struct trace_node *node = &tree->area->nodes[number];
	struct known_node *known = known_calls_node(tree, number);
	const uint64_t calls = __atomic_load_n(&node->calls, __ATOMIC_RELAXED);
	const uint64_t self_ticks = __atomic_load_n(&node->self_ticks, __ATOMIC_RELAXED);

	if (calls == known->calls && self_ticks == known->self_ticks)
		return;
	/* Calls take longer than a nanosecond each. */
	if (calls > tree->most_ns || !is_time(tree, self_ticks)) {
		trust_doubt(image);
		return;
	}
	if (!call_tree_find_stack(image, pump, number, key, is_last))
		return;
	struct recording_calls row = {
		.id = known->row,
		.thread = tree->threads[slot].row,
		.stack = known->stack,
		.calls = calls,
		.self_ns = ns_of(tree, self_ticks),
		.kind = __atomic_load_n(&node->kind, __ATOMIC_RELAXED),
	};

	add_extremes(tree, node, &row);
	add_overhead(tree, number, key, slot, &row);
	if (!add_to_all(pump, known, &row))
		return;
	if (known->row == 0)
		recording_writer_add_calls(pump->writer, &row, &known->row);
	else
		recording_writer_update_calls(pump->writer, &row);
	tree->calls += calls - known->calls;
	known->calls = calls;
	known->self_ticks = self_ticks;
}

/* The image's thread that had this tid at that time. */
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

	/* The tid was another thread's; the kernel's record of this one is still to come. */
	if (known != NULL && known->end_ns != UINT64_MAX)
		image_forget_tid(image, tid);
	return image_thread_claimed(image, (uint32_t)tid, time_ns, pump->writer);
}

static bool has_thread_ended(struct image *image, const struct known_thread *known,
			     const struct call_tree_reader_terms *terms)
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

/* Finds the threads that have slots, and which have ended, before their nodes are read. */
static void look_at_threads(struct image *image, struct pump *pump,
			    const struct call_tree_reader_terms *terms)
{
	struct known_calls *tree = image->calls;

	for (uint32_t slot = 0; slot < TRACE_THREADS; slot++) {
		struct trace_thread *thread = &tree->area->threads[slot];
		struct known_thread *known = &tree->threads[slot];

		/* Pairs with the release in the agent. */
		const int tid = (int)__atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);

		tree->is_ended[slot] = false;
		if (__atomic_load_n(&thread->state, __ATOMIC_RELAXED) != TRACE_THREAD_TAKEN ||
		    tid == 0)
			continue;
		if (known->row == 0) {
			const uint64_t ticks =
				__atomic_load_n(&thread->first_ticks, __ATOMIC_RELAXED);
			const uint64_t since =
				ticks > terms->start_ticks ? ticks - terms->start_ticks : 0;
			const uint64_t time_ns =
				terms->start_ns +
				(uint64_t)to_ns(tree, since, tree->counter_ns_per_tick);

			known->row = thread_at(image, pump, tid,
					       time_ns < tree->now_ns ? time_ns : tree->now_ns)
					     ->row;
			known->tid = tid;
		}
		tree->is_ended[slot] = has_thread_ended(image, known, terms);
	}
}

/* Gives a chunk back to the agent. */
static void give_back_chunk(struct known_calls *tree, uint32_t chunk)
{
	if (tree->chunks[chunk] != NULL)
		memset(tree->chunks[chunk], 0, TRACE_CHUNK_NODES * sizeof *tree->chunks[chunk]);
	__atomic_fetch_sub(&tree->area->chunks_taken, 1, __ATOMIC_RELAXED);
	/* Pairs with the acquire in the agent: its contents have been read. */
	__atomic_store_n(&tree->area->owners[chunk], 0, __ATOMIC_RELEASE);
}

static void give_back_threads(struct known_calls *tree)
{
	for (uint32_t slot = 0; slot < TRACE_THREADS; slot++) {
		struct trace_thread *thread = &tree->area->threads[slot];

		if (!tree->is_ended[slot])
			continue;
		tree->threads[slot] = (struct known_thread){ 0 };
		__atomic_fetch_sub(&tree->area->threads_taken, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&thread->tid, 0, __ATOMIC_RELAXED);
		/* Pairs with the acquire in the agent. */
		__atomic_store_n(&thread->state, TRACE_THREAD_FREE, __ATOMIC_RELEASE);
	}
}

static bool has_calls(const struct known_calls *tree, uint32_t node)
{
	return __atomic_load_n(&tree->area->nodes[node].calls, __ATOMIC_RELAXED) != 0;
}

static void read_chunk(struct image *image, struct pump *pump, uint32_t chunk, uint32_t slot,
		       bool is_last)
{
	for (uint32_t i = 0; i < TRACE_CHUNK_NODES; i++) {
		const uint32_t node = chunk * TRACE_CHUNK_NODES + i;

		const uint64_t key = known_calls_key(image->calls, node);

		/* A used node has a key; one whose name was not sent has only calls. */
		if (key != 0 || (is_last && has_calls(image->calls, node)))
			write_node(image, pump, node, key, slot, is_last);
	}
}

void call_tree_reader_read(struct image *image, struct pump *pump,
			   const struct call_tree_reader_terms *terms, bool is_last)
{
	struct known_calls *tree = image->calls;
	const uint64_t ticks = ticks_now() - terms->start_ticks;

	if (image->trust.is_lost)
		return;
	tree->now_ns = monotonic_ns();
	tree->most_ns = (tree->now_ns - terms->start_ns) / 8 * 9 + MOST_SLACK_NS;
	tree->counter_ns_per_tick =
		ticks == 0 ? 0 : (double)(tree->now_ns - terms->start_ns) / (double)ticks;
	/* Ticks of a CPU clock were converted from nanoseconds, by a fixed rate. */
	tree->ns_per_tick =
		tree->cpu_ns_per_tick > 0 ? tree->cpu_ns_per_tick : tree->counter_ns_per_tick;
	tree->reading++;
	image->trust.doubtful += call_costs_write(&tree->costs, tree->area, tree->ns_per_tick,
						  image->row, pump->writer);
	look_at_threads(image, pump, terms);
	for (uint32_t chunk = 1; chunk < TRACE_CHUNKS; chunk++) {
		const uint32_t owner =
			__atomic_load_n(&tree->area->owners[chunk], __ATOMIC_ACQUIRE);

		if (owner == 0 || owner > TRACE_THREADS || tree->threads[owner - 1].row == 0)
			continue;
		const bool is_ended = tree->is_ended[owner - 1];

		read_chunk(image, pump, chunk, owner - 1, is_last || is_ended);
	}
	/* Only after all are read: a node's callers may be in another chunk. */
	for (uint32_t chunk = 1; chunk < TRACE_CHUNKS; chunk++) {
		const uint32_t owner =
			__atomic_load_n(&tree->area->owners[chunk], __ATOMIC_RELAXED);

		if (owner != 0 && owner <= TRACE_THREADS && tree->is_ended[owner - 1])
			give_back_chunk(tree, chunk);
	}
	give_back_threads(tree);
}

bool call_tree_reader_is_urgent(const struct known_calls *tree)
{
	return __atomic_load_n(&tree->area->threads_taken, __ATOMIC_RELAXED) >
	       TRACE_THREADS / 8;
}

/* How long the program had switched tracing off. */
static uint64_t off_ns(const struct known_calls *tree)
{
	const struct trace_area *area = tree->area;
	const uint64_t since = __atomic_load_n(&area->off_since_ticks, __ATOMIC_RELAXED);
	const uint64_t now = ticks_now();
	const uint64_t off = __atomic_load_n(&area->off_ticks, __ATOMIC_RELAXED);
	const uint64_t last = since != 0 && now > since ? now - since : 0;

	return (uint64_t)to_ns(tree, off, tree->counter_ns_per_tick) +
	       (uint64_t)to_ns(tree, last, tree->counter_ns_per_tick);
}

void call_tree_reader_note(struct image *image, struct pump *pump)
{
	if (image->trust.is_lost)
		return;
	image->off_ns = off_ns(image->calls);
	trace_notes_add(image, image->calls->area, pump->writer);
	trace_notes_nameless(image, image->calls->nameless, pump->writer);
}
