/*
 * blame - joins what the recorder saw of owners with what these threads did at that moment.
 *
 * A recording has, of moments in which a thread waited, which thread held what it waited for
 * (table owners).  The waiter's row that covers the moment says how long and where it waited, the
 * owner's row what that did.  A wait that was looked at several times is divided among them.  For
 * time that a thread was runnable those are blamed that ran then.
 */
#pragma once
struct blame_terms;
struct blames;
struct error;
struct profile;
struct recording_reader;

/* blames->rows are the profile's memory. */
int blame_read(struct recording_reader *reader, const struct blame_terms *terms,
	       struct profile *profile, struct blames *out_blames, struct error *err);
