/*
 * misruled - spends its time in a function whose unwind rule is wrong: it says that a small number
 * is the return address.
 */
#include "truth.h"

#include <stdint.h>

void misruled(uint64_t not_an_address, uint64_t rounds);

/* clang-format off */
#ifdef __aarch64__
__asm__(".text\n"
	".globl misruled\n"
	".type misruled, %function\n"
	"misruled: .cfi_startproc\n"
	"	mov x9, x30\n"
	"	mov x30, x0\n"
	"1:	subs x1, x1, #1\n"
	"	b.ne 1b\n"
	"	mov x30, x9\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size misruled, . - misruled\n");
#else
__asm__(".text\n"
	".globl misruled\n"
	".type misruled, @function\n"
	"misruled: .cfi_startproc\n"
	"	push %rdi\n" /* which no rule mentions */
	"1:	dec %rsi\n"
	"	jnz 1b\n"
	"	pop %rdi\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size misruled, . - misruled\n");
#endif
/* clang-format on */

int main(int argc, char **argv)
{
	const uint64_t budget = truth_budget_ns(argc, argv, 300);

	while (truth_thread_cpu_ns() < budget)
		misruled(0xe8, 100000);
	truth_print();
	return 0;
}
