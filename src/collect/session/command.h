/*
 * command - the command of a session: started stopped, let go, reaped.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "collect/session/options.h"

struct error;
struct own_limits;

struct command {
	pid_t pid;
	int go_fd;     /* a byte lets it go; closing it ends it */
	int result_fd; /* the errno of an exec that failed; the end of file when it did not */
};

struct command_environment {
	const char *agent_path;  /* in front of LD_PRELOAD; NULL: no agent is to come */
	const char *socket_path; /* where the agent finds the recorder */
	sigset_t signal_mask;    /* the mask to run the command with */
	const struct own_limits *allowance; /* to give back to it; NULL: none were raised */
};

/*
 * Starts a child that waits before exec. On success command_go() or command_abandon()
 * follows.
 */
int command_start(char *const *argv, const struct command_environment *environment,
		  struct command *out_command, struct error *err);
/*
 * Whether what the command runs is a program that no agent can be in, for what the program is: static,
 * Go, musl, 32-bit.  Not for its rights or for where it is.
 */
bool command_has_no_agent(char *const *argv);
/* Lets it exec.  -errno, the failure and a sentence if that fails: the child is reaped then. */
int command_go(struct command *command, const char *name, enum session_failure *out_failure,
	       struct error *err);
/* Ends a child that was not let go. */
void command_abandon(struct command *command);
