/* refusal - explains why a process cannot be read, and what would help. */
#pragma once
#include <sys/types.h>

struct error;

/*
 * Judges a process before reading it. command is the subcommand in the advice "fathom COMMAND
 * PID": "dump".
 *
 * 0 if it can be read, as far as its kind and the caller's rights matter; else -errno and a
 * sentence: there is no such process (-ESRCH), it is a zombie, a kernel thread, a thread of another
 * process, or fathom itself (-EINVAL), or may not be read (-EACCES, -EPERM).
 */
int refusal_judge(const char *command, pid_t pid, struct error *err);
/*
 * No 64-bit image is mapped: explains that it is a 32-bit program (-ENOTSUP), or has ended
 * (-ESRCH).
 */
int refusal_of_images(pid_t pid, struct error *err);
/* Explains the error rc that the kernel returned for reading it. Returns rc. */
int refusal_explain(const char *command, pid_t pid, int rc, struct error *err);
