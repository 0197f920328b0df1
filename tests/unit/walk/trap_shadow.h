/*
 * trap_shadow - a second stack of return addresses, kept by watching each instruction.
 *
 * A call pushed the address behind it, anything that moved the stack pointer past an
 * address took it away, rt_sigreturn left the innermost signal handler.  No unwind rule is
 * needed for that.
 */
#pragma once
#include <stdint.h>
#include <ucontext.h>

#define SHADOW_FRAMES_MAX 4096

/* Where a return address lies and what it is; a signal's is the interrupted ip. */
struct shadow_entry {
	uint64_t slot, ip;
	uint64_t signal_sp; /* the interrupted stack pointer; 0: no signal */
};

struct shadow {
	struct shadow_entry entries[SHADOW_FRAMES_MAX];
	uint32_t depth;
	uint32_t signals;
	uint64_t last_ip, last_sp, last_ax;
};

/*
 * The frames there are when watching begins, by libgcc's unwinder: the only time that
 * another unwinder is believed, and each address must lie where it says.  Not counted is
 * the frame of the function that calls.
 */
void shadow_learn_callers(void);
void shadow_begin(struct shadow *s);
/* Follows what the last instruction did; gregs are the registers after it. */
void shadow_follow(struct shadow *s, const greg_t *gregs);
/*
 * A signal handler has begun.  handler_slot is where the return address lies that leads
 * back from the function it called first.
 */
void shadow_enter_signal(struct shadow *s, const ucontext_t *interrupted,
			 uint64_t handler_slot);
