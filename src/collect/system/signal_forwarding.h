/*
 * signal_forwarding - receives the recorder's signals while the command runs, and passes some
 * on to the command.
 *
 * TERM, HUP, QUIT, INT and USR2 that a process sends to the recorder are forwarded to the
 * command; signals from the terminal reach the command by themselves and are not forwarded.
 * USR1 is for the recorder: it asks for a report so far.  Ctrl-Z stops both, and fg wakes both,
 * as any job.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;

struct signal_forwarding {
	int fd;        /* a signalfd */
	bool has_usr1; /* USR1 came; the reader of this clears it */
	bool has_stop; /* INT, TERM, HUP or QUIT came, which end programs */
	sigset_t mask_before;
};

/* Blocks the signals and opens the signalfd. */
int signal_forwarding_open(struct signal_forwarding *forward, struct error *err);
/*
 * Restores the mask.  Pending signals would be delivered to the recorder then: they are dropped
 * first.
 */
void signal_forwarding_close(struct signal_forwarding *forward);
/*
 * Takes the signals that have come, and forwards those meant for the command to pid (0: to
 * none).  Returns whether a child changed its state.
 */
bool signal_forwarding_take(struct signal_forwarding *forward, pid_t pid);
