#include "collect/stacks/epochs.h"

#include <stdbool.h>

void epochs_init(struct epochs *epochs)
{
	*epochs = (struct epochs){ .limit = EPOCHS_LIMIT, .limit_bytes = EPOCHS_LIMIT_BYTES };
}

static void epoch_done(struct epoch *epoch)
{
	for (int i = 0; i < EPOCHS_KINDS; i++)
		table_done(&epoch->index[i]);
	arena_done(&epoch->contents);
}

void epochs_done(struct epochs *epochs)
{
	epoch_done(&epochs->young);
	epoch_done(&epochs->old);
}

void *epochs_find_as_of(const struct epochs *epochs, uint32_t number, enum epochs_kind kind,
			uint32_t image_row, uint64_t key)
{
	const bool is_young = number == epochs->number;
	const struct epoch *first = is_young ? &epochs->young : &epochs->old;
	const struct epoch *then = is_young ? &epochs->old : &epochs->young;
	uint64_t content;

	if (!table_get(&first->index[kind], image_row, key, &content) &&
	    !table_get(&then->index[kind], image_row, key, &content))
		return NULL;
	return (void *)(uintptr_t)content;
}

void *epochs_find(const struct epochs *epochs, enum epochs_kind kind, uint32_t image_row,
		  uint64_t key)
{
	return epochs_find_as_of(epochs, epochs->number, kind, image_row, key);
}

void *epochs_add(struct epochs *epochs, enum epochs_kind kind, uint32_t image_row, uint64_t key,
		 size_t bytes)
{
	struct epoch *epoch = &epochs->young;
	void *content = arena_alloc(&epoch->contents, bytes);

	*table_at(&epoch->index[kind], image_row, key, NULL) = (uintptr_t)content;
	epoch->count++;
	epoch->bytes += bytes;
	return content;
}

void epochs_begin_round(struct epochs *epochs)
{
	const bool is_full = epochs->young.count >= epochs->limit ||
			     epochs->young.bytes >= epochs->limit_bytes;

	if (epochs->rounds++ == 0 || !is_full)
		return;
	epoch_done(&epochs->old);
	epochs->old = epochs->young;
	epochs->young = (struct epoch){ .count = 0 };
	epochs->rounds = 0;
	epochs->number++;
}
