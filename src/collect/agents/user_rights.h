/* user_rights - checks whether another process's user may read a file. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/*
 * True if the mode of the file, or of a folder on its absolute path, keeps the process from
 * reading it.  False if that is unknown: the process has ended or is root's, or a file is
 * missing.  Access control lists are ignored, so it is for a process from which no agent came.
 */
bool user_rights_forbid_reading(pid_t pid, const char *path);
