/*
 * attach - loads the agent into a process that is already running.
 *
 * One of the process's threads is stopped for less than a millisecond and made to execute three
 * system calls: two mappings, and a clone that starts a thread of ours (hold.h, stub.h).  That
 * thread has libc create a proper thread, which loads the agent and calls its entry; the agent
 * then makes its handshake on the recorder's socket like any other, and is answered there.  So
 * attach_begin() returns while the agent waits for the answer, and attach_look() gives the
 * result.
 *
 * If an earlier attach has left an agent in the process, that one is used again.
 *
 * x86-64 with glibc 2.34 or later; elsewhere attach_begin() refuses.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach;
struct error;

struct attach_options {
	pid_t pid;
	const char *agent_path;  /* the shared object; the target need not be able to read it */
	const char *socket_path; /* where the recorder listens, as the target sees it */
	bool follows_children; /* agents in children of fork register with the recorder, too */
	/* Instead of attaching: has the agent in the process leave its recorder. */
	bool is_leaving;
};

/*
 * Starts an attach, which attach_end() ends.  On failure a negative errno, and a sentence whose
 * subject is the process ("a debugger traces it").  -ENOTSUP: the agent cannot be loaded into it.
 * While the thread is held, it gets no signals other than a debugger's.  -ETIMEDOUT: one of its
 * threads has not stopped; it stays traced, and if it stops later, goes on only when the calling
 * process has ended.
 */
int attach_begin(const struct attach_options *options, struct attach **out_attach,
		 struct error *err);
/*
 * 0: the agent's entry has not returned yet; 1: it has a ring, or has left; -errno and a
 * sentence.
 */
int attach_look(struct attach *attach, struct error *err);
/*
 * The recorder's end of the connection for the agent's handshake, which the caller owns; call once.
 * -errno: there is none (before Linux 5.6), and no handshake can be received.
 */
int attach_take_connection(const struct attach *attach);
/* Whether the process had the agent already. */
bool attach_found_agent(const struct attach *attach);
/* How long a thread of the process was stopped. */
uint64_t attach_stopped_ns(const struct attach *attach);
/* Lets our threads in the process end, and unmap their memory; NULL is allowed. */
void attach_end(struct attach *attach);
