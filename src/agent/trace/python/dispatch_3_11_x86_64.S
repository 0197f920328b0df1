#include "agent/trace/python/dispatch_3_11_map.h"

/*
 * frames_x86_64 - what stands in the loop's table in the place of an instruction's
 * address.
 *
 * All general registers are pushed, which is how a hook reads and changes them; vector
 * registers hold nothing between two instructions, for most instructions call functions, and
 * these keep none.  The loop is no leaf, so that there is nothing of it below its stack
 * pointer, which is a multiple of 16.  The hook says where to go on: that word is popped
 * before the jump and is read in the 128 bytes below the stack pointer that a signal leaves
 * alone.
 */
	.text

	.macro stub opcode, hook
	.globl	trace_dispatch_3_11_entry_\opcode
	.hidden	trace_dispatch_3_11_entry_\opcode
	.hidden	trace_dispatch_3_11_on_\hook
	.type	trace_dispatch_3_11_entry_\opcode, @function
	.p2align 4
trace_dispatch_3_11_entry_\opcode:
	endbr64
	push	%rax
	.irp register, %rax, %rcx, %rdx, %rbx, %rbp, %rsi, %rdi, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15
	push	\register
	.endr
	mov	%rsp, %rdi
	mov	$\opcode, %esi
	call	trace_dispatch_3_11_on_\hook
	mov	%rax, 120(%rsp)
	.irp register, %r15, %r14, %r13, %r12, %r11, %r10, %r9, %r8, %rdi, %rsi, %rbp, %rbx, %rdx, %rcx, %rax
	pop	\register
	.endr
	lea	8(%rsp), %rsp
	jmp	*-8(%rsp)
	.size	trace_dispatch_3_11_entry_\opcode, . - trace_dispatch_3_11_entry_\opcode
	.endm

#define X(number, name, hook, of_builtins) stub number, hook;
	DISPATCH_3_11_STUB_MAP(X)
	DISPATCH_3_11_WATCH_MAP(X)

	.section .note.GNU-stack,"",@progbits
