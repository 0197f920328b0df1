/*
 * judge - decides whether an agent can be loaded into a running process, and says why not.
 */
#pragma once
#include <sys/types.h>

struct attach_status;
struct error;
struct maps;

/*
 * By the process's status: 0; -ENOTSUP and a sentence that names the obstacle (a debugger, a
 * shadow stack); -ESRCH if it has ended.
 */
int judge_status(const struct attach_status *status, struct error *err);
/* By its mappings (a sanitizer): 0 or -ENOTSUP. */
int judge_maps(const struct maps *maps, struct error *err);
/* Checks these, SIGTRAP, and that its root has /proc.  Seccomp filters: filters.h. */
int judge_process(pid_t pid, const struct maps *maps, struct error *err);
