/*
 * unsampled - writes CPU time without samples as rows such as [not sampled], for a thread and,
 * if known, its start function.
 */
#pragma once
#include <stdint.h>

struct codes;
struct image;
struct image_thread;
struct wall;

enum unsampled_kind {
	/*
	 * CPU time between the last sample of a thread or process (or its start) and its end.
	 */
	UNSAMPLED_SHORT,
	/* CPU time beyond the few periods that one sample may stand for. */
	UNSAMPLED_LEFT,
	/* CPU time of lost samples: the ring was full, or the disk too slow. */
	UNSAMPLED_LOST,
	UNSAMPLED_KINDS,
};

struct unsampled {
	enum unsampled_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t ns;
	uint32_t callers; /* the recording's stack; 0: none */
};
/* Where rows are written. */
struct unsampled_rows {
	struct codes *codes; /* not owned */
	uint64_t session_start_ns;
	uint64_t now_ns;   /* the end of what has not ended */
	struct wall *wall; /* NULL: samples are not of the wall clock */
	uint64_t left_out; /* rows for which the writer had no room */
};

/* Writes a row; none for 0 ns. */
void unsampled_add(struct unsampled_rows *rows, const struct image_thread *thread,
		   const struct unsampled *time);
/*
 * The same for a thread's samples that were left out because the disk was too slow, once the
 * writer has room.
 */
void unsampled_add_left_out(struct unsampled_rows *rows, struct image *image,
			    struct image_thread *thread, uint64_t time_ns);
/* The same for all threads, at the image's end, before its account is closed. */
void unsampled_end_left_out(struct unsampled_rows *rows, struct image *image);
/* The same for the rest at the image's end, on its first thread, which must exist. */
void unsampled_add_rest(struct unsampled_rows *rows, struct image *image);
