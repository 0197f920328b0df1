/* run_once - makes one recording in a child process, and handles the signals that end it. */
#pragma once
#include <signal.h>
#include <stdbool.h>

struct record_settings;

/* Signals that end a series of runs are blocked meanwhile, and taken by us. */
struct run_signals {
	sigset_t before;
	bool has_stop; /* one of them arrived, as by ^C */
	int stop;      /* which */
};

void run_signals_hold(struct run_signals *signals);
/* Restores the signal mask. A signal that arrived meanwhile is in has_stop. */
void run_signals_release(struct run_signals *signals);

/*
 * Records the settings' command in a child, with empty standard input and discarded standard
 * output, and waits for it. Forwards signals that were sent only to us. Returns the exit code
 * of record.
 */
int run_once(struct record_settings *settings, struct run_signals *signals);
