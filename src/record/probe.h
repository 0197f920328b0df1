/* probe - examines a file that should be a recording, before SQLite opens it. */
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
	bool is_locked; /* held by a recorder, or a process that adds symbols */
	bool has_wal;   /* it has a journal that is not empty */
	bool has_rollback;
	bool is_writable; /* the file and its folder are */
};

/*
 * Refuses anything but a recording with one sentence. *out_probe is the caller's: probe_done().
 */
int probe_file(const char *path, struct probe *out_probe, struct error *err);
/*
 * Folds in the journals that a killed writer left, where permitted, and examines the file
 * again.
 */
int probe_fold_journals(struct probe *probe, struct error *err);
void probe_done(struct probe *probe);
