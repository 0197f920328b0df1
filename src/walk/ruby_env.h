/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_env - a frame's environment: shows the frame's kind and its method.
 *
 * Three words follow the local variables of a frame; ep points to the last of them:
 *
 *	ep[-2]  the method entry, or a cref; an svar that refers to it if there are special
 *	        variables ($~)
 *	ep[-1]  for a block: ep of the frame in which it was written; else the frame's block
 *	ep[0]   type and flags
 *
 * They are on the VM stack, and move to the heap when a Proc or a Binding of the frame is created
 * (vm_make_env_each()): then ep[0] at the old place points to the new one, an object of type env,
 * for frames whose ep[-1] is not updated yet.  Flags are odd, addresses of objects are not.
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

/* rb_env_t.ep; struct vm_svar.cref_or_me: the same in every version. */
#define RUBY_ENV_EP      16
#define RUBY_SVAR_METHOD 8

/* Most nested blocks. */
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
		/* The environment has just moved. */
		if (!ruby_is_imemo(mem, out_env->flags, RUBY_IMEMO_ENV) ||
		    ruby_read(mem, &ep, out_env->flags, RUBY_ENV_EP) < 0)
			return -1;
	}
	return -1;
}

#define RUBY_IS(type) (1U << RUBY_ISEQ_##type)

/*
 * The kinds of frames (enum vm_frame_env_flags), and a set of RUBY_IS() with the types of code
 * that each may execute; frames of C execute none.
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

/* Whether a frame of this kind may execute code of this type. */
static inline int ruby_magic_executes(u64 flags, u32 type)
{
	for (u32 i = 0; i < RUBY_MAGICS; i++) {
		if ((flags & RUBY_MAGIC_MASK) == ruby_magics[i].magic)
			return type <= RUBY_ISEQ_PLAIN &&
			       (ruby_magics[i].types >> type & 1) != 0;
	}
	return 0;
}

/* The method entry from an env's word, or 0; only a method's own env may have an svar. */
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
 * The method entry of the frame with this env, as in rb_vm_frame_method_entry(): its own, or that
 * of the frame in which a block was written.  0: none.
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
