/* facts - fills in a profile's info by a recording's facts and notes. */
#pragma once

struct error;
struct notes;
struct profile;
struct recording_reader;

/* Fills in everything but the account's sums and the notes. */
int facts_read(struct recording_reader *reader, struct profile *profile, struct error *err);
/* Adds the recording's own notes, and notes on lost samples. */
int facts_read_notes(struct recording_reader *reader, struct notes *notes, struct error *err);
/* Sets the notes in the profile's info; they are copied. */
void facts_set_notes(struct profile *profile, const struct notes *notes);
