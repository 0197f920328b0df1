/*
 * epochs - a bounded store of stacks and functions, which agents send once and then refer to by
 * key.
 *
 * One store for all images of a session: when it is full a new epoch begins.  Agents remember
 * what they have sent in the current epoch only (agent/sample/emit.c), so they send again what
 * they still use; the rest is forgotten.  The previous epoch is kept for records that were on
 * their way: docs/decisions/0014.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"

/*
 * Limits of each of the two epochs: tables of some MiB and 16 MiB of contents.  A round reads
 * all that the rings hold before an epoch can end, so nothing is forgotten on its way.
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

/* The content with this key in that image, or NULL: it never came, or was forgotten. */
void *epochs_find(const struct epochs *epochs, enum epochs_kind kind, uint32_t image_row,
		  uint64_t key);
/* The same; if both epochs have the key, the content of that epoch. */
void *epochs_find_as_of(const struct epochs *epochs, uint32_t number, enum epochs_kind kind,
			uint32_t image_row, uint64_t key);
/* Allocates a zeroed content in this epoch; it replaces the one with this key. */
void *epochs_add(struct epochs *epochs, enum epochs_kind kind, uint32_t image_row, uint64_t key,
		 size_t bytes) __attribute__((returns_nonnull));
/*
 * Called before a round reads the rings: begins a new epoch if this one is full.  Not in two
 * rounds in a row: agents see an epoch in its first round, so the last records of the previous
 * one come in its second.
 */
void epochs_begin_round(struct epochs *epochs);
