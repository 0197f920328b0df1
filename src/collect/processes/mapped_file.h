/*
 * mapped_file - opens the very file that a process has mapped, not what its path leads to by
 * now.
 *
 * A program chooses its paths, and may put a link to a file there that only the recorder may
 * read.  So a file is opened through the process (/proc/PID/map_files, which needs
 * CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), or by its path if the kernel shows the same device
 * and inode for the process's mapping as for one of our own.  stat(2) will not do: on btrfs and
 * overlayfs its device is another than that of mappings.
 */
#pragma once
#include <sys/types.h>

struct module_place;

/* A descriptor for reading, the caller's; -1 if the mapped file cannot be had for certain. */
int mapped_file_open(pid_t pid, const struct module_place *place);
