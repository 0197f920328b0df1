/*
 * sideband_event - what a record of a perf ring says of a process, thread or mapping.
 *
 * The layouts are perf_event_open(2)'s of FORK, EXIT, COMM and MMAP2.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct perf_event_header;

enum sideband_kind {
	SIDEBAND_FORK,   /* a process, or a thread if pid == parent_pid */
	SIDEBAND_EXIT,   /* a thread ended */
	SIDEBAND_NAME,   /* a thread's name; is_exec: a new process image began */
	SIDEBAND_MAP,    /* executable memory was mapped */
	SIDEBAND_SWITCH, /* a thread was taken from its CPU, or given one */
};

struct sideband_event {
	enum sideband_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int pid, tid;
	int parent_pid, parent_tid; /* fork */
	bool is_exec;
	bool is_out, is_preempted;        /* switch: it was taken; and would have run on */
	uint64_t start, end, file_offset; /* map */
	uint8_t build_id[20];
	uint8_t build_id_len; /* 0: the kernel did not say */
	const char *name;     /* of the thread, or path; lives during the visit */
};

/* sample_id_all puts pid, tid and time at the end of every record.  0 if it is too short. */
uint64_t sideband_event_time(const struct perf_event_header *record);
/* False for another kind of record, and one that is cut short.  The name is in the record. */
bool sideband_event_parse(const struct perf_event_header *record, struct sideband_event *event);
