/*
 * sideband_event - parses a perf record about a process, thread or mapping.
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
	SIDEBAND_SWITCH, /* a thread was switched out, or in */
};

struct sideband_event {
	enum sideband_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int pid, tid;
	int parent_pid, parent_tid; /* fork */
	bool is_exec;
	bool is_out, is_preempted;        /* switch: out, else in; out while still runnable */
	uint64_t start, end, file_offset; /* map */
	uint8_t build_id[20];
	uint8_t build_id_len; /* 0: the kernel reported none */
	const char *name;     /* the thread's name, or a path; valid during the visit */
};

/*
 * The time of a record: sample_id_all puts pid, tid and time at the end of each.  0 if the
 * record is too short.
 */
uint64_t sideband_event_time(const struct perf_event_header *record);
/*
 * False for another kind of record, and for one that is cut short.  event->name points into the
 * record.
 */
bool sideband_event_parse(const struct perf_event_header *record, struct sideband_event *event);
