/*
 * frame - what makes a thread put itself back.
 *
 * A signal frame as the kernel writes one, made by hand on the thread's own stack: whatever code
 * returns to it gets to __restore_rt, whose rt_sigreturn(2) loads all registers, the vector
 * registers and the signal mask.  The code that is executed on the stopped thread returns there, so
 * that a recorder that is killed at any moment leaves a thread that goes on where it was.
 *
 * Layout: Linux, arch/x86/include/asm/sigframe.h (struct rt_sigframe), and uapi/asm/sigcontext.h
 * for what the kernel looks for in the vector state.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

/* As PTRACE_GETREGSET gives it (NT_X86_XSTATE): 576 bytes at least. */
#define FRAME_STATE_MAX 16384

struct frame_input {
	const struct user_regs_struct *registers;
	uint64_t signal_mask;
	uint64_t restorer; /* the address of libc's __restore_rt */
	const void *state;
	size_t state_bytes;
};

/* A multiple of 64.  The frame's address has to be one, too. */
size_t frame_bytes(size_t state_bytes);
/* Where the frame is to be for a thread with this stack pointer. */
uint64_t frame_place(uint64_t stack_pointer, size_t state_bytes);
/* Writes frame_bytes() for that place. */
void frame_write(const struct frame_input *input, uint64_t place, void *out_frame);
/*
 * How many of these bytes of state rt_sigreturn() takes back: less than all where the processor
 * has state that a process has to ask for (AMX).  0: the thread uses such state, or it is not in
 * a form that is known.
 */
size_t frame_state_bytes(const void *state, size_t bytes);
