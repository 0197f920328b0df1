/*
 * own_limits - raises the recorder's limit on descriptors and ignores SIGXFSZ; the command gets
 * back what the recorder was started with.
 *
 * A limit on the size of files is to end the recording with a sentence, rather than the
 * recorder by SIGXFSZ; and each watched process takes descriptors, for which the usual soft
 * limit of 1,024 is low.
 */
#pragma once
#include <signal.h>
#include <sys/resource.h>

struct own_limits {
	struct rlimit descriptors;
	struct sigaction on_file_size;
};

/* Stores the limits of before in *out_before. */
void own_limits_raise(struct own_limits *out_before);
/* Restores them: called in the command's process, before exec. */
void own_limits_give_back(const struct own_limits *before);
