/*
 * sink - the destination of an export's bytes.
 *
 * Writers borrow a sink; its creator closes the file or frees the buffer behind it.
 */
#pragma once
#include <stddef.h>

struct error;
struct text;

struct sink {
	/* Takes all len bytes, or returns a negative errno with the reason. */
	int (*write)(void *context, const void *bytes, size_t len, struct error *err);
	void *context;
};

/* A sink that appends to text. */
struct sink sink_to_text(struct text *text);
/* A sink that writes to the descriptor *fd, which must outlive it. */
struct sink sink_to_fd(const int *fd);
