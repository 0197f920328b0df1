/*
 * cpu_account - what the kernel charged, and what of it the samples and
 * the rows in brackets stand for.
 *
 * The parts stand on the recording's threads.  What is left is shown as unexplained, with
 * its sign, and never spread over the others.
 */
#pragma once
#include "profile/profile.h"
#include "record/recording.h"

/* What a row in brackets needs to know of a thread's process. */
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
/* Adds a weight to it. */
void cpu_account_add_row(struct profile *profile, struct thread_id thread, const char *name,
			 uint64_t ns, uint64_t samples);
/* Figures that were never known become FIGURE_UNKNOWN; computes the rest. */
void cpu_account_close(struct profile *profile);
/* Before the first thread. */
void cpu_account_open(struct profile *profile);
