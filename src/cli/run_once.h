/*
 * run_once - one recording in a process of its own, and what ends it.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

struct record_settings;

/* Signals that end a series of runs wait for us meanwhile. */
struct run_signals {
	sigset_t before;
	bool has_stop; /* one of them came: ^C */
	int stop;      /* which */
};

void run_signals_hold(struct run_signals *signals);
/* As it was before.  What came meanwhile is in has_stop. */
void run_signals_release(struct run_signals *signals);

/*
 * Records the settings' command in a child, with standard input empty and standard output
 * discarded, and waits for it.  What only we are sent, the child is sent, too.  The exit code of
 * record.
 */
int run_once(struct record_settings *settings, struct run_signals *signals);
