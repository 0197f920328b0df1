/*
 * blame - finds what made threads wait: joins the owners of what they waited for with what
 * these owners did at that moment.
 *
 * For moments in which a thread waited, a recording has the thread that held what it waited for
 * (table owners).  The waiter's row that covers the moment shows how long and where it waited,
 * the owner's row what the owner did.  A wait with several such moments is divided among them.
 * Time that a thread was runnable is blamed on the threads that ran then.
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
