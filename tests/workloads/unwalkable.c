/*
 * unwalkable - functions that no unwinder can leave, for interpreters to call.
 *
 * Assembler without unwind rules, as in hand-written libraries.  While they run, the stack
 * pointer that they came with is in a vector register (or inverted in rbx, which calls
 * preserve), rbp is 0, and nothing on the stack below says where they return to.
 */
extern void unwalkable_spin(long turns);
extern long unwalkable_call(long (*function)(long), long argument);

#ifdef __x86_64__
__asm__(".text\n"
	".globl unwalkable_spin\n"
	".type unwalkable_spin, @function\n"
	"unwalkable_spin:\n"
	"	movq %rsp, %xmm7\n"
	"	movq %rbp, %xmm6\n"
	"	xorl %ebp, %ebp\n"
	"	andq $-64, %rsp\n"
	"	subq $128, %rsp\n"
	"	movq %rbp, (%rsp)\n"
	"1:	decq %rdi\n"
	"	jns 1b\n"
	"	movq %xmm6, %rbp\n"
	"	movq %xmm7, %rsp\n"
	"	ret\n"
	".size unwalkable_spin, . - unwalkable_spin\n"

	".globl unwalkable_call\n"
	".type unwalkable_call, @function\n"
	"unwalkable_call:\n"
	"	pushq %rbx\n"
	"	pushq %rbp\n"
	"	movq %rsp, %rbx\n"
	"	notq %rbx\n"
	"	xorl %ebp, %ebp\n"
	"	andq $-64, %rsp\n"
	"	subq $128, %rsp\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	call *%rax\n"
	"	notq %rbx\n"
	"	movq %rbx, %rsp\n"
	"	popq %rbp\n"
	"	popq %rbx\n"
	"	ret\n"
	".size unwalkable_call, . - unwalkable_call\n");
#endif
