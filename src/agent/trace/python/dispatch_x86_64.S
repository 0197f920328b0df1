#include "agent/trace/python/dispatch_map.h"

/*
 * dispatch_x86_64 - the entry code of dispatch hooks, whose addresses replace those of
 * instructions in the eval loop's table (dispatch_map.h lists them).
 *
 * All general registers are stored, as a hook reads the loop's variables there, whichever register
 * each is in.  Only `precall` changes any of them, so the others reload only those that a C
 * function may change.  Vector registers hold nothing between two instructions, since most
 * instructions call functions, which preserve none.  The loop is no leaf function, so it keeps
 * nothing below its stack pointer, which is a multiple of 16.  The C function returns where to go
 * on: that address is read from the red zone, 128 bytes that signal handlers do not touch.
 */
	.text

	.macro dispatch_hook number, hook
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
	.ifc	\hook, trace_dispatch_on_precall
	mov	(%rsp), %r15
	mov	8(%rsp), %r14
	mov	16(%rsp), %r13
	mov	24(%rsp), %r12
	mov	80(%rsp), %rbp
	mov	88(%rsp), %rbx
	.endif
	lea	128(%rsp), %rsp
	jmp	*-8(%rsp)
	.size	trace_dispatch_entry_\number, . - trace_dispatch_entry_\number
	.endm

/*
 * 3.11: before an instruction by which the loop itself enters a Python function, if no eval_frame
 * function is set: takes ours away (eval_frame.h), by the thread state of the thread's last
 * event.  Passes rarer cases to the hook of the same number.  dispatch.c asserts the offsets.
 */
#define MODE_ON_3_11      3
#define ORIGINALS         8
#define STATE_INTERPRETER 16
#define INTERPRETER_EVAL_FRAME 1424

	.macro enter_function number
	.globl	trace_dispatch_enter_\number
	.hidden	trace_dispatch_enter_\number
	.type	trace_dispatch_enter_\number, @function
	.p2align 4
trace_dispatch_enter_\number:
	endbr64
	push	%rax
	push	%rcx
	cmpl	$MODE_ON_3_11, trace_dispatch(%rip)
	jne	1f
	mov	trace_dispatch_state@gottpoff(%rip), %rax
	mov	%fs:(%rax), %rax
	test	%rax, %rax
	je	1f
	mov	STATE_INTERPRETER(%rax), %rax
	lea	trace_eval_frame_on_frame(%rip), %rcx
	cmp	%rcx, INTERPRETER_EVAL_FRAME(%rax)
	jne	1f
	cmpq	$0, trace_eval_frame + 8(%rip)
	jne	1f
	movq	$0, INTERPRETER_EVAL_FRAME(%rax)
	pop	%rcx
	pop	%rax
	jmp	*trace_dispatch + ORIGINALS + 8 * \number(%rip)
1:	pop	%rcx
	pop	%rax
	jmp	trace_dispatch_entry_\number
	.size	trace_dispatch_enter_\number, . - trace_dispatch_enter_\number
	.endm

	.hidden	trace_dispatch
	.hidden	trace_dispatch_state
	.hidden	trace_eval_frame
	.hidden	trace_eval_frame_on_frame
	enter_function 15
	enter_function 16

#define X(number, name, hook, of_builtins, a, b, c, d, e) dispatch_hook number, trace_dispatch_on_##hook;
	DISPATCH_MAP(X)
	DISPATCH_WATCH_MAP(X)

	.section .note.GNU-stack,"",@progbits
