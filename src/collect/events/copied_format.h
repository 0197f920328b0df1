/*
 * copied_format - the records that copied_events.h has the kernel write.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/stack_copy.h"

struct perf_event_header;

#define COPIED_SAMPLE_TYPE                                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
/* Of the kernel's functions so many are kept: it has PERF_MAX_STACK_DEPTH, 127. */
#define COPIED_KERNEL_FRAMES 128

struct copied_sample {
	uint64_t event; /* which one: it distinguishes two of one thread */
	uint64_t time_ns, period_ns;
	int pid, tid;
	uint64_t kernel[COPIED_KERNEL_FRAMES]; /* addresses, innermost first */
	size_t kernel_count;
	bool has_copy;          /* else the thread had no user's registers any more */
	struct stack_copy copy; /* in the record */
};

/* When the record was written, or 0: it has no such time. */
uint64_t copied_record_time(const struct perf_event_header *record);
/* False: it is damaged.  has_chain: kernel frames were asked for. */
bool copied_sample_parse(const struct perf_event_header *record, bool has_chain,
			 struct copied_sample *out_sample);
