/*
 * codes - names the frames of interpreted functions, by the names that a recording contains.
 *
 * Nothing is looked up: names were copied while the process ran.
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
