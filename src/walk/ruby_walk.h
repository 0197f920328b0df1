/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_walk - the state of a walk along Ruby's control frames.
 */
#pragma once
#include "ruby_memory.h"

struct ruby_walk {
	const struct ruby_layout *layout;
	u64 context;    /* rb_execution_context_t, of the fiber that the thread executes */
	u64 stack, end; /* its VM stack: the outermost control frame ends at `end` */
	u64 next;       /* the control frame to be read next */
	u32 count;      /* how many were read */
	u8 is_repeated; /* the previous frame was a rescue or ensure clause of the next one */
	/* The thread is at a place in the interpreter where it creates no frame. */
	u8 is_settled;
};

enum ruby_frame_kind {
	RUBY_FRAME_ISEQ = 1, /* compiled Ruby: a method, a block, a class's body, a file */
	RUBY_FRAME_C,        /* a method in C */
	RUBY_FRAME_BLOCK_C,  /* a block in C, which has no name */
	RUBY_FRAME_BASE,     /* the first of a stack, or for an extension's Init function */
};

/* One control frame. */
struct ruby_frame {
	u64 address;
	u64 iseq;   /* 0: none */
	u64 method; /* the method entry (rb_callable_method_entry_t); 0: none */
	u64 pc;     /* at the executing instruction, or behind it; 0: unknown */
	u64 sp;     /* where the next value is pushed */
	u64 ep;     /* its environment, and two words from there: ruby_env.h */
	u64 outer;
	u64 flags;
	u64 body; /* the iseq's rb_iseq_constant_body, and its instructions */
	u64 encoded;
	u32 size; /* words of instructions */
	u8 kind;  /* enum ruby_frame_kind */
	/*
	 * The outermost frame that a call of rb_vm_exec() executes: VM_FRAME_FLAG_FINISH, and has
	 * begun.
	 */
	u8 is_last;
	u8 is_jitted; /* has compiled code: an innermost frame's pc may be out of date */
	/*
	 * The previous frame is a rescue or ensure clause of this one, with the same name: the
	 * frame is not shown twice.  (Ruby's backtraces leave it out, too.)
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
	RUBY_FRAME,  /* here is a frame */
	RUBY_END,    /* there are no more frames */
	RUBY_BROKEN, /* a frame could not be read, or is invalid */
};
