/* locals - reads the local variables of a Python frame, as text. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct remote;

struct local {
	const char *name, *value; /* live as long as the remote */
};

/*
 * Adds the frame's variables that have a value to remote->locals: *out_count of them, from
 * index *out_first on.
 */
void locals_read(struct remote *remote, uint64_t frame, uint64_t code, size_t *out_first,
		 size_t *out_count);
