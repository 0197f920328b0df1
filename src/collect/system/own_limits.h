/*
 * own_limits - the limits a recorder was started with: what it takes of them, and gives back to
 * its command.
 *
 * A limit on the size of files ends the recording with a sentence, not the recorder with
 * SIGXFSZ; and each process that is watched takes descriptors, of which the usual 1,024
 * (the soft limit) are few.
 */
#pragma once
#include <signal.h>
#include <sys/resource.h>

struct own_limits {
	struct rlimit descriptors;
	struct sigaction on_file_size;
};

/* What was there goes into *out_before. */
void own_limits_raise(struct own_limits *out_before);
/* In the command's process, before exec. */
void own_limits_give_back(const struct own_limits *before);
