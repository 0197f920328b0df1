/*
 * cpu_account - divides the CPU time that the kernel charged among samples and rows in
 * brackets, such as [start-up].
 *
 * The parts come from the recording's threads.  The difference is shown as unexplained, with
 * its sign, and never spread over the others.
 */
#pragma once
#include "profile/profile.h"
#include "record/recording.h"

/* A thread's process, for the names of its rows in brackets. */
struct cpu_account_process {
	const char *name;
	const char *unentered_reason; /* NULL: entered, or not known */
};

/* Adds the thread's rows in brackets to the profile, and their time to its info. */
void cpu_account_add_thread(struct profile *profile, struct thread_id thread,
			    const struct recording_thread *row,
			    const struct cpu_account_process *process);
/* A stack of one frame of fathom's own. */
struct stack_id cpu_account_add_stack(struct profile *profile, const char *name);
/* Adds a weight with such a stack. */
void cpu_account_add_row(struct profile *profile, struct thread_id thread, const char *name,
			 uint64_t ns, uint64_t samples);
/* Computes the unexplained rest. */
void cpu_account_close(struct profile *profile);
/* Called before the first thread: the figures are unknown until one has them. */
void cpu_account_open(struct profile *profile);
