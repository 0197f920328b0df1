/*
 * exit_status - reads the exit status of a process that is not our child, and writes a note if
 * SIGTRAP killed it.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct image;
struct recording_writer;

/*
 * The status as wait(2) would return it, of a process that is exiting, is a zombie, or (Linux
 * >= 6.15) has been reaped; -1: unknown.  pidfd is the process's, or -1.
 */
int exit_status_of(pid_t pid, int pidfd);
/*
 * Writes a note if the image was sampled and SIGTRAP killed it: samples come by this signal,
 * and the program may have taken it away from our handler.  status is wait(2)'s, or -1: then it
 * is looked up.
 */
void exit_status_note(struct recording_writer *writer, const struct image *image, int status,
		      bool is_command);
