/*
 * entries_x86_64 - where compiled code calls us without saving anything, and returns to
 * us.
 *
 * A call of mcount() or __fentry__() may come before a function has looked at its arguments,
 * and a return comes before its caller has looked at the results; and a compiler that knows
 * both may count on other registers, too (-fipa-ra).  So all of them are kept: the general ones
 * here, and what is called uses no others (-mgeneral-regs-only) but behind saving_vectors,
 * below.
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

/* Which of two; and of struct trace_native: native/native.c asserts these. */
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
	/* The function has a frame: its return address lies above the caller's rbp. */
	lea	8(%rbp), %rdi
	.else
	lea	SAVED_BYTES + 8(%rsp), %rdi
	.endif
	mov	SAVED_BYTES(%rsp), %rsi
	mov	$\kind, %edx
	call	trace_native_on_entry
	restore_all
	ret
	/* Not traced: as without us, for gmon.out. */
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
 * Where functions return to.  Its unwind table says that it is called by what was to be
 * returned to: the word in the shadow of the slot (native/returns.h), which is the one below the
 * stack pointer of then.  The byte before that is what it says, and, for that to be right, that
 * this is the frame of a signal ('S'): then no unwinder goes a byte back once more; and unwinders,
 * which know a frame by its stack pointer, can distinguish it from its caller, which has the same one.
 */
	.globl	trace_native_return
	.hidden	trace_native_return
	.type	trace_native_return, @function
	.p2align 4
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	/*
	 * DW_CFA_val_expression of the return address: lit8 minus const8u(1 << 46) xor deref
	 * lit1 minus, on the frame's address.
	 */
	.cfi_escape 0x16, 16, 15, 0x38, 0x1c, 0x0e, 0, 0, 0, 0, 0, 0x40, 0, 0, 0x27, 0x06, 0x31, 0x1c
	nop	/* Unwinders look for the byte before a return address. */
trace_native_return:
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	save_all
	lea	SAVED_BYTES(%rsp), %rdi
	call	trace_native_on_return
	mov	%rax, SAVED_BYTES(%rsp)
	restore_all
	/*
	 * No return: processors count calls and returns, and this one's has been made.  Below
	 * the stack pointer signals leave a word alone, and it is read as it is popped.
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
