/*
 * ruby - the CRuby interpreter of a process: its threads' contexts, and which holds the GVL.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/ruby_layout.h"

struct remote;
struct remote_stack;
struct remote_image;
struct remote_ruby;

/* Looks for an interpreter in an image; true if it is one that can be walked. */
bool remote_ruby_find(struct remote *remote, const struct remote_image *image,
		      const char *path);
void remote_ruby_free(struct remote_ruby *ruby);
const struct ruby_layout *remote_ruby_layout(const struct remote_ruby *ruby);
/* "3.1.2" */
const char *remote_ruby_version(const struct remote_ruby *ruby);
/*
 * Whether the offset of the GVL's owner was verified by running this version, not only by its
 * source.
 */
bool remote_ruby_gvl_is_verified(const struct remote_ruby *ruby);

/* Lists the threads that exist now. */
void remote_ruby_list(struct remote *remote);
/* The present context of a listed thread, by its number in its own PID namespace; 0: it has none. */
uint64_t remote_ruby_context(struct remote *remote, pid_t inner_tid);
/* Whether the thread with this context holds the GVL now. */
bool remote_ruby_holds_gvl(struct remote *remote, uint64_t context);
/*
 * Whether the thread with this context waits for the GVL: it is in the GVL's queue, or in a
 * futex inside the GVL.
 */
bool remote_ruby_waits_for_gvl(struct remote *remote, uint64_t context, uint64_t futex);
/*
 * Whether the thread with this stack has ended, as a Ruby thread, and is kept for the next
 * Thread.new.
 */
bool remote_ruby_keeps(const struct remote *remote, const struct remote_stack *stack);
/*
 * Whether the stack's innermost native frames are of a wait for a child: up to 3.2 the thread of
 * Process.detach, as Open3 has it, waits in no method.
 */
bool remote_ruby_waits_for_child(const struct remote *remote, const struct remote_stack *stack);
/*
 * The thread that holds the GVL that the one with this context waits for; 0: none, or unknown.
 */
pid_t remote_ruby_gvl_holder(struct remote *remote, uint64_t context);

/* The thread that holds a Mutex (its rb_mutex_t) now; 0: none, or not known. */
pid_t remote_ruby_mutex_owner(struct remote *remote, uint64_t mutex);

/* The receiver of a thread's innermost method in C. */
struct ruby_receiver {
	uint64_t object;   /* 0: the receiver is none of these */
	bool is_thread;    /* a Thread; else a Mutex or Monitor */
	pid_t inner_owner; /* the Thread itself, or the lock's holder; 0: unknown */
};
struct ruby_receiver remote_ruby_receiver(struct remote *remote, uint64_t context);
/* The name that the program gave the thread; NULL: none. */
const char *remote_ruby_thread_name(struct remote *remote, uint64_t context);
