/*
 * epochs - what agents send once and name often, by the key they name it by.
 *
 * One store for all images of a session, of bounded size: when it is full it begins a new
 * epoch.  The epoch is part of what agents go by (agent/sample/emit.c), so they send anew what
 * they still meet, and what they do not is forgotten.  The epoch before is kept for what was
 * on its way: docs/decisions/0014.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"

/*
 * Of one epoch, of which there are two: tables of some MiB and 16 MiB of contents.  A round
 * takes in all that the rings hold before an epoch can end, so nothing is forgotten on its way.
 */
#define EPOCHS_LIMIT       (3U << 14)
#define EPOCHS_LIMIT_BYTES ((size_t)16 << 20)

enum epochs_kind {
	EPOCHS_STACK, /* struct known_stack, stacks.h */
	EPOCHS_CODE,  /* struct known_code, codes.h */
	EPOCHS_KINDS,
};

struct epoch {
	struct table index[EPOCHS_KINDS]; /* (image's row, key) to a pointer into contents */
	struct arena contents;
	size_t count, bytes;
};

struct epochs {
	struct epoch young, old;
	uint32_t number;
	uint32_t rounds; /* since it began */
	size_t limit, limit_bytes;
};

void epochs_init(struct epochs *epochs);
void epochs_done(struct epochs *epochs);

/* What goes by this key in that image, or NULL: it never came, or was forgotten. */
void *epochs_find(const struct epochs *epochs, enum epochs_kind kind, uint32_t image_row,
		  uint64_t key);
/* The same, as a sender of that epoch means it, if both know the key. */
void *epochs_find_as_of(const struct epochs *epochs, uint32_t number, enum epochs_kind kind,
			uint32_t image_row, uint64_t key);
/* Room for it in this epoch, zeroed, in the place of what went by this key in it. */
void *epochs_add(struct epochs *epochs, enum epochs_kind kind, uint32_t image_row, uint64_t key,
		 size_t bytes) __attribute__((returns_nonnull));
/*
 * Before the rings are read: begins a new epoch if this one is full.  Not in two rounds one
 * after the other: agents learn of an epoch in its first round, so the last of the epoch
 * before come in its second.
 */
void epochs_begin_round(struct epochs *epochs);
