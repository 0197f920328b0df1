#include "remote/python_acquired.h"

#include <stdbool.h>

#include "base/table.h"
#include "remote/process.h"
#include "remote/python_block.h"
#include "remote/python_load.h"
#include "remote/python_lock.h"
#include "walk/python_walk.h"

/* Functions remembered per process. */
#define FUNCTIONS_MAX 65536U
/* Calls of acquire() and release() in one function. */
#define CALLS_MAX 64

/* The numbers of both names in a function's co_names. */
struct numbers {
	uint32_t acquire, release;
};

struct call {
	uint32_t unit, after; /* as in struct python_method */
	struct python_loaded lock;
	bool is_release;
};

struct calls {
	struct call rows[CALLS_MAX];
	size_t count;
};

/* Whether the function has both calls: most have not, and their names are read once. */
static bool find_numbers(struct python_bytecode *bytecode, struct numbers *out_numbers)
{
	struct table *known = &bytecode->remote->acquires;
	uint64_t value = 0;

	if (!table_get(known, bytecode->frame->code, bytecode->names, &value)) {
		if (python_bytecode_name(bytecode, "acquire", &out_numbers->acquire) &&
		    python_bytecode_name(bytecode, "release", &out_numbers->release))
			value = (uint64_t)out_numbers->acquire << 32 | out_numbers->release |
				1ULL << 63;
		if (*bytecode->steps_left > 0 && known->count < FUNCTIONS_MAX)
			*table_at(known, bytecode->frame->code, bytecode->names, NULL) = value;
	}
	out_numbers->acquire = (uint32_t)(value >> 32) & 0x7fffffff;
	out_numbers->release = (uint32_t)value;
	return value != 0;
}

static struct python_loaded lock_of(struct remote *remote, const struct python_method *method)
{
	for (size_t i = 0; i < method->count; i++) {
		const uint64_t object = method->objects[i].object;
		const uint64_t lock = python_is_lock(remote, object)
					      ? object
					      : python_condition_lock(remote, object);

		if (lock != 0)
			return (struct python_loaded){ lock, method->objects[i].begin };
	}
	return (struct python_loaded){ 0 };
}

static void list_calls(struct python_bytecode *bytecode, const struct numbers *numbers,
		       struct calls *calls)
{
	for (uint32_t unit = 0; unit < bytecode->count && calls->count < CALLS_MAX; unit++) {
		struct python_method method;
		const bool is_release =
			python_bytecode_method(bytecode, unit, numbers->release, &method);
		struct python_loaded lock = { 0 };

		if (is_release ||
		    python_bytecode_method(bytecode, unit, numbers->acquire, &method))
			lock = lock_of(bytecode->remote, &method);
		if (lock.object != 0)
			calls->rows[calls->count++] =
				(struct call){ unit, method.after, lock, is_release };
	}
}

/* The next call for the lock, from the unit on, if that is release(). */
static const struct call *release_from(const struct calls *calls, uint32_t unit, uint64_t lock)
{
	for (size_t i = 0; i < calls->count; i++) {
		const struct call *call = &calls->rows[i];

		if (call->lock.object == lock && call->unit >= unit)
			return call->is_release ? call : NULL;
	}
	return NULL;
}

/* Whether the last call for the lock before the frame's position is this one. */
static bool is_last(const struct calls *calls, size_t number, uint32_t position)
{
	for (size_t i = number + 1; i < calls->count; i++) {
		if (calls->rows[i].unit <= position &&
		    calls->rows[i].lock.object == calls->rows[number].lock.object)
			return false;
	}
	return true;
}

/*
 * Whether the handler releases the lock first of all; if there is anything between them, as
 * `if acquired:`, it may not. From 3.11 on PUSH_EXC_INFO comes before.
 */
static bool begins_with_release(const struct calls *calls, uint32_t handler, uint64_t lock)
{
	const struct call *release = release_from(calls, handler, lock);

	return release && release->lock.begin >= handler && release->lock.begin - handler <= 1;
}

/* Whether the frame is in a `try` block, begun after acquire(), that releases the lock. */
static bool is_released_by_handler(struct python_bytecode *bytecode, const struct calls *calls,
				   const struct call *call)
{
	struct python_block blocks[PYTHON_BLOCKS_MAX];
	const size_t count =
		python_blocks_of(bytecode->remote, bytecode->frame, PYTHON_BLOCKS_ALL, blocks);
	const uint32_t scale = python_bytecode_instruction(bytecode, 1);

	for (size_t i = 0; i < count; i++) {
		if (begins_with_release(calls, blocks[i].handler / scale, call->lock.object) &&
		    !python_block_covers(bytecode->remote, bytecode->frame, &blocks[i],
					 call->unit * scale))
			return true;
	}
	return false;
}

static bool is_held(struct python_bytecode *bytecode, const struct calls *calls, size_t number)
{
	const uint32_t position = python_bytecode_position(bytecode);
	const struct call *call = &calls->rows[number];

	if (call->is_release || call->unit >= position || !is_last(calls, number, position))
		return false;
	if (call->after != 0)
		return position >= call->after &&
		       release_from(calls, position, call->lock.object);
	return is_released_by_handler(bytecode, calls, call);
}

size_t python_acquired_in(struct remote *remote, const struct python_frame *frame,
			  uint32_t *steps_left, size_t most,
			  struct python_acquired *out_acquired)
{
	struct python_bytecode bytecode;
	struct numbers numbers;
	struct calls calls = { .count = 0 };
	size_t count = 0;

	if (!python_bytecode_open(remote, frame, steps_left, &bytecode) ||
	    !find_numbers(&bytecode, &numbers) || !python_bytecode_read(&bytecode))
		return 0;
	list_calls(&bytecode, &numbers, &calls);
	/* Without a step left, calls may be missing. */
	for (size_t i = 0; *steps_left > 0 && i < calls.count && count < most; i++) {
		if (is_held(&bytecode, &calls, i))
			out_acquired[count++] = (struct python_acquired){
				calls.rows[i].lock.object,
				python_bytecode_instruction(&bytecode, calls.rows[i].unit)
			};
	}
	python_bytecode_close(&bytecode);
	return count;
}
