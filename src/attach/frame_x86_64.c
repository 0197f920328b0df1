/* Builds a signal frame as Linux does on x86-64: registers and XSAVE state (frame.h). */
#include "attach/frame.h"

#include <asm/sigcontext.h>
#include <cpuid.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>

/* Below the stack pointer a function may keep data of its own (System V ABI). */
#define RED_ZONE 128
#define ALIGNED  64

/* Offsets in the state: the feature mask in the kernel's own notes, and the XSAVE header. */
#define STATE_MASK_OFFSET 464
#define STATE_USED_OFFSET 512
#define STATE_LEAST       576
/* XTILE_CFG and XTILE_DATA: a process has to ask for them (arch_prctl(2)). */
#define AMX_MASK (3ULL << 17)

struct frame {
	uint64_t restorer;
	ucontext_t context; /* the kernel's struct is the first part of libc's */
};
/* glibc's ucontext_t has a longer mask; the kernel's siginfo comes behind its own. */
#define KERNEL_CONTEXT_BYTES (offsetof(ucontext_t, uc_sigmask) + sizeof(uint64_t))
#define SIGINFO_BYTES        128
#define STATE_OFFSET                                                                         \
	((sizeof(uint64_t) + KERNEL_CONTEXT_BYTES + SIGINFO_BYTES + ALIGNED - 1) / ALIGNED * \
	 ALIGNED)
/* An invalid flag, so that rt_sigreturn() leaves the alternate stack alone. */
#define KEEPS_ALTERNATE_STACK 0x7000
/* arch/x86/include/uapi/asm/ucontext.h: XSTATE, SIGCONTEXT_SS, STRICT_RESTORE_SS. */
#define CONTEXT_FLAGS 7

size_t frame_bytes(size_t state_bytes)
{
	const size_t bytes = STATE_OFFSET + state_bytes + FP_XSTATE_MAGIC2_SIZE;

	return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

uint64_t frame_place(uint64_t stack_pointer, size_t state_bytes)
{
	const uint64_t top = (stack_pointer - RED_ZONE) & ~(uint64_t)(ALIGNED - 1);

	return top - frame_bytes(state_bytes);
}

static void put_registers(const struct user_regs_struct *from, greg_t *to)
{
	to[REG_R8] = (greg_t)from->r8;
	to[REG_R9] = (greg_t)from->r9;
	to[REG_R10] = (greg_t)from->r10;
	to[REG_R11] = (greg_t)from->r11;
	to[REG_R12] = (greg_t)from->r12;
	to[REG_R13] = (greg_t)from->r13;
	to[REG_R14] = (greg_t)from->r14;
	to[REG_R15] = (greg_t)from->r15;
	to[REG_RDI] = (greg_t)from->rdi;
	to[REG_RSI] = (greg_t)from->rsi;
	to[REG_RBP] = (greg_t)from->rbp;
	to[REG_RBX] = (greg_t)from->rbx;
	to[REG_RDX] = (greg_t)from->rdx;
	to[REG_RAX] = (greg_t)from->rax;
	to[REG_RCX] = (greg_t)from->rcx;
	to[REG_RSP] = (greg_t)from->rsp;
	to[REG_RIP] = (greg_t)from->rip;
	to[REG_EFL] = (greg_t)from->eflags;
	/* cs, gs, fs, ss of 16 bits each; the bases of fs and gs stay. */
	to[REG_CSGSFS] = (greg_t)((from->cs & 0xffff) | (from->ss & 0xffff) << 48);
}

static uint64_t word_at(const void *state, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const char *)state + offset, sizeof word);
	return word;
}

/* The end of the state's components that are in this mask. */
static size_t end_of(uint64_t mask)
{
	size_t end = STATE_LEAST;

	for (unsigned i = 2; i < 63; i++) {
		unsigned bytes, offset, ecx, edx;

		if (!(mask >> i & 1))
			continue;
		if (!__get_cpuid_count(0xd, i, &bytes, &offset, &ecx, &edx))
			return 0;
		if (offset + bytes > end)
			end = offset + bytes;
	}
	return end;
}

size_t frame_state_bytes(const void *state, size_t bytes)
{
	if (bytes < STATE_LEAST || bytes > FRAME_STATE_MAX)
		return 0;
	const uint64_t used = word_at(state, STATE_USED_OFFSET);
	const size_t end = end_of(word_at(state, STATE_MASK_OFFSET) & ~AMX_MASK);

	return (used & AMX_MASK) || end > bytes ? 0 : end;
}

static void put_state(const struct frame_input *input, uint8_t *to)
{
	const struct _fpx_sw_bytes notes = {
		.magic1 = FP_XSTATE_MAGIC1,
		.extended_size = (uint32_t)input->state_bytes + FP_XSTATE_MAGIC2_SIZE,
		.xfeatures = word_at(input->state, STATE_MASK_OFFSET) & ~AMX_MASK,
		.xstate_size = (uint32_t)input->state_bytes,
	};
	const uint32_t end = FP_XSTATE_MAGIC2;

	memcpy(to, input->state, input->state_bytes);
	memcpy(to + STATE_MASK_OFFSET, &notes, sizeof notes);
	memcpy(to + input->state_bytes, &end, sizeof end);
}

void frame_write(const struct frame_input *input, uint64_t place, void *out_frame)
{
	uint8_t *to = out_frame;
	struct frame frame = { .restorer = input->restorer };

	memset(to, 0, frame_bytes(input->state_bytes));
	frame.context.uc_flags = CONTEXT_FLAGS;
	frame.context.uc_stack.ss_flags = KEEPS_ALTERNATE_STACK;
	put_registers(input->registers, frame.context.uc_mcontext.gregs);
	frame.context.uc_mcontext.fpregs = (fpregset_t)(uintptr_t)(place + STATE_OFFSET);
	memcpy(&frame.context.uc_sigmask, &input->signal_mask, sizeof input->signal_mask);
	memcpy(to, &frame, sizeof(uint64_t) + KERNEL_CONTEXT_BYTES);
	put_state(input, to + STATE_OFFSET);
}
