/*
 * A filter is a program for the machine of BPF's first generation: an accumulator, an index and
 * 16 words of memory, and jumps that only go forward (kernel/seccomp.c, seccomp_check_filter,
 * has what it may be made of).  It is given the call's number and arguments, and its result
 * says what becomes of the call.
 */
#include "agent/core/filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "agent/core/memory.h"

#if defined(__x86_64__)
#define FILTER_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_MACHINE AUDIT_ARCH_AARCH64
#endif

struct machine {
	u32 accumulator, index;
	u32 memory[BPF_MEMWORDS];
	struct seccomp_data data;
};

static u32 machine_load(const struct machine *machine, const struct sock_filter *step)
{
	u32 word = 0;

	switch (BPF_MODE(step->code)) {
	case BPF_ABS:
		if (step->k <= sizeof machine->data - sizeof word)
			__builtin_memcpy(&word, (const char *)&machine->data + step->k,
					 sizeof word);
		return word;
	case BPF_MEM:
		return machine->memory[step->k % BPF_MEMWORDS];
	case BPF_LEN:
		return sizeof machine->data;
	default:
		return step->k;
	}
}

static u32 machine_operand(const struct machine *machine, const struct sock_filter *step)
{
	return BPF_SRC(step->code) == BPF_X ? machine->index : step->k;
}

static u32 machine_compute(const struct machine *machine, const struct sock_filter *step)
{
	const u32 a = machine->accumulator, b = machine_operand(machine, step);

	switch (BPF_OP(step->code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b != 0 ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	case BPF_XOR:
		return a ^ b;
	default:
		return -a; /* BPF_NEG */
	}
}

/* How many instructions are passed over. */
static u32 machine_jump(const struct machine *machine, const struct sock_filter *step)
{
	const u32 a = machine->accumulator, b = machine_operand(machine, step);
	bool is_true = false;

	switch (BPF_OP(step->code)) {
	case BPF_JA:
		return step->k;
	case BPF_JEQ:
		is_true = a == b;
		break;
	case BPF_JGT:
		is_true = a > b;
		break;
	case BPF_JGE:
		is_true = a >= b;
		break;
	default:
		is_true = (a & b) != 0; /* BPF_JSET */
		break;
	}
	return is_true ? step->jt : step->jf;
}

/* One instruction that neither jumps nor ends. */
static void machine_step(struct machine *machine, const struct sock_filter *step)
{
	switch (BPF_CLASS(step->code)) {
	case BPF_LD:
		machine->accumulator = machine_load(machine, step);
		break;
	case BPF_LDX:
		machine->index = machine_load(machine, step);
		break;
	case BPF_ST:
		machine->memory[step->k % BPF_MEMWORDS] = machine->accumulator;
		break;
	case BPF_STX:
		machine->memory[step->k % BPF_MEMWORDS] = machine->index;
		break;
	case BPF_ALU:
		machine->accumulator = machine_compute(machine, step);
		break;
	default: /* BPF_MISC */
		if (step->code & BPF_TXA)
			machine->accumulator = machine->index;
		else
			machine->index = machine->accumulator;
		break;
	}
}

static u32 machine_run(struct machine *machine, const struct sock_fprog *filter)
{
	for (u64 at = 0; at < filter->len; at++) {
		const struct sock_filter *step = &filter->filter[at];

		if (BPF_CLASS(step->code) == BPF_RET)
			return BPF_RVAL(step->code) == BPF_A ? machine->accumulator : step->k;
		if (BPF_CLASS(step->code) == BPF_JMP)
			at += machine_jump(machine, step);
		else
			machine_step(machine, step);
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static bool is_readable(u64 address, u64 bytes)
{
	for (u64 page = address & ~(MEMORY_PAGE - 1); page < address + bytes;
	     page += MEMORY_PAGE) {
		if (!memory_probe(page))
			return false;
	}
	return true;
}

bool filter_allows(const struct sock_fprog *filter, long number)
{
	struct machine machine = { .data = { .nr = (int)number, .arch = FILTER_MACHINE } };

	if (!is_readable((u64)filter, sizeof *filter) ||
	    !is_readable((u64)filter->filter, filter->len * sizeof *filter->filter))
		return true;
	const u32 action = machine_run(&machine, filter) & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}
