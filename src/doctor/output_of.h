/* output_of - runs a child program and reads its standard output. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct output_of {
	pid_t pid;
	FILE *lines;
};

/*
 * Starts arguments[0] with that environment. 0, then call output_of_end(); or a negative errno.
 * Without has_errors its standard error is discarded.
 */
int output_of_start(char *const *arguments, char *const *environment, bool has_errors,
		    struct output_of *out_output);
/* Waits for the child's end; returns its status, as wait(2) gives it. */
int output_of_end(struct output_of *output);
