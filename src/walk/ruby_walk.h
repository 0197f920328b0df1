/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_walk - what a walk along Ruby's control frames carries from one to the next.
 */
#pragma once
#include "ruby_memory.h"

struct ruby_walk {
	const struct ruby_layout *layout;
	u64 context;    /* rb_execution_context_t, of the fiber that the thread executes */
	u64 stack, end; /* its VM stack: the oldest control frame ends at `end` */
	u64 next;       /* the control frame to be looked at next */
	u32 count;      /* of those that were looked at */
	u8 is_repeated; /* the frame before was a rescue's or ensure's of the next one */
	/* The thread stands where the interpreter does other things: no frame is being made. */
	u8 is_settled;
};

enum ruby_frame_kind {
	RUBY_FRAME_ISEQ = 1, /* compiled Ruby: a method, a block, a class's body, a file */
	RUBY_FRAME_C,        /* a method in C */
	RUBY_FRAME_BLOCK_C,  /* a block in C: it has no name */
	RUBY_FRAME_BASE,     /* made to begin a stack, or for an extension's Init function */
};

/* One control frame. */
struct ruby_frame {
	u64 address;
	u64 iseq;   /* 0: it has none */
	u64 method; /* its method entry (rb_callable_method_entry_t); 0: it has none */
	u64 pc;     /* of the instruction that is executed, or behind it; 0: not known */
	u64 sp;     /* where the next value is pushed */
	u64 ep;     /* its environment, and what stands there: ruby_env.h */
	u64 outer;
	u64 flags;
	u64 body; /* the iseq's rb_iseq_constant_body, and its instructions */
	u64 encoded;
	u32 size; /* words of instructions */
	u8 kind;  /* enum ruby_frame_kind */
	/* The last of a call of rb_vm_exec(): VM_FRAME_FLAG_FINISH, and it has been begun. */
	u8 is_last;
	u8 is_jitted; /* machine code was made of it: innermost, pc may be an old one */
	/*
	 * The frame before is one of its own rescue or ensure clauses, under the same name: it
	 * is not shown twice.  (Ruby's backtraces leave it out, too.)
	 */
	u8 is_repeated;
};

/* enum iseq_type, of every version. */
enum ruby_iseq_type {
	RUBY_ISEQ_TOP,
	RUBY_ISEQ_METHOD,
	RUBY_ISEQ_BLOCK,
	RUBY_ISEQ_CLASS,
	RUBY_ISEQ_RESCUE,
	RUBY_ISEQ_ENSURE,
	RUBY_ISEQ_EVAL,
	RUBY_ISEQ_MAIN,
	RUBY_ISEQ_PLAIN,
};

enum ruby_step {
	RUBY_FRAME,  /* here is one */
	RUBY_END,    /* there are no more */
	RUBY_BROKEN, /* one could not be read, or is none */
};
