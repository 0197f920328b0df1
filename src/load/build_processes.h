/*
 * build_processes - adds the processes and threads of a recording, and their part of the CPU
 * account, to a profile.
 */
#pragma once

struct error;
struct profile;
struct recording_reader;
struct table;

/*
 * Called between cpu_account_open() and cpu_account_close().  *threads: the recording's ids to
 * the profile's.
 */
int build_processes(struct recording_reader *reader, struct profile *profile,
		    struct table *threads, struct error *err);
