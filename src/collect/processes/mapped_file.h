/*
 * mapped_file - opens the very file that a process has mapped, whatever its path leads to by
 * now.
 *
 * A program chooses its paths, and may put a link to a file there that only the recorder may
 * read.  So a file is opened through the process (/proc/PID/map_files, which needs
 * CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), or by its path if the kernel shows the same device
 * and inode for the process's mapping as for one of our own.  stat(2) is not enough: on btrfs
 * and overlayfs it shows another device than /proc/PID/maps.
 */
#pragma once
#include <sys/types.h>

struct module_place;

/* Returns a descriptor for reading, the caller's; -1 if it is not certainly the mapped file. */
int mapped_file_open(pid_t pid, const struct module_place *place);
