/*
 * no_sample - time of which a recording knows the thread, and at best the function that it began
 * with: fathom's own rows, as the innermost frame of a stack.
 */
#pragma once
#include <stdint.h>

struct codes;
struct image;
struct image_thread;
struct wall;

enum no_sample_kind {
	/* Between the last sample of a thread or process (its birth, if it had none) and its end. */
	NO_SAMPLE_SHORT,
	/* More than the few periods that a sample may stand for. */
	NO_SAMPLE_LEFT,
	/* What samples stood for that did not come: no room in the ring, or a slow disk. */
	NO_SAMPLE_LOST,
	NO_SAMPLE_KINDS,
};

struct no_sample {
	enum no_sample_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t ns;
	uint32_t callers; /* the recording's stack; 0: none */
};
/* Where they are written. */
struct no_sample_rows {
	struct codes *codes; /* not owned */
	uint64_t session_start_ns;
	uint64_t now_ns;   /* what has no end ends then */
	struct wall *wall; /* NULL: samples are of another clock */
	uint64_t left_out; /* rows for which the writer had no room */
};

/* Writes it; nothing if it is no time. */
void no_sample_add(struct no_sample_rows *rows, const struct image_thread *thread,
		   const struct no_sample *time);
/* The same of a thread's samples that were left out because of the disk, once that has room. */
void no_sample_add_left_out(struct no_sample_rows *rows, struct image *image,
			    struct image_thread *thread, uint64_t time_ns);
/* All that is left of it at the image's end, which is before its account is closed. */
void no_sample_end_left_out(struct no_sample_rows *rows, struct image *image);
/* The same of the image's end, on its first thread, which there is. */
void no_sample_add_rest(struct no_sample_rows *rows, struct image *image);
