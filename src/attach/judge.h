/*
 * judge - whether an agent may be brought into a process that runs, and why not.
 */
#pragma once
#include <sys/types.h>

struct attach_status;
struct error;
struct maps;

/*
 * By what the kernel says of the process: 0; -ENOTSUP and a sentence that names what is in the way
 * (a debugger, a SIGTRAP of its own); -ESRCH when it has ended.
 */
int judge_status(const struct attach_status *status, struct error *err);
/* By what it has mapped: a sanitizer; 0 or -ENOTSUP. */
int judge_maps(const struct maps *maps, struct error *err);
/* All of it, and that /proc is mounted in its root.  Not its filters of calls: filters.h. */
int judge_process(pid_t pid, const struct maps *maps, struct error *err);
