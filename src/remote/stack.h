/*
 * stack - the frames of one thread, innermost first, native and interpreted in one row.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a stack; deeper ones are cut at their outer end. */
#define STACK_FRAMES_MAX 32768U
/*
 * Whether it is too late is looked up for the first of so many: a thread's clock is a system call,
 * which takes longer than finding a native frame.
 */
#define STACK_FRAMES_A_LOOK 32U

enum stack_frame_kind {
	STACK_NATIVE,
	STACK_PYTHON,
	STACK_PYTHON_C, /* a C function by its name in Python: neither file nor code */
	STACK_RUBY,
	STACK_RUBY_C, /* a method in C, or what stands for one */
	STACK_REGION, /* of the program's own: regions.h */
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
	const char *plain_name; /* without what it is defined in; NULL: as name */
	uint32_t line, first_line;
	/* Python: the frame's address, and its code object's; Ruby: the control frame's address. */
	uint64_t object, code;
	uint32_t instruction; /* Python: as struct python_frame has it (walk/python_walk.h) */
	size_t local_first, local_count; /* Python: its variables, in remote->locals */
	bool is_last;                    /* Ruby: the last that a call of the loop executes */
};

struct remote_stack {
	struct stack_frame *frames;
	size_t count, capacity;
	uint8_t ending;           /* enum walk_status */
	bool needs_frame_pointer; /* that is why it ended (frame_pointer.h) */
	bool is_full;             /* there were more frames, or no time for them */
	uint64_t until_ns;    /* by stack_clock_ns(): later few frames are added; 0: whenever */
	uint32_t activations; /* of Python's eval loop, that were met */
};

/*
 * The clock of until_ns: CPU time of the calling thread, which the load of the machine does not
 * shorten.
 */
uint64_t stack_clock_ns(void);
/* False if there is no room, or no time. */
bool stack_push(struct remote_stack *stack, const struct stack_frame *frame);
/* The same in front of the one of that index, which is at most the count. */
bool stack_insert(struct remote_stack *stack, size_t index, const struct stack_frame *frame);
/* Keeps the memory, and until_ns. */
void stack_clear(struct remote_stack *stack);
/* Whether a frame is an interpreter's. */
bool stack_has_interpreted(const struct remote_stack *stack);
void stack_done(struct remote_stack *stack);
