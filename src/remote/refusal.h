/*
 * refusal - why a process cannot be read, and what would help.
 */
#pragma once
#include <sys/types.h>

struct error;

/*
 * command is what "fathom COMMAND PID" begins with: "dump".
 *
 * 0 if the process could be read, by its kind; else -errno and a sentence: there is none of that
 * number (-ESRCH), it has ended and was not waited for, it is a kernel thread, a thread of
 * another process, or ourselves (-EINVAL).
 */
int refusal_judge(const char *command, pid_t pid, struct error *err);
/* No image of 64 bits is mapped: it is a 32-bit program (-ENOTSUP), or has ended (-ESRCH). */
int refusal_of_images(pid_t pid, struct error *err);
/* The sentence for what the kernel said when it was read.  Returns rc. */
int refusal_explain(const char *command, pid_t pid, int rc, struct error *err);
