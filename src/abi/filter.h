/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * filter - evaluates a seccomp filter for a system call of which only some arguments are known.
 *
 * A filter is a classic BPF program: an accumulator, an index, 16 words of memory, and jumps that
 * only go forward (kernel/seccomp.c, seccomp_check_filter, lists the allowed instructions).  Its
 * input is the call's number and arguments; its result is what happens to the call.  Here a word
 * may be unknown, such as an address that does not exist yet; where a jump depends on such a
 * word, both branches are followed.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/* As struct sock_filter (linux/filter.h), and the fields of its code (linux/bpf_common.h). */
struct filter_step {
	u16 code;
	u8 jt, jf; /* instructions to skip if the comparison is true, and if false */
	u32 k;
} __attribute__((may_alias));
#define FILTER_STEPS_MAX   4096U /* BPF_MAXINSNS */
#define FILTER_WORDS       16U   /* BPF_MEMWORDS */
#define FILTER_CLASS(code) ((code)&0x07)
#define FILTER_MODE(code)  ((code)&0xe0)
#define FILTER_OP(code)    ((code)&0xf0)
#define FILTER_IS_X(code)  (((code)&0x08) != 0)

enum filter_class {
	FILTER_LD,
	FILTER_LDX,
	FILTER_ST,
	FILTER_STX,
	FILTER_ALU,
	FILTER_JMP,
	FILTER_RET,
	FILTER_MISC,
};

enum filter_mode {
	FILTER_ABS = 0x20,
	FILTER_MEM = 0x60,
	FILTER_LEN = 0x80,
};

/* Operations on two words. */
enum filter_alu {
	FILTER_ADD = 0x00,
	FILTER_SUB = 0x10,
	FILTER_MUL = 0x20,
	FILTER_DIV = 0x30,
	FILTER_OR = 0x40,
	FILTER_AND = 0x50,
	FILTER_LSH = 0x60,
	FILTER_RSH = 0x70,
	FILTER_XOR = 0xa0,
};

enum filter_comparison {
	FILTER_ALWAYS = 0x00,
	FILTER_EQUAL = 0x10,
	FILTER_GREATER = 0x20,
	FILTER_NOT_LESS = 0x30,
};

#define FILTER_RET_A 0x10 /* RET: the accumulator; else k */
#define FILTER_TXA   0x80 /* MISC: the index into the accumulator; else the other way */

/* struct seccomp_data (linux/seccomp.h) has number, machine, instruction pointer, arguments. */
#define FILTER_DATA_BYTES 64U

/* Results (SECCOMP_RET_…): an action, and 16 bits of data. */
#define FILTER_ACTION 0xffff0000U
#define FILTER_ALLOW  0x7fff0000U
#define FILTER_LOG    0x7ffc0000U
#define FILTER_ERRNO  0x00050000U
#define FILTER_WORST  0x80000000U /* SECCOMP_RET_KILL_PROCESS; also: unknown */

/* Limits: branches still to be followed, and instructions executed in all. */
#define FILTER_PENDING  32U
#define FILTER_PATIENCE 65536U

struct filter_call {
	u32 machine; /* AUDIT_ARCH_… */
	u32 number;
	u64 arguments[6];
	u32 known; /* bit i: arguments[i] is known */
};

struct filter_word {
	u32 value;
	bool is_known;
};

struct filter_state {
	u32 at;
	struct filter_word accumulator, index;
	struct filter_word memory[FILTER_WORDS];
};

/* A word of struct seccomp_data: number, machine, instruction pointer, arguments. */
static inline struct filter_word filter_data(const struct filter_call *call, u32 offset)
{
	const u32 place = offset / 4, argument = (place - 4) / 2;

	if (place == 0)
		return (struct filter_word){ call->number, true };
	if (place == 1)
		return (struct filter_word){ call->machine, true };
	if (place < 4 || argument >= 6 || offset % 4 != 0 || !(call->known >> argument & 1))
		return (struct filter_word){ 0, false };
	return (struct filter_word){ (u32)(call->arguments[argument] >> (place % 2 * 32)),
				     true };
}

static inline struct filter_word filter_load(const struct filter_state *state,
					     const struct filter_call *call,
					     const struct filter_step *step)
{
	switch (FILTER_MODE(step->code)) {
	case FILTER_ABS:
		return filter_data(call, step->k);
	case FILTER_MEM:
		return state->memory[step->k % FILTER_WORDS];
	case FILTER_LEN:
		return (struct filter_word){ FILTER_DATA_BYTES, true };
	default:
		return (struct filter_word){ step->k, true };
	}
}

static inline struct filter_word filter_operand(const struct filter_state *state,
						const struct filter_step *step)
{
	return FILTER_IS_X(step->code) ? state->index : (struct filter_word){ step->k, true };
}

static inline u32 filter_compute(u16 code, u32 a, u32 b)
{
	switch (FILTER_OP(code)) {
	case FILTER_ADD:
		return a + b;
	case FILTER_SUB:
		return a - b;
	case FILTER_MUL:
		return a * b;
	case FILTER_DIV:
		return b != 0 ? a / b : 0;
	case FILTER_OR:
		return a | b;
	case FILTER_AND:
		return a & b;
	case FILTER_LSH:
		return a << (b & 31);
	case FILTER_RSH:
		return a >> (b & 31);
	case FILTER_XOR:
		return a ^ b;
	default:
		return -a; /* NEG */
	}
}

/* Executes an instruction that is no jump and no return. */
static inline void filter_step(struct filter_state *state, const struct filter_call *call,
			       const struct filter_step *step)
{
	const struct filter_word a = state->accumulator, b = filter_operand(state, step);

	switch (FILTER_CLASS(step->code)) {
	case FILTER_LD:
		state->accumulator = filter_load(state, call, step);
		break;
	case FILTER_LDX:
		state->index = filter_load(state, call, step);
		break;
	case FILTER_ST:
		state->memory[step->k % FILTER_WORDS] = a;
		break;
	case FILTER_STX:
		state->memory[step->k % FILTER_WORDS] = state->index;
		break;
	case FILTER_ALU:
		state->accumulator.value = filter_compute(step->code, a.value, b.value);
		state->accumulator.is_known = a.is_known && b.is_known;
		break;
	default: /* MISC */
		if (step->code & FILTER_TXA)
			state->accumulator = state->index;
		else
			state->index = a;
		break;
	}
}

static inline bool filter_compare(u16 code, u32 a, u32 b)
{
	switch (FILTER_OP(code)) {
	case FILTER_EQUAL:
		return a == b;
	case FILTER_GREATER:
		return a > b;
	case FILTER_NOT_LESS:
		return a >= b;
	default:
		return (a & b) != 0; /* JSET */
	}
}

/* The branches still to be followed. */
struct filter_walk {
	struct filter_state pending[FILTER_PENDING];
	u32 count, steps;
};

/* Jumps; on an unknown word, keeps the other branch for later.  False: too many branches. */
static inline bool filter_jump(struct filter_state *state, struct filter_walk *walk,
			       const struct filter_step *step)
{
	const struct filter_word a = state->accumulator, b = filter_operand(state, step);

	if (FILTER_OP(step->code) == FILTER_ALWAYS) {
		state->at = step->k > FILTER_STEPS_MAX ? FILTER_STEPS_MAX : state->at + step->k;
		return true;
	}
	if (a.is_known && b.is_known) {
		state->at += filter_compare(step->code, a.value, b.value) ? step->jt : step->jf;
		return true;
	}
	if (walk->count == FILTER_PENDING)
		return false;
	walk->pending[walk->count] = *state;
	walk->pending[walk->count++].at += step->jf;
	state->at += step->jt;
	return true;
}

/* Follows one branch to its result. */
static inline u32 filter_go(struct filter_walk *walk, struct filter_state *state,
			    const struct filter_step *steps, u32 count,
			    const struct filter_call *call)
{
	while (state->at < count && walk->steps++ < FILTER_PATIENCE) {
		const struct filter_step *step = &steps[state->at++];

		if (FILTER_CLASS(step->code) == FILTER_RET && step->code & FILTER_RET_A)
			return state->accumulator.is_known ? state->accumulator.value
							   : FILTER_WORST;
		if (FILTER_CLASS(step->code) == FILTER_RET)
			return step->k;
		if (FILTER_CLASS(step->code) != FILTER_JMP)
			filter_step(state, call, step);
		else if (!filter_jump(state, walk, step))
			return FILTER_WORST;
	}
	return FILTER_WORST;
}

/*
 * The strictest of all results that the filter may give (SECCOMP_RET_… with its data), in the
 * kernel's order: the smallest as a signed number (kernel/seccomp.c, ACTION_ONLY).
 */
static inline u32 filter_answer(const struct filter_step *steps, u32 count,
				const struct filter_call *call)
{
	struct filter_walk walk;
	struct filter_state state = { .accumulator.is_known = true, .index.is_known = true };
	u32 strictest = FILTER_ALLOW;

	walk.count = walk.steps = 0;
	for (u32 i = 0; i < FILTER_WORDS; i++)
		state.memory[i].is_known = true;
	for (;;) {
		const u32 answer = filter_go(&walk, &state, steps, count, call);

		if ((s32)answer < (s32)strictest)
			strictest = answer;
		if (walk.count == 0)
			return strictest;
		state = walk.pending[--walk.count];
	}
}

/* Whether the call is executed, without any other effect. */
static inline bool filter_answer_allows(u32 answer)
{
	const u32 action = answer & FILTER_ACTION;

	return action == FILTER_ALLOW || action == FILTER_LOG;
}
