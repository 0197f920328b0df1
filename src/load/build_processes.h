/*
 * build_processes - the processes and threads of a recording, and their part of the CPU account, as
 * those of a profile.
 */
#pragma once

struct error;
struct profile;
struct recording_reader;
struct table;

/* Between cpu_account_open() and cpu_account_close(). *threads: the recording's ids to the profile's. */
int build_processes(struct recording_reader *reader, struct profile *profile,
		    struct table *threads, struct error *err);
