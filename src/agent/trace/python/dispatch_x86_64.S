#include "agent/trace/python/dispatch_map.h"

/*
 * stubs_x86_64 - what stands in the loop's table in the place of an instruction's address
 * (python/dispatch_internal.h has the list).
 *
 * All general registers are stored, for a hook has to read the loop's, wherever they are; hooks
 * change none of them, so that only those are loaded again that a called function may change.
 * Vector registers hold nothing between two instructions, for most instructions call functions,
 * and these keep none.  The loop is no leaf, so that there is nothing of it below its stack
 * pointer, which is a multiple of 16.  The hook says where to go on: that word is read in the
 * 128 bytes below the stack pointer that a signal leaves alone.
 */
	.text

	.macro stub number, hook
	.globl	trace_dispatch_entry_\number
	.hidden	trace_dispatch_entry_\number
	.hidden	\hook
	.type	trace_dispatch_entry_\number, @function
	.p2align 4
trace_dispatch_entry_\number:
	endbr64
	push	%rax
	.irp register, %rax, %rcx, %rdx, %rbx, %rbp, %rsi, %rdi, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15
	push	\register
	.endr
	mov	%rsp, %rdi
	mov	$\number, %esi
	call	\hook
	mov	%rax, 120(%rsp)
	mov	32(%rsp), %r11
	mov	40(%rsp), %r10
	mov	48(%rsp), %r9
	mov	56(%rsp), %r8
	mov	64(%rsp), %rdi
	mov	72(%rsp), %rsi
	mov	96(%rsp), %rdx
	mov	104(%rsp), %rcx
	mov	112(%rsp), %rax
	lea	128(%rsp), %rsp
	jmp	*-8(%rsp)
	.size	trace_dispatch_entry_\number, . - trace_dispatch_entry_\number
	.endm

#define X(number, name, hook, of_builtins) stub number, trace_dispatch_on_##hook;
	DISPATCH_MAP(X)
	DISPATCH_WATCH_MAP(X)

	.section .note.GNU-stack,"",@progbits
