/*
 * codes - names the frames of interpreted functions, which a recording brings along.
 *
 * Nothing is looked up: what a function was called was copied while its process lived.
 */
#pragma once

struct error;
struct names;
struct recording_reader;

/*
 * Gives a location to every frame of an interpreted module that has none, and their plain
 * names to the functions of all of them.  Leaves names sorted if it added anything.
 */
int codes_read(struct names *names, struct recording_reader *reader, struct error *err);
