/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_env - a frame's environment: what kind of frame it is, and which method it is of.
 *
 * Behind the local variables of a frame stand three words, the last of which ep points to:
 *
 *	ep[-2]  its method entry, or a cref; with special variables ($~) beside it, an svar
 *	ep[-1]  of a block: the ep of the frame it was written in; else its block
 *	ep[0]   type and flags
 *
 * They are on the VM stack, and move to the heap when a Proc or a Binding of the frame is made
 * (vm_make_env_each()): then ep[0] of the old place names the new one, an object of the type
 * env, for those whose ep[-1] has not been changed yet.  Flags are odd, objects' addresses are
 * not.
 */
#pragma once
#include "ruby_walk.h"

/* vm_core.h, enum vm_frame_env_flags, of every version. */
#define RUBY_MAGIC_MASK    0x7fff0001U
#define RUBY_MAGIC_METHOD  0x11110001U
#define RUBY_MAGIC_BLOCK   0x22220001U
#define RUBY_MAGIC_CLASS   0x33330001U
#define RUBY_MAGIC_TOP     0x44440001U
#define RUBY_MAGIC_C       0x55550001U
#define RUBY_MAGIC_BLOCK_C 0x66660001U
#define RUBY_MAGIC_EVAL    0x77770001U
#define RUBY_MAGIC_RESCUE  0x78880001U
#define RUBY_MAGIC_DUMMY   0x79990001U
#define RUBY_ENV_LOCAL     0x0002ULL
#define RUBY_FRAME_FINISH  0x0020ULL
#define RUBY_FRAME_IS_C    0x0080ULL /* VM_FRAME_FLAG_CFRAME */

/* rb_env_t.ep; struct vm_svar.cref_or_me: both have stood there in every version. */
#define RUBY_ENV_EP      16
#define RUBY_SVAR_METHOD 8

/* Blocks in blocks in blocks. */
#define RUBY_ENVS_MAX 16

struct ruby_env {
	u64 method; /* ep[-2], ep[-1], ep[0] */
	u64 outer;
	u64 flags;
};

static inline int ruby_env_read(struct mem *mem, u64 ep, struct ruby_env *out_env)
{
	for (u32 i = 0; i < 2; i++) {
		if ((ep & 7) != 0 || mem_read(mem, out_env, sizeof *out_env, ep - 16) < 0)
			return -1;
		if (out_env->flags & 1)
			return 0;
		/* It has just moved. */
		if (!ruby_is_imemo(mem, out_env->flags, RUBY_IMEMO_ENV) ||
		    ruby_read(mem, &ep, out_env->flags, RUBY_ENV_EP) < 0)
			return -1;
	}
	return -1;
}

#define RUBY_IS(type) (1U << RUBY_ISEQ_##type)

/*
 * The kinds of frames (enum vm_frame_env_flags), and what code they may execute: a set of
 * RUBY_IS(); that of C is none.
 */
static const struct ruby_magic {
	u32 magic;
	u32 types;
} ruby_magics[] = {
	{ RUBY_MAGIC_METHOD, RUBY_IS(METHOD) },
	{ RUBY_MAGIC_BLOCK, RUBY_IS(BLOCK) | RUBY_IS(PLAIN) },
	{ RUBY_MAGIC_CLASS, RUBY_IS(CLASS) },
	{ RUBY_MAGIC_TOP, RUBY_IS(TOP) | RUBY_IS(MAIN) | RUBY_IS(EVAL) },
	{ RUBY_MAGIC_C, 0 },
	{ RUBY_MAGIC_BLOCK_C, 0 },
	{ RUBY_MAGIC_EVAL, RUBY_IS(EVAL) | RUBY_IS(MAIN) | RUBY_IS(TOP) },
	{ RUBY_MAGIC_RESCUE, RUBY_IS(RESCUE) | RUBY_IS(ENSURE) },
	{ RUBY_MAGIC_DUMMY, 0 },
};

#define RUBY_MAGICS (sizeof ruby_magics / sizeof ruby_magics[0])

static inline int ruby_magic_is_known(u64 flags)
{
	for (u32 i = 0; i < RUBY_MAGICS; i++) {
		if ((flags & RUBY_MAGIC_MASK) == ruby_magics[i].magic)
			return 1;
	}
	return 0;
}

/* Whether a frame of that kind may execute code of this type. */
static inline int ruby_magic_executes(u64 flags, u32 type)
{
	for (u32 i = 0; i < RUBY_MAGICS; i++) {
		if ((flags & RUBY_MAGIC_MASK) == ruby_magics[i].magic)
			return type <= RUBY_ISEQ_PLAIN &&
			       (ruby_magics[i].types >> type & 1) != 0;
	}
	return 0;
}

/* The method entry that an env's word names, or 0; an svar only stands in a method's own. */
static inline u64 ruby_env_method(struct mem *mem, u64 word, int can_be_svar)
{
	const u64 imemo = ruby_flags_of(mem, word) & RUBY_IMEMO_MASK;

	if (imemo == RUBY_IMEMO_MENT)
		return word;
	if (imemo != RUBY_IMEMO_SVAR || !can_be_svar ||
	    ruby_read(mem, &word, word, RUBY_SVAR_METHOD) < 0)
		return 0;
	return ruby_is_imemo(mem, word, RUBY_IMEMO_MENT) ? word : 0;
}

/*
 * The method entry of the frame with this env, as rb_vm_frame_method_entry() has it: its own or
 * that of the frame it was written in.  0: there is none.
 */
static inline u64 ruby_method_of(struct mem *mem, const struct ruby_env *innermost)
{
	struct ruby_env env = *innermost;

	for (u32 i = 0; i < RUBY_ENVS_MAX; i++) {
		const int is_local = (env.flags & RUBY_ENV_LOCAL) != 0;
		const u64 method = ruby_env_method(mem, env.method, is_local);

		if (method != 0 || is_local)
			return method;
		if (ruby_env_read(mem, env.outer & ~3ULL, &env) < 0)
			return 0;
	}
	return 0;
}
