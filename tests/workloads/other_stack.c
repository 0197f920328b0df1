/*
 * other_stack - code that leaves its stack for another and keeps its own stack pointer in rbx, as
 * OCaml 5 does to call C: from a coroutine's stack to one at a higher address.
 *
 * With `made`: a stack that it made itself, whose first function would return to abort(), as in
 * Perl's Coro; what lies beyond is 0, or with `made 1` an address that is no code.
 */
#include "truth.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK (1UL << 16)

#if defined(__x86_64__)
uint64_t call_on(char *top, uint64_t (*function)(uint64_t), uint64_t n);
__asm__(".text\n"
	".type call_on, @function\n"
	"call_on:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbx, -16\n"
	"mov %rsp, %rbx\n"
	".cfi_def_cfa_register %rbx\n"
	"mov %rdi, %rsp\n"
	"mov %rdx, %rdi\n"
	"call *%rsi\n"
	"mov %rbx, %rsp\n"
	".cfi_def_cfa_register %rsp\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_on, .-call_on\n");
#else
static uint64_t call_on(char *top, uint64_t (*function)(uint64_t), uint64_t n)
{
	(void)top;
	return function(n);
}
#endif

static char low[STACK] __attribute__((aligned(16)));
static char *high;
static volatile uint64_t sink;
static ucontext_t outside, inside;

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void be_coroutine(void)
{
	sink = call_on(high + STACK, compute, 300000000);
	swapcontext(&inside, &outside);
}

#if defined(__x86_64__)
void go_to(char **from, char *to);
void come_back(char *to);
__asm__(".text\n"
	".type go_to, @function\n"
	"go_to:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	"push %rbp\n"
	"push %r12\n"
	"push %r13\n"
	"push %r14\n"
	"push %r15\n"
	".cfi_def_cfa_offset 56\n"
	"mov %rsp, (%rdi)\n"
	"mov %rsi, %rsp\n"
	"ret\n"
	".cfi_endproc\n"
	".size go_to, .-go_to\n"
	".type come_back, @function\n"
	"come_back:\n"
	".cfi_startproc\n"
	"mov %rdi, %rsp\n"
	".cfi_def_cfa_offset 56\n"
	"pop %r15\n"
	"pop %r14\n"
	"pop %r13\n"
	"pop %r12\n"
	"pop %rbp\n"
	"pop %rbx\n"
	"ret\n"
	".cfi_endproc\n"
	".size come_back, .-come_back\n");

static char *left;

KEEP static void be_first(void)
{
	sink = compute(300000000);
	come_back(left);
}

static void run_made_stack(uintptr_t beyond)
{
	uintptr_t *top = (uintptr_t *)(high + STACK) - 4;

	top[0] = (uintptr_t)be_first;
	top[1] = (uintptr_t)abort;
	top[2] = beyond;
	go_to(&left, (char *)top);
}
#else
static void run_made_stack(uintptr_t beyond)
{
	sink = beyond;
}
#endif

int main(int argc, char **argv)
{
	high = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (high == MAP_FAILED || high < low)
		abort();
	if (argc > 1 && strcmp(argv[1], "made") == 0) {
		run_made_stack(argc > 2 ? (uintptr_t)high : 0);
		truth_add(TRUTH_COUNT, "made", 1);
		truth_print();
		return 0;
	}
	getcontext(&inside);
	inside.uc_stack.ss_sp = low;
	inside.uc_stack.ss_size = sizeof low;
	makecontext(&inside, be_coroutine, 0);
	swapcontext(&outside, &inside);
	truth_add(TRUTH_COUNT, "coroutines", 1);
	truth_print();
	return 0;
}
