/*
 * exit_status - how a process ended, as far as a process that is not its parent can know, and a
 * note for one that SIGTRAP killed.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct image;
struct recording_writer;

/*
 * As wait(2) would give it, of a process that ends at this moment, waits for its parent, or
 * (Linux >= 6.15) is gone; -1 if it cannot be known.  pidfd is the process's, or -1.
 */
int exit_status_of(pid_t pid, int pidfd);
/*
 * A note if the image was sampled and SIGTRAP killed it: our signal, so the cause may be that
 * the program took it away from our handler.  status is -1 where wait(2) did not return it.
 */
void exit_status_note(struct recording_writer *writer, const struct image *image, int status,
		      bool is_command);
