/*
 * stacks - the stacks that agents sent, by the hash they go by.
 *
 * One store for all images of a session, of bounded size: when it is full it begins a new
 * epoch.  The epoch is part of the hash (vantage/agent/emit.c), so agents send anew what they
 * still meet, and what they do not is forgotten.  Stacks of the epoch before are kept for
 * samples that were on their way: docs/decisions/0014.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"

/*
 * Of one epoch, of which there are two: a table of 2 MiB and 16 MiB of frames.  A ring holds
 * 13,000 stacks, so what was sent is taken in before it can be forgotten.
 */
#define STACKS_LIMIT       (3U << 14)
#define STACKS_LIMIT_BYTES ((size_t)16 << 20)

/* The callers of a leaf, and what their addresses meant in one era. */
struct known_stack {
	uint32_t count;
	uint32_t era; /* of row */
	uint32_t row; /* the recording's stack; 0: not translated yet */
	uint64_t frames[];
};

struct stacks_epoch {
	struct table index; /* (image's row, hash) to struct known_stack * */
	struct arena frames;
	size_t bytes;
};

struct stacks {
	struct stacks_epoch young, old;
	uint32_t epoch;
	uint32_t rounds; /* since it began */
	size_t limit, limit_bytes;
};

void stacks_init(struct stacks *stacks);
void stacks_done(struct stacks *stacks);

/* The stack that goes by this hash in that image, or NULL: it never came, or was forgotten. */
struct known_stack *stacks_find(const struct stacks *stacks, uint32_t image_row, uint64_t hash);
void stacks_add(struct stacks *stacks, uint32_t image_row, uint64_t hash,
		const uint64_t *frames, size_t count);
/*
 * Before the rings are read: begins a new epoch if this one is full.  Not in two rounds one
 * after the other: agents learn of an epoch in its first round, so the last stacks of the
 * epoch before come in its second.
 */
void stacks_begin_round(struct stacks *stacks);
