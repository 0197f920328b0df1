/*
 * facts - fills a profile's info from what a recording says of itself.
 */
#pragma once

struct error;
struct notes;
struct profile;
struct recording_reader;

/* Everything but the account's sums and the notes. */
int facts_read(struct recording_reader *reader, struct profile *profile, struct error *err);
/* Adds the recording's own notes and what was lost. */
int facts_read_notes(struct recording_reader *reader, struct notes *notes, struct error *err);
/* What the profile's info holds as its notes; copied. */
void facts_set_notes(struct profile *profile, const struct notes *notes);
