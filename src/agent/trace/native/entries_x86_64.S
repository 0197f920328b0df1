/*
 * entries_x86_64 - mcount() and __fentry__(), which compiled code calls without saving any
 * register, and the code that traced functions return to.
 *
 * mcount() and __fentry__() may be called before a function has read its arguments, and a return
 * comes before its caller has read the results; a compiler that sees both functions may rely on
 * further registers (-fipa-ra).  So all of them are preserved: the general ones here; the C code
 * uses no others (-mgeneral-regs-only), except behind saving_vectors, below.
 */
	.text

	.macro save register
	push	\register
	.cfi_adjust_cfa_offset 8
	.endm
	.macro restore register
	pop	\register
	.cfi_adjust_cfa_offset -8
	.endm
	.macro save_all
	.irp register, %rax, %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, %r11
	save	\register
	.endr
	.endm
	.macro restore_all
	.irp register, %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax
	restore	\register
	.endr
	.endm
#define SAVED_BYTES 72

/* Values of `which`, and offsets in struct trace_native: native/native.c asserts these. */
#define KIND_MCOUNT 0
#define KIND_FENTRY 1
#define NEXT_MCOUNT  8
#define NEXT__MCOUNT 16
#define NEXT_FENTRY  24
#define ON_MCOUNT    48
#define ON__MCOUNT   52
#define ON_FENTRY    56

	.macro entry name, kind, next, gate
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	cmpl	$0, trace_native + \gate(%rip)
	je	1f
	save_all
	.if	\kind == KIND_MCOUNT
	/* The function has set up its frame: the return address lies above the saved rbp. */
	lea	8(%rbp), %rdi
	.else
	lea	SAVED_BYTES + 8(%rsp), %rdi
	.endif
	mov	SAVED_BYTES(%rsp), %rsi
	mov	$\kind, %edx
	call	trace_native_on_entry
	restore_all
	ret
	/* Not traced: call the C library's function, which writes gmon.out. */
1:
	cmpq	$0, trace_native + \next(%rip)
	je	2f
	jmp	*trace_native + \next(%rip)
2:	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	entry	mcount, KIND_MCOUNT, NEXT_MCOUNT, ON_MCOUNT
	entry	_mcount, KIND_MCOUNT, NEXT__MCOUNT, ON__MCOUNT
	entry	__fentry__, KIND_FENTRY, NEXT_FENTRY, ON_FENTRY

/*
 * The code that traced functions return to.  Its unwind table has as its caller the original
 * return address, the word in the shadow of the slot (native/returns.h), which lies just below
 * the present stack pointer.  The table gives that address less one, and marks a signal frame
 * ('S'): then no unwinder subtracts one more, and unwinders that identify a frame by its stack
 * pointer can distinguish this frame from its caller's, which has the same.
 */
	.globl	trace_native_return
	.hidden	trace_native_return
	.type	trace_native_return, @function
	.p2align 4
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	/*
	 * DW_CFA_val_expression for the return address: lit8 minus const8u(1 << 46) xor deref
	 * lit1 minus, applied to the CFA.
	 */
	.cfi_escape 0x16, 16, 15, 0x38, 0x1c, 0x0e, 0, 0, 0, 0, 0, 0x40, 0, 0, 0x27, 0x06, 0x31, 0x1c
	nop	/* Unwinders look up the byte before a return address. */
trace_native_return:
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	save_all
	lea	SAVED_BYTES(%rsp), %rdi
	call	trace_native_on_return
	mov	%rax, SAVED_BYTES(%rsp)
	restore_all
	/*
	 * A jump, not a return: the processor's return predictor counts calls and returns, and
	 * this call's return has been made.  Signal handlers do not touch the red zone.
	 */
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	*-8(%rsp)
	.cfi_endproc
	.size	trace_native_return, . - trace_native_return

	.macro saving_vectors name
	.globl	\name\()_saving
	.hidden	\name\()_saving
	.type	\name\()_saving, @function
	.p2align 4
\name\()_saving:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub	$256, %rsp
	and	$-16, %rsp
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	%xmm\i, 16 * \i(%rsp)
	.endr
	call	\name
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	16 * \i(%rsp), %xmm\i
	.endr
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	\name\()_saving, . - \name\()_saving
	.endm

	saving_vectors trace_native_on_entry_slowly
	saving_vectors trace_native_on_return_slowly

	.section .note.GNU-stack, "", @progbits
