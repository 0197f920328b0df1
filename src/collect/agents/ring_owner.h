/*
 * ring_owner - whether the recorder that gave a process its ring still runs.
 *
 * One that was killed leaves the ring mapped, and no event behind it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ring_header;

/* When this process started, as rings have it of their recorder. */
uint64_t ring_owner_start(void);
/* This process is its recorder, and started then. */
void ring_owner_write(struct ring_header *ring, uint64_t start);
/*
 * Whether the process has a ring whose recorder runs, as far as its number shows: true of a ring that
 * cannot be read, false of a recorder in a PID namespace that is none of ours.
 */
bool ring_owner_runs(pid_t pid);
