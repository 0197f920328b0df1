/*
 * unsampled - time of which a recording knows the thread, and at best the function that it began
 * with: fathom's own rows, as the innermost frame of a stack.
 */
#pragma once
#include <stdint.h>

struct codes;
struct image;
struct image_thread;
struct wall;

enum unsampled_kind {
	/* Between the last sample of a thread or process (its birth, if it had none) and its end. */
	UNSAMPLED_SHORT,
	/* More than the few periods that a sample may stand for. */
	UNSAMPLED_LEFT,
	/* What samples stood for that did not come: no room in the ring, or a slow disk. */
	UNSAMPLED_LOST,
	UNSAMPLED_KINDS,
};

struct unsampled {
	enum unsampled_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t ns;
	uint32_t callers; /* the recording's stack; 0: none */
};
/* Where they are written. */
struct unsampled_rows {
	struct codes *codes; /* not owned */
	uint64_t session_start_ns;
	uint64_t now_ns;   /* what has no end ends then */
	struct wall *wall; /* NULL: samples are of another clock */
	uint64_t left_out; /* rows for which the writer had no room */
};

/* Writes it; nothing if it is no time. */
void unsampled_add(struct unsampled_rows *rows, const struct image_thread *thread,
		   const struct unsampled *time);
/* The same of a thread's samples that were left out because of the disk, once that has room. */
void unsampled_add_left_out(struct unsampled_rows *rows, struct image *image,
			    struct image_thread *thread, uint64_t time_ns);
/* All that is left of it at the image's end, which is before its account is closed. */
void unsampled_end_left_out(struct unsampled_rows *rows, struct image *image);
/* The same of the image's end, on its first thread, which there is. */
void unsampled_add_rest(struct unsampled_rows *rows, struct image *image);
