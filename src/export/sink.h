/*
 * sink - where an export's bytes go, piece by piece.
 *
 * A sink is borrowed by what writes; its maker closes what is behind it.
 */
#pragma once
#include <stddef.h>

struct error;
struct text;

struct sink {
	/* Takes all len bytes, or returns a negative errno and says why. */
	int (*write)(void *context, const void *bytes, size_t len, struct error *err);
	void *context;
};

/* A sink that adds to text. */
struct sink sink_to_text(struct text *text);
/* A sink that writes to the descriptor *fd, which must outlive it. */
struct sink sink_to_fd(const int *fd);
