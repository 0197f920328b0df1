/*
 * attach - brings the agent into a process that runs already.
 *
 * One of its threads is stopped for less than a millisecond and makes three system calls: two
 * mappings, and a thread of ours (hold.h, stub.h).  That has libc create a proper thread, which
 * loads the agent and calls its entry; the agent then says hello at the recorder's socket as any
 * other does, and is answered there.  So attach_begin() returns while the agent waits for an
 * answer, and attach_look() says what became of it.
 *
 * An agent that an earlier attach has left in the process is used again.
 *
 * x86-64, glibc 2.34 and later; elsewhere attach_begin() refuses.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach;
struct error;

struct attach_options {
	pid_t pid;
	const char *agent_path;  /* the shared object; need not be readable to the target */
	const char *socket_path; /* where the recorder listens, as the target sees it */
	bool follows_children;   /* of fork: their agents say hello, too */
	/* In place of these: an agent that is in it forgets its recorder. */
	bool is_leaving;
};

/*
 * 0, and an attach to be ended; or a negative errno and a sentence, of which the process is the
 * subject ("a debugger traces it"): -ENOTSUP: it cannot be entered.  Signals other than those of
 * debugging do not reach it meanwhile.  -ETIMEDOUT: one of its threads does not stop, and does so
 * only when the calling process has ended.
 */
int attach_begin(const struct attach_options *options, struct attach **out_attach,
		 struct error *err);
/* 0: the agent has not come to its end yet; 1: it is in, and has a ring; or -errno, a sentence. */
int attach_look(struct attach *attach, struct error *err);
/*
 * The recorder's end of the connection on which the agent says hello, once: the caller's.  -errno:
 * there is none (Linux before 5.6), and the agent will not be heard.
 */
int attach_take_connection(const struct attach *attach);
/* Whether the agent was in the process before. */
bool attach_found_agent(const struct attach *attach);
/* How long a thread of the process was stopped. */
uint64_t attach_stopped_ns(const struct attach *attach);
/* The threads of ours end, and unmap what they needed; NULL is allowed. */
void attach_end(struct attach *attach);
