/*
 * open - begins to read a process that runs.
 *
 * It is not stopped, and nothing is written into it.
 */
#pragma once
#include <sys/types.h>

struct error;
struct remote;

/*
 * On success remote_close().  Else a negative errno and a sentence with what would help: there
 * is no such process, it has ended (a zombie), it is a kernel thread, it may not be read.
 */
int remote_open(pid_t pid, struct remote *out_remote, struct error *err);
void remote_close(struct remote *remote);
