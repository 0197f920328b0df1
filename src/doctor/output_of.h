/*
 * output_of - a program of ours that runs aside, and what it writes to its standard output.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct output_of {
	pid_t pid;
	FILE *lines;
};

/*
 * Starts arguments[0] with that environment.  0, and output_of_end() is called for; or a negative
 * errno.  Without has_errors its standard error goes nowhere.
 */
int output_of_start(char *const *arguments, char *const *environment, bool has_errors,
		    struct output_of *out_output);
/* Waits for its end: its status, as wait(2) gives it. */
int output_of_end(struct output_of *output);
