/*
 * resolve - looks up the frames of a recording that have no names yet.
 *
 * Works on this machine's files, the copies kept in the recording, and perf maps: what
 * is not there any more, or is another build, stays module+0xoffset.
 */
#pragma once

struct error;
struct load_options;
struct names;
struct notes;
struct recording_reader;

/* names: what names_read() found; gets a location for every frame that had none. */
int resolve_names(struct recording_reader *reader, const struct load_options *options,
		  struct notes *notes, struct names *names, struct error *err);
