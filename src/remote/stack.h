/*
 * stack - the frames of one thread, innermost first, native and interpreted in one row.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a stack; deeper ones are cut at their outer end. */
#define STACK_FRAMES_MAX 32768U

enum stack_frame_kind {
	STACK_NATIVE,
	STACK_PYTHON,
	STACK_RUBY,
	STACK_RUBY_C, /* a method in C, or what stands for one */
	/* In no finished stack: places of a frame of Python's, and of frames of Ruby's. */
	STACK_PLACE,
	STACK_MARK,
};

/* Strings live as long as the struct remote. */
struct stack_frame {
	uint8_t kind;     /* enum stack_frame_kind */
	bool is_guess;    /* found by a scan of the stack (frame_pointer.h) */
	bool is_doubtful; /* interpreted, and maybe of another moment (agreement.h) */
	/* Native: the address to be looked up: of a caller, within its call; and its stack pointer. */
	uint64_t address, sp;
	/* Interpreted: the function's name and file, and the line being executed; or NULL, 0. */
	const char *name, *file;
	uint32_t line, first_line;
	uint64_t object, code; /* Python: the frame's address, and its code object's */
	size_t local_first, local_count; /* Python: its variables, in remote->locals */
	bool is_last;                    /* Ruby: the last that a call of the loop executes */
};

struct remote_stack {
	struct stack_frame *frames;
	size_t count, capacity;
	uint8_t ending;           /* enum walk_status */
	bool needs_frame_pointer; /* that is why it ended (frame_pointer.h) */
	bool is_full;             /* there were more frames */
	uint32_t activations;     /* of Python's eval loop, that were met */
};

/* False if there is no room. */
bool stack_push(struct remote_stack *stack, const struct stack_frame *frame);
/* Keeps the memory. */
void stack_clear(struct remote_stack *stack);
/* Whether a frame is an interpreter's. */
bool stack_has_interpreted(const struct remote_stack *stack);
void stack_done(struct remote_stack *stack);
