/* command - starts a session's command stopped before its exec, then lets it go. */
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
	const char *agent_path;             /* last in LD_PRELOAD; NULL: no agent is to come */
	const char *socket_path;            /* where the agent finds the recorder */
	sigset_t signal_mask;               /* the mask to run the command with */
	const struct own_limits *allowance; /* to give back to it; NULL: none were raised */
};

/*
 * Starts a child that waits before exec. On success command_go() or command_abandon()
 * follows.
 */
int command_start(char *const *argv, const struct command_environment *environment,
		  struct command *out_command, struct error *err);
/*
 * Whether the command's program is of a kind that no agent can be loaded into: static, Go,
 * musl, 32-bit.  Its rights and its location are not considered.
 */
bool command_has_no_agent(char *const *argv);
/* Lets it exec.  -errno, the failure and a sentence if that fails: the child is reaped then. */
int command_go(struct command *command, const char *name, enum session_failure *out_failure,
	       struct error *err);
/* Ends a child that was not let go. */
void command_abandon(struct command *command);
