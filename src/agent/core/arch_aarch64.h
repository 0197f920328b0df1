/*
 * arch_aarch64 - aarch64: system calls without libc, an interrupted thread's registers, guarded
 * loads.
 */
#pragma once
#include <stdbool.h>
#include <ucontext.h>

#include "abi/types.h"
#include "agent/core/arch_loads.h"

/* Nothing below the stack pointer outlives a signal. */
#define ARCH_RED_ZONE 0ULL
/* The kernel refuses an alternate signal stack of fewer bytes (asm/signal.h, MINSIGSTKSZ). */
#define ARCH_LEAST_ALTSTACK 5120

/* Whether the thread has a shadow stack: true, as no code replaces return addresses here. */
static inline bool arch_has_shadow_stack(void)
{
	return true;
}

static inline u64 arch_stack_pointer(void)
{
	u64 pointer;

	__asm__ volatile("mov %0, sp" : "=r"(pointer));
	return pointer;
}

/* The stack pointer that setjmp() saved: not known, as glibc mangles it (__longjmp.S). */
static inline u64 arch_jump_stack_pointer(const unsigned long long *kept)
{
	(void)kept;
	return 0;
}

/* The symbol version of glibc's oldest functions on this machine. */
#define ARCH_LIBC_BASE "GLIBC_2.17"

/* The signature with which glibc registers threads for rseq(2) (RSEQ_SIG of its sys/rseq.h). */
#define ARCH_RSEQ_SIGNATURE 0xd428bc00U

static inline long arch_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static inline long arch_syscall4(long number, long a, long b, long c, long d)
{
	return arch_syscall6(number, a, b, c, d, 0, 0);
}

/* glibc puts the control block right below the thread pointer, at the end of the stack. */
static inline u64 arch_thread_pointer(void)
{
	return (u64)__builtin_thread_pointer();
}

/*
 * Offset from the thread pointer to the address of the DTV, the array of TLS blocks by module
 * number, and the size of its entries (glibc, sysdeps/aarch64/nptl/tls.h).
 */
#define ARCH_DTV_OFFSET 0ULL
#define ARCH_DTV_ENTRY  16ULL

/* Instructions have four bytes; so has `b imm26`, which ends functions in a tail call. */
#define ARCH_CODE_STEP  4
#define ARCH_JUMP_BYTES 4

static inline bool arch_jump_target(const u8 *code, u64 at, u64 *out_target)
{
	u32 word;

	__builtin_memcpy(&word, code, sizeof word);
	*out_target = at + (u64)((s64)((u64)word << 38) >> 36);
	return word >> 26 == 5;
}

#define ARCH_REGS_OF(uc)                                                            \
	{                                                                           \
		.ip = (uc)->uc_mcontext.pc, .sp = (uc)->uc_mcontext.sp,             \
		.fp = (uc)->uc_mcontext.regs[29], .lr = (uc)->uc_mcontext.regs[30], \
	}

#define ARCH_PC_OF(uc) ((u64)(uc)->uc_mcontext.pc)
#define ARCH_SP_OF(uc) ((u64)(uc)->uc_mcontext.sp)
/* Arguments of a function at its first instruction. */
#define ARCH_SECOND_ARGUMENT_OF(uc) ((u64)(uc)->uc_mcontext.regs[1])
#define ARCH_THIRD_ARGUMENT_OF(uc)  ((u64)(uc)->uc_mcontext.regs[2])

/* Makes a function at its first instruction return at once. */
static inline void arch_leave_function(ucontext_t *context)
{
	context->uc_mcontext.pc = context->uc_mcontext.regs[30];
}

/* The result of a system call that has just returned. */
#define ARCH_RESULT_OF(uc) ((s64)(uc)->uc_mcontext.regs[0])

/* The instruction `svc #0`. */
#define ARCH_CALL       "\x01\x00\x00\xd4"
#define ARCH_CALL_BYTES 4

/* Repeats system call `number`, right behind which the thread was interrupted. */
static inline void arch_repeat_call(ucontext_t *context, long number, long first_argument)
{
	mcontext_t *registers = &context->uc_mcontext;

	registers->regs[8] = (u64)number;
	/* Its register has the result now. */
	registers->regs[0] = (u64)first_argument;
	registers->pc -= ARCH_CALL_BYTES;
}

/* Arguments of a system call that was made, but for the first: the kernel keeps them. */
static inline u64 arch_call_argument(ucontext_t *context, u32 index)
{
	return context->uc_mcontext.regs[index];
}

static inline void arch_set_call_argument(ucontext_t *context, u32 index, u64 value)
{
	context->uc_mcontext.regs[index] = value;
}

/* Raises SIGTRAP, which kills where it is blocked. */
static inline void arch_breakpoint(void)
{
	__asm__ volatile("brk #0");
}

/* A register by its DWARF number (Arm 64-bit Architecture): 31 is the stack pointer. */
static inline u64 arch_register_of(const ucontext_t *context, u32 number)
{
	if (number == 31)
		return context->uc_mcontext.sp;
	return number < 31 ? context->uc_mcontext.regs[number] : 0;
}

/* A system call that the kernel has set up to be restarted. */
struct arch_call {
	u64 number;
	u64 arguments[2];
};

/* `svc` leaves no mark: a call that was begun looks like one that is about to begin. */
static inline bool arch_find_restarted_call(const ucontext_t *context,
					    struct arch_call *out_call)
{
	(void)context;
	(void)out_call;
	return false;
}

static inline void arch_exchange_call(ucontext_t *context, long number)
{
	context->uc_mcontext.regs[8] = (u64)number;
}

static inline void arch_fail_restarted_call(ucontext_t *context, int error)
{
	context->uc_mcontext.regs[0] = (u64)-error;
	context->uc_mcontext.pc += ARCH_CALL_BYTES;
}

/* Defines a load of a `type` by an instruction that fills a register of type `width`. */
#define ARCH_LOAD(name, type, width, instruction)                  \
	static inline bool name(type *out_value, const type *from) \
	{                                                          \
		register u64 has_failed __asm__("x9") = 0;         \
		width value = 0;                                   \
                                                                   \
		__asm__ volatile(ARCH_GUARDED(instruction)         \
				 : "+r"(value), "+r"(has_failed)   \
				 : "m"(*from));                    \
		*out_value = (type)value;                          \
		return has_failed == 0;                            \
	}
ARCH_LOAD(arch_load_word, u64, u64, "ldr %0, %2")
ARCH_LOAD(arch_load_int, u32, u32, "ldr %w0, %2")
ARCH_LOAD(arch_load_byte, u8, u32, "ldrb %w0, %2")

static inline void arch_fail_load(ucontext_t *context, u64 go_on_at)
{
	context->uc_mcontext.regs[9] = 1;
	context->uc_mcontext.pc = go_on_at;
}

/* Types of relocations that hold the address of another image's function. */
#define ARCH_RELOCATION_OF_CALL R_AARCH64_JUMP_SLOT
#define ARCH_RELOCATION_OF_DATA R_AARCH64_GLOB_DAT

/*
 * Defines a signal handler `name` that calls choose() with its own arguments and jumps to the
 * handler that this returns, which finds registers and stack as the kernel left them.  For 0 it
 * returns to the interrupted code.
 */
#define ARCH_CHOOSING_HANDLER(name, choose)                                        \
	__asm__(".pushsection .text\n"                                             \
		".balign 4\n"                                                      \
		".globl " #name "\n.hidden " #name "\n"                            \
		".type " #name ", %function\n" #name ":\n"                         \
		".cfi_startproc\n"                                                 \
		"stp x29, x30, [sp, #-48]!\n"                                      \
		".cfi_adjust_cfa_offset 48\n.cfi_rel_offset x29, 0\n"              \
		".cfi_rel_offset x30, 8\n"                                         \
		"stp x0, x1, [sp, #16]\n"                                          \
		"str x2, [sp, #32]\n"                                              \
		"bl " #choose "\n"                                                 \
		"mov x16, x0\n"                                                    \
		"ldr x2, [sp, #32]\n"                                              \
		"ldp x0, x1, [sp, #16]\n"                                          \
		"ldp x29, x30, [sp], #48\n"                                        \
		".cfi_adjust_cfa_offset -48\n.cfi_restore x29\n.cfi_restore x30\n" \
		"cbz x16, 1f\n"                                                    \
		"br x16\n"                                                         \
		"1: ret\n"                                                         \
		".cfi_endproc\n"                                                   \
		".size " #name ", . - " #name "\n"                                 \
		".popsection\n")
