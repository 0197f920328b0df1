/*
 * ring_owner - whether the recorder that gave a process its ring still runs.
 *
 * A killed recorder leaves the ring mapped, but no perf events.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ring_header;

/* When this process started, as rings store it for their recorder. */
uint64_t ring_owner_start(void);
/* Stores this process, which started then, as the ring's recorder. */
void ring_owner_write(struct ring_header *ring, uint64_t start);
/*
 * Whether the process has a ring whose recorder runs, by its pid: true if the ring cannot be
 * read, false if the recorder is in a PID namespace that we do not see.
 */
bool ring_owner_runs(pid_t pid);
