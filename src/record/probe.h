/*
 * probe - what a file that should be a recording is, before SQLite opens it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "record/header.h"

struct error;

struct probe {
	char *path; /* with links resolved, as SQLite does to find the journal */
	int fd;     /* to be closed after SQLite's own, see lock.h */
	struct header header;
	uint64_t file_bytes;
	bool is_locked; /* a recorder has it, or a process that adds symbols */
	bool has_wal;   /* a journal that is not empty stands beside it */
	bool has_rollback;
	bool is_writable; /* and its folder */
};

/* Refuses what is not a recording with one sentence.  *out_probe is the caller's:
 * probe_done(). */
int probe_file(const char *path, struct probe *out_probe, struct error *err);
/* Takes in what journals a killed writer left, if it may, and looks again. */
int probe_fold_journals(struct probe *probe, struct error *err);
void probe_done(struct probe *probe);
