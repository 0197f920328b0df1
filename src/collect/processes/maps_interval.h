/*
 * maps_interval - limits how often an image's mappings are read from /proc, where no sideband
 * reports them.
 *
 * An agent reports a change each time that it finds a new library and that one was closed: a
 * program that loads and closes libraries in a loop would cause thousands of readings a second.
 * So they are read once a round at most, for at most a twentieth of the time; a postponed
 * reading follows later.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Zero-initialized: nothing has changed.  Times are of CLOCK_MONOTONIC. */
struct maps_interval {
	uint64_t changed_ns; /* the earliest change that was not read; 0: none */
	uint64_t round_ns;   /* the round of the last reading */
	uint64_t due_ns;     /* no reading before */
};

/*
 * A record of time_ns, from before the round, reports a change: a reading in this round has
 * included it.
 */
void maps_interval_change(struct maps_interval *interval, uint64_t round_ns, uint64_t time_ns);
/*
 * Whether to read them now, in the round that began at round_ns: then *out_changed_ns is the
 * time from which on the reading counts.
 */
bool maps_interval_begin(struct maps_interval *interval, uint64_t round_ns, uint64_t now_ns,
			 uint64_t *out_changed_ns);
/* They were read from began_ns to now_ns. */
void maps_interval_end(struct maps_interval *interval, uint64_t began_ns, uint64_t now_ns);
