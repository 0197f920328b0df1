/*
 * signal_forwarding - the recorder's signals while the command runs.
 *
 * TERM, HUP, QUIT, INT and USR2 that a process sends to the recorder go on to the command;
 * those of the terminal reach the command by themselves and are not doubled.  USR1 is
 * kept for the recorder: it asks for a report so far.  Ctrl-Z stops both, and fg wakes both, as any job.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;

struct signal_forwarding {
	int fd;        /* a signalfd */
	bool has_usr1; /* USR1 came; what looks clears it */
	bool has_stop; /* one that ends programs came: INT, TERM, HUP or QUIT */
	sigset_t mask_before;
};

/* Blocks the signals and opens the signalfd. */
int signal_forwarding_open(struct signal_forwarding *forward, struct error *err);
/* Restores the mask.  Signals that still wait come to us then: they are dropped first. */
void signal_forwarding_close(struct signal_forwarding *forward);
/* Takes what has come; passes it on to pid (0: to none).  Whether a child changed its state. */
bool signal_forwarding_take(struct signal_forwarding *forward, pid_t pid);
