/*
 * maps_interval - how often an image's mappings are read from /proc, where no sideband reports them.
 *
 * An agent says that they have changed each time that it meets an image and that one was closed: a
 * program that does so in a loop would have them read thousands of times a second.  They are read
 * once a round at most, and take at most a twentieth of the time; what is put off is read later.
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
 * They had changed by the beginning of the round, as a record with that time says: if they were
 * read in this round, that was behind it.
 */
void maps_interval_change(struct maps_interval *interval, uint64_t round_ns, uint64_t time_ns);
/*
 * Whether they are to be read now, in the round that began at round_ns: *out_changed_ns is since
 * when they are what will be read.
 */
bool maps_interval_begin(struct maps_interval *interval, uint64_t round_ns, uint64_t now_ns,
			 uint64_t *out_changed_ns);
/* They were read from began_ns to now_ns. */
void maps_interval_end(struct maps_interval *interval, uint64_t began_ns, uint64_t now_ns);
