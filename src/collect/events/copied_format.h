/* copied_format - parses the sample records of copied events (copied_events.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/stack_copy.h"

struct perf_event_header;

#define COPIED_SAMPLE_TYPE                                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
/* Kernel frames kept of a sample: the kernel records at most PERF_MAX_STACK_DEPTH, 127. */
#define COPIED_KERNEL_FRAMES 128

struct copied_sample {
	uint64_t event; /* the event's identifier: a thread may have two events */
	uint64_t time_ns, period_ns;
	int pid, tid;
	uint64_t kernel[COPIED_KERNEL_FRAMES]; /* addresses, innermost first */
	size_t kernel_count;
	bool has_copy;          /* else the thread had no user registers any more */
	struct stack_copy copy; /* in the record */
};

/* When the sample was taken; 0 for a record that is no sample. */
uint64_t copied_record_time(const struct perf_event_header *record);
/* False: the record is damaged.  has_chain: it has a call chain of kernel frames. */
bool copied_sample_parse(const struct perf_event_header *record, bool has_chain,
			 struct copied_sample *out_sample);
