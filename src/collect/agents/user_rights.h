/*
 * user_rights - what another process's user may read.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/*
 * True if the mode of the file, or of a folder on its absolute path, keeps the process from
 * reading it.  False where that cannot be said: the process is gone or is root's, or a file is
 * not there.  Access control lists are not looked at. It is for a process that no agent came from.
 */
bool user_rights_forbid_reading(pid_t pid, const char *path);
