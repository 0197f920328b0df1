/*
 * trace_evaluator_x86_64 - what executes frames, and what stands in the loop's tables in the
 * place of an instruction's address, up to 3.10.
 *
 * Between two calls of Python functions stands one of our evaluator, so that recursion takes
 * more of the C stack for it: the return address and the frame are all there is of it.
 *
 * All general registers are pushed, so that a hook can read them (trace_loop.h): it writes to
 * memory only, and what a called function leaves alone is not read back.  Vector registers hold
 * nothing between two instructions, for most instructions call functions, and these keep none.
 * The loop is no leaf, so that there is nothing of it below its stack pointer, which is a
 * multiple of 16.
 */
	.text
	.hidden	trace_evaluator
	.hidden	trace_evaluator_began
	.hidden	trace_evaluator_ended

	/* The frame is on the stack; struct trace_evaluator begins with next and original. */
	.macro execute
	.cfi_adjust_cfa_offset 8
	call	*trace_evaluator(%rip)
	mov	(%rsp), %rdi
	mov	%rax, (%rsp)
	mov	%rax, %rsi
	call	trace_evaluator_ended
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.endm

	.macro evaluator name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	.endm

	evaluator trace_evaluator_of_state
	push	%rdi
	push	%rsi
	push	%rdx
	.cfi_adjust_cfa_offset 24
	call	trace_evaluator_began
	pop	%rdx
	pop	%rsi
	pop	%rdi
	.cfi_adjust_cfa_offset -24
	test	%al, %al
	je	1f
	push	%rsi
	execute
1:	jmp	*trace_evaluator+8(%rip)
	.cfi_endproc
	.size	trace_evaluator_of_state, . - trace_evaluator_of_state

	evaluator trace_evaluator_of_frame
	push	%rdi
	push	%rsi
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 24
	mov	%rdi, %rsi
	xor	%edi, %edi
	call	trace_evaluator_began
	add	$8, %rsp
	pop	%rsi
	pop	%rdi
	.cfi_adjust_cfa_offset -24
	test	%al, %al
	je	1f
	push	%rdi
	execute
1:	jmp	*trace_evaluator+8(%rip)
	.cfi_endproc
	.size	trace_evaluator_of_frame, . - trace_evaluator_of_frame

	.hidden	trace_evaluator_originals

	.macro begin name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	endbr64
	push	%rax
	.irp register, %rax, %rcx, %rdx, %rbx, %rbp, %rsi, %rdi, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15
	push	\register
	.endr
	mov	%rsp, %rdi
	.endm

	.macro end name, opcode
	add	$32, %rsp
	.irp register, %r11, %r10, %r9, %r8, %rdi, %rsi
	pop	\register
	.endr
	add	$16, %rsp
	.irp register, %rdx, %rcx, %rax
	pop	\register
	.endr
	lea	8(%rsp), %rsp
	jmp	*trace_evaluator_originals+8*\opcode(%rip)
	.size	\name, . - \name
	.endm

	.macro stub opcode, hook
	.hidden	trace_evaluator_on_\hook
	begin	trace_evaluator_stub_\opcode
	call	trace_evaluator_on_\hook
	end	trace_evaluator_stub_\opcode, \opcode
	.endm

	.hidden	trace_loop_watch
	.macro watch opcode
	begin	trace_evaluator_watch_\opcode
	mov	$\opcode, %esi
	call	trace_loop_watch
	end	trace_evaluator_watch_\opcode, \opcode
	.endm

	stub	131, call
	stub	141, call_names
	stub	142, call_spread
	stub	161, call_method

	.irp opcode, 1, 23, 90, 100, 101, 131
	watch	\opcode
	.endr

	.section .note.GNU-stack,"",@progbits
