/*
 * many_rules_library - a library with so many functions that a walk which finds the rules of a chain
 * of them for the first time reads hundreds of pages: each calls the next, and the last burns, or
 * calls what its program has put into many_rules_next.
 */
#include <stddef.h>
#include <stdint.h>

uint64_t many_rules_burn(uint64_t rounds);
uint64_t (*many_rules_next)(uint64_t rounds);

/* Between two of a chain stand functions that nothing calls; chain_N_0 is the first of its chain. */
/* clang-format off */
__asm__(".text\n"
	".altmacro\n"
	".macro link chain, number, next\n"
	".globl chain_\\chain\\()_\\number\n"
	".type chain_\\chain\\()_\\number, @function\n"
	"chain_\\chain\\()_\\number:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call chain_\\chain\\()_\\next@PLT\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".rept 190\n"
	"	.cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".endr\n"
	".endm\n"
	".macro links chain\n"
	"	.set number, 0\n"
	".rept 40\n"
	"	.set next, number + 1\n"
	"	link \\chain, %number, %next\n"
	"	.set number, next\n"
	".endr\n"
	"chain_\\chain\\()_40:\n"
	"	.cfi_startproc\n"
	"	jmp many_rules_burn@PLT\n"
	"	.cfi_endproc\n"
	".endm\n"
	".set chain, 0\n"
	".rept 8\n"
	"	links %chain\n"
	"	.set chain, chain + 1\n"
	".endr\n"
	".noaltmacro\n");
/* clang-format on */

uint64_t many_rules_burn(uint64_t rounds)
{
	uint64_t x = rounds;

	if (many_rules_next != NULL)
		return many_rules_next(rounds) + 1;
	while (rounds--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}
