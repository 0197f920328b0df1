/*
 * arch_x86_64 - x86-64: system calls without libc, an interrupted thread's registers, guarded
 * loads.
 */
#pragma once
#include <stdbool.h>
#include <ucontext.h>

#include "abi/types.h"
#include "agent/core/arch_loads.h"

/* The symbol version of glibc's oldest functions on this machine. */
#define ARCH_LIBC_BASE "GLIBC_2.2.5"

/* The signature with which glibc registers threads for rseq(2) (RSEQ_SIG of its sys/rseq.h). */
#define ARCH_RSEQ_SIGNATURE 0x53053053U

/* A leaf function may use this much below its stack pointer, and the kernel leaves it alone when it
 * delivers a signal: registers that were popped a moment ago still have their slots there. */
#define ARCH_RED_ZONE 128ULL
/* The kernel refuses an alternate signal stack of fewer bytes (asm/signal.h, MINSIGSTKSZ). */
#define ARCH_LEAST_ALTSTACK 2048

static inline long arch_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long arch_syscall4(long number, long a, long b, long c, long d)
{
	return arch_syscall6(number, a, b, c, d, 0, 0);
}

/* The address of the thread's control block, at the upper end of a stack that glibc made. */
static inline u64 arch_thread_pointer(void)
{
	u64 pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/*
 * Offset from the thread pointer to the address of the DTV, the array of TLS blocks by module
 * number, and the size of its entries (glibc, sysdeps/x86_64/nptl/tls.h).
 */
#define ARCH_DTV_OFFSET 8ULL
#define ARCH_DTV_ENTRY  16ULL

/* Instructions begin at any byte; `jmp rel32` has five bytes. */
#define ARCH_CODE_STEP  1
#define ARCH_JUMP_BYTES 5

/* Whether the bytes at address `at` are a jump, which ends functions in a tail call. */
static inline bool arch_jump_target(const u8 *code, u64 at, u64 *out_target)
{
	s32 distance;

	__builtin_memcpy(&distance, code + 1, sizeof distance);
	*out_target = at + ARCH_JUMP_BYTES + (u64)(s64)distance;
	return code[0] == 0xe9;
}

#define ARCH_REGS_OF(uc)                                     \
	{                                                    \
		.ip = (u64)(uc)->uc_mcontext.gregs[REG_RIP], \
		.sp = (u64)(uc)->uc_mcontext.gregs[REG_RSP], \
		.fp = (u64)(uc)->uc_mcontext.gregs[REG_RBP], \
		.bx = (u64)(uc)->uc_mcontext.gregs[REG_RBX], \
	}

#define ARCH_PC_OF(uc) ((u64)(uc)->uc_mcontext.gregs[REG_RIP])
#define ARCH_SP_OF(uc) ((u64)(uc)->uc_mcontext.gregs[REG_RSP])
/* Arguments of a function at its first instruction. */
#define ARCH_SECOND_ARGUMENT_OF(uc) ((u64)(uc)->uc_mcontext.gregs[REG_RSI])
#define ARCH_THIRD_ARGUMENT_OF(uc)  ((u64)(uc)->uc_mcontext.gregs[REG_RDX])

/* Makes a function at its first instruction return at once. */
static inline void arch_leave_function(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;

	registers[REG_RIP] = *(const greg_t *)registers[REG_RSP];
	registers[REG_RSP] += (greg_t)sizeof(greg_t);
}

/* The result of a system call that has just returned. */
#define ARCH_RESULT_OF(uc) ((s64)(uc)->uc_mcontext.gregs[REG_RAX])

/* The instruction `syscall`. */
#define ARCH_CALL       "\x0f\x05"
#define ARCH_CALL_BYTES 2

/* Repeats system call `number`, right behind which the thread was interrupted. */
static inline void arch_repeat_call(ucontext_t *context, long number, long first_argument)
{
	greg_t *registers = context->uc_mcontext.gregs;

	(void)first_argument; /* Still in its register. */
	registers[REG_RAX] = number;
	registers[REG_RIP] -= ARCH_CALL_BYTES;
}

/* The arguments of a system call that has been made: the kernel preserves their registers. */
static inline greg_t *arch_argument_place(ucontext_t *context, u32 index)
{
	static const u8 places[] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };

	return &context->uc_mcontext.gregs[places[index]];
}

static inline u64 arch_call_argument(ucontext_t *context, u32 index)
{
	return (u64)*arch_argument_place(context, index);
}

static inline void arch_set_call_argument(ucontext_t *context, u32 index, u64 value)
{
	*arch_argument_place(context, index) = (greg_t)value;
}

/* Raises SIGTRAP, which kills where it is blocked. */
static inline void arch_breakpoint(void)
{
	__asm__ volatile("int3");
}

/* Whether the thread has a shadow stack (CET): rdssp leaves 0 where it has none. */
static inline bool arch_has_shadow_stack(void)
{
	u64 pointer = 0;

	__asm__ volatile("rdsspq %0" : "+r"(pointer));
	return pointer != 0;
}

static inline u64 arch_stack_pointer(void)
{
	u64 pointer;

	__asm__ volatile("mov %%rsp, %0" : "=r"(pointer));
	return pointer;
}

/* The stack pointer that setjmp() saved, mangled by glibc (PTR_MANGLE, __longjmp.S). */
static inline u64 arch_jump_stack_pointer(const long *kept)
{
	const u32 stack_pointer = 6, bits = 17;
	const u64 disguised = (u64)kept[stack_pointer];
	u64 guard;

	__asm__("mov %%fs:0x30, %0" : "=r"(guard));
	return (disguised >> bits | disguised << (64 - bits)) ^ guard;
}

/* A register by its DWARF number (System V ABI for AMD64, figure 3.36). */
static inline u64 arch_register_of(const ucontext_t *context, u32 number)
{
	static const u8 places[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15 };

	if (number >= sizeof places)
		return 0;
	return (u64)context->uc_mcontext.gregs[places[number]];
}

/* A system call that the kernel has set up to be restarted. */
struct arch_call {
	u64 number;
	u64 arguments[2];
};

/* The status flags that arithmetic sets. */
#define ARCH_STATUS_FLAGS 0xcd5ULL

/*
 * `syscall` leaves the return address in rcx and the flags in r11, and the kernel preserves both:
 * they distinguish a call that was begun from one that is about to begin.  (With FRED the processor
 * leaves both registers alone, and no call is found.)
 */
static inline bool arch_find_restarted_call(const ucontext_t *context,
					    struct arch_call *out_call)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	const u64 flags = (u64)(registers[REG_R11] ^ registers[REG_EFL]);

	if (registers[REG_RCX] != registers[REG_RIP] + ARCH_CALL_BYTES ||
	    (flags & ARCH_STATUS_FLAGS) != 0)
		return false;
	out_call->number = (u64)registers[REG_RAX];
	out_call->arguments[0] = (u64)registers[REG_RDI];
	out_call->arguments[1] = (u64)registers[REG_RSI];
	return true;
}

static inline void arch_exchange_call(ucontext_t *context, long number)
{
	context->uc_mcontext.gregs[REG_RAX] = number;
}

static inline void arch_fail_restarted_call(ucontext_t *context, int error)
{
	context->uc_mcontext.gregs[REG_RAX] = -(greg_t)error;
	context->uc_mcontext.gregs[REG_RIP] += ARCH_CALL_BYTES;
}

/* Defines a load of a `type` by an instruction that fills a register of type `width`. */
#define ARCH_LOAD(name, type, width, instruction)                  \
	static inline bool name(type *out_value, const type *from) \
	{                                                          \
		u32 has_failed = 0;                                \
		width value = 0;                                   \
                                                                   \
		__asm__ volatile(ARCH_GUARDED(instruction)         \
				 : "+r"(value), "+d"(has_failed)   \
				 : "m"(*from));                    \
		*out_value = (type)value;                          \
		return has_failed == 0;                            \
	}
ARCH_LOAD(arch_load_word, u64, u64, "movq %2, %0")
ARCH_LOAD(arch_load_int, u32, u32, "movl %2, %0")
ARCH_LOAD(arch_load_byte, u8, u32, "movzbl %2, %0")

static inline void arch_fail_load(ucontext_t *context, u64 go_on_at)
{
	context->uc_mcontext.gregs[REG_RDX] = 1;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)go_on_at;
}

/* Types of relocations that hold the address of another image's function. */
#define ARCH_RELOCATION_OF_CALL R_X86_64_JUMP_SLOT
#define ARCH_RELOCATION_OF_DATA R_X86_64_GLOB_DAT

/*
 * Defines a signal handler `name` that calls choose() with its own arguments and jumps to the
 * handler that this returns, which finds registers and stack as the kernel left them.  For 0 it
 * returns to the interrupted code.
 */
#define ARCH_CHOOSING_HANDLER(name, choose)                            \
	__asm__(".pushsection .text\n"                                 \
		".globl " #name "\n.hidden " #name "\n"                \
		".type " #name ", @function\n" #name ":\n"             \
		".cfi_startproc\n"                                     \
		"push %rdi\n.cfi_adjust_cfa_offset 8\n"                \
		"push %rsi\n.cfi_adjust_cfa_offset 8\n"                \
		"push %rdx\n.cfi_adjust_cfa_offset 8\n"                \
		"call " #choose "\n"                                   \
		"pop %rdx\n.cfi_adjust_cfa_offset -8\n"                \
		"pop %rsi\n.cfi_adjust_cfa_offset -8\n"                \
		"pop %rdi\n.cfi_adjust_cfa_offset -8\n"                \
		"mov %rax, %r11\n"                                     \
		"xor %eax, %eax\n" /* As the kernel calls handlers. */ \
		"test %r11, %r11\n"                                    \
		"jz 1f\n"                                              \
		"jmp *%r11\n"                                          \
		"1: ret\n"                                             \
		".cfi_endproc\n"                                       \
		".size " #name ", . - " #name "\n"                     \
		".popsection\n")
