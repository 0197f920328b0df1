/*
 * trap_walk - walks the own stack at every instruction, and knows what is true.
 *
 * The processor's trap flag raises SIGTRAP after each instruction.  The handler keeps a
 * second stack, of return addresses, by watching what each instruction did to the real
 * one: a call pushed the address behind it, anything that moved the stack pointer past it
 * took it away.  No unwind rule is needed for that.  A walk is right if it gives exactly
 * those addresses and says that it reached the outermost frame.
 */
#pragma once
#include <stdint.h>
#include <ucontext.h>

struct trap_walk_result {
	uint64_t instructions;
	uint64_t right;
	uint64_t excused_eh_return, excused_entry, excused_longjmp; /* see excuse() */
	uint64_t wrong;
	uint64_t frames;
	uint64_t signal_frames; /* instructions with a signal handler on the stack */
	uint32_t deepest;
	uint32_t printed;
};

/* Catches SIGTRAP and learns the images.  result may be shared with other processes. */
void trap_walk_init(struct trap_walk_result *result);
/* Learns the images again, after dlopen() or dlclose(). */
void trap_walk_learn_images(void);
/* A stack besides the main thread's that walks may read. */
void trap_walk_add_stack(const void *low, uint64_t len);

/* From here on each instruction of this thread is walked; one thread at a time. */
void trap_walk_start(void);
void trap_walk_stop(void);
/* Raises SIGALRM after every so many instructions, wherever that is; 0: never. */
void trap_walk_set_signal_every(uint64_t instructions);
/* Walking stops by itself after so many instructions. */
void trap_walk_set_limit(uint64_t instructions);
/* The first call of a signal handler: walking goes on in the handler. */
void trap_walk_in_handler(const ucontext_t *context);
