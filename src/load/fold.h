/*
 * fold - leaves an interpreter's own native frames out of stacks.
 *
 * Where a stack has Python or Ruby frames, the native frames of the interpreter that executes
 * them add no information: such plumbing is folded into the interpreted frame outside of it,
 * and so are the frames that start the interpreter, outside of the outermost one.  Each
 * language has its own plumbing: a stack without any Python frame keeps CPython's frames as
 * they are, whatever else is on it.  docs/decisions/0016-folded-interpreter-frames.md has the reasons and the
 * examples.
 *
 * Python's import system is folded, too, though it is Python: up to the code of the imported
 * module, which is then named "import NAME".
 *
 * Stacks are a prefix tree, and at a frame it is not known whether interpreted frames follow
 * further in.  So each row of the tree has two stacks: one for samples that end there, and one
 * for frames further in.  No time is lost or moved to another thread: weights only get other
 * stacks.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/profile.h"

/* Zero-initialized folds nothing. */
struct folding {
	bool is_off;          /* whatever is added */
	bool keeps_imports;   /* each call of Python's import system is shown */
	struct table modules; /* the recording's id to what its frames are */
};

void folding_done(struct folding *folding);
/* The interpreter's loop is in the module. */
void folding_add_interpreter(struct folding *folding, uint32_t module, enum language language,
			     const char *path);
/* Another ELF file: one that starts interpreters (python3.12), the C library, or neither. */
void folding_add_file(struct folding *folding, uint32_t module, const char *path);
/*
 * Code that was made at run time: an interpreter's trampolines may be in it (-X perf), or its
 * functions, compiled (YJIT).
 */
void folding_add_made(struct folding *folding, uint32_t module);
/* Whether stacks may change at all. */
bool folding_is_on(const struct folding *folding);

enum fold_kind {
	FOLD_OTHER,       /* stays */
	FOLD_INTERPRETED, /* a function that an interpreter executes */
	FOLD_BUILTIN,     /* a C function by the name that an interpreter calls it by */
	FOLD_PLUMBING,    /* an interpreter's own */
	FOLD_STANDARD,    /* an extension module of the interpreter's standard library */
	FOLD_MADE,        /* code made at run time, by any runtime */
	FOLD_LIBC,        /* may have started the program or the thread */
	FOLD_HELPER,      /* called by compiled code for thread-local variables */
	FOLD_REGION,      /* named by the program itself; ignored by folding */
};
/* The part of an interpreted function when Python imports a module. */
enum fold_part {
	FOLD_NO_PART,
	FOLD_IMPORT, /* of the import system */
	FOLD_EXEC,   /* exec(): part of it where the import system calls it */
	FOLD_BODY,   /* a module's own code */
};
struct fold_role {
	enum fold_kind kind;
	enum language language; /* of the interpreter, where it is known */
	enum fold_part part;
};
struct named_function;
/* The role of a function, whose module is the recording's. */
struct fold_role folding_role(const struct folding *folding,
			      const struct named_function *function);

/* The frame right outside, apart from folded ones. */
enum fold_outside {
	FOLD_BARE, /* nothing, or the C library alone */
	FOLD_ANYTHING,
	FOLD_EXECUTED, /* a function that an interpreter executes */
	FOLD_CALLED,   /* a builtin */
};

/* A row of the prefix tree; zero-initialized is the root. */
struct folded {
	struct stack_id shown; /* the stack of a sample that ends here */
	struct stack_id base;  /* the stack below an interpreted frame further in */
	enum fold_outside outside;
	uint8_t languages; /* that have interpreted frames: FOLD_LANGUAGE_BITS bits */
	/*
	 * In Python's import system, of which only the outermost frame is shown; the base is
	 * the importing code, to which the module's own code is added.
	 */
	bool is_importing;
};
/* Whether a frame of that role is the code of a module that is being imported. */
static inline bool fold_is_import(const struct folded *parent, struct fold_role role)
{
	return parent->is_importing && role.part == FOLD_BODY;
}
enum { FOLD_LANGUAGE_BITS = 2 };

/* push(context, stack) puts the row's frames on a stack. */
struct folded fold(const struct folded *parent, struct fold_role role,
		   struct stack_id (*push)(void *context, struct stack_id parent),
		   void *context);
