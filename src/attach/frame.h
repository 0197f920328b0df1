/*
 * frame - a signal frame that makes a thread restore itself.
 *
 * The frame is as the kernel writes one, built by hand on the thread's own stack.  Code that
 * returns to it reaches __restore_rt, whose rt_sigreturn(2) loads all registers, the vector
 * registers and the signal mask.  The code that is executed on the stopped thread returns there:
 * so if the recorder is killed at any moment, the thread goes on where it was.
 *
 * Layout: Linux, arch/x86/include/asm/sigframe.h (struct rt_sigframe), and uapi/asm/sigcontext.h
 * for what the kernel looks for in the vector state.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

/* The state as PTRACE_GETREGSET returns it (NT_X86_XSTATE): at least 576 bytes. */
#define FRAME_STATE_MAX 16384

struct frame_input {
	const struct user_regs_struct *registers;
	uint64_t signal_mask;
	uint64_t restorer; /* the address of libc's __restore_rt */
	const void *state;
	size_t state_bytes;
};

/* A frame's size, a multiple of 64, as its address must be. */
size_t frame_bytes(size_t state_bytes);
/* The frame's address for a thread with this stack pointer. */
uint64_t frame_place(uint64_t stack_pointer, size_t state_bytes);
/* Writes frame_bytes() bytes, to be copied to that address. */
void frame_write(const struct frame_input *input, uint64_t place, void *out_frame);
/*
 * How many of these bytes of state rt_sigreturn() restores: fewer than all if the processor has
 * state that a process must request (AMX).  0: the thread uses such state, or the format is
 * unknown.
 */
size_t frame_state_bytes(const void *state, size_t bytes);
