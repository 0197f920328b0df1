/* stack - the frames of one thread, innermost first, native and interpreted in one array. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Per stack; deeper ones are cut at their outer end. */
#define STACK_FRAMES_MAX 32768U
/*
 * The time limit is checked once per so many frames: reading a thread's CPU clock is a system
 * call, which takes longer than finding a native frame.
 */
#define STACK_FRAMES_A_LOOK 32U

enum stack_frame_kind {
	STACK_NATIVE,
	STACK_PYTHON,
	STACK_PYTHON_C, /* a C function, with its Python name: has neither file nor code */
	STACK_RUBY,
	STACK_RUBY_C, /* a method in C, or a placeholder for one */
	STACK_REGION, /* of the program's own: regions.h */
	/* Only during a walk: where a Python frame, or Ruby frames, are to be inserted. */
	STACK_PLACE,
	STACK_MARK,
};

/* Strings live as long as the struct remote. */
struct stack_frame {
	uint8_t kind;     /* enum stack_frame_kind */
	bool is_guess;    /* found by a scan of the stack (frame_pointer.h) */
	bool is_doubtful; /* interpreted, and possibly of another moment (agreement.h) */
	/*
	 * Native: the address to look up, which for a caller is within its call; and its stack
	 * pointer.
	 */
	uint64_t address, sp;
	/* Interpreted: the function's name and file, and the line being executed; or NULL, 0. */
	const char *name, *file;
	const char *plain_name; /* without the enclosing class or function; NULL: as name */
	uint32_t line, first_line;
	/* Python: addresses of the frame and its code object; Ruby: of the control frame. */
	uint64_t object, code;
	uint32_t instruction; /* Python: as struct python_frame has it (walk/python_walk.h) */
	size_t local_first, local_count; /* Python: its variables, in remote->locals */
	bool is_last; /* Ruby: outermost frame that one call of the interpreter loop executes */
};

struct remote_stack {
	struct stack_frame *frames;
	size_t count, capacity;
	uint8_t ending;           /* enum walk_status */
	bool needs_frame_pointer; /* it ended for lack of a frame pointer (frame_pointer.h) */
	bool is_full;             /* frames are missing for lack of space or time */
	uint64_t until_ns;        /* by stack_clock_ns(): no frames soon after; 0: no limit */
	uint32_t activations;     /* calls of Python's eval loop seen on it */
};

/*
 * The clock of until_ns: CPU time of the calling thread, so that load on the machine does not
 * count.
 */
uint64_t stack_clock_ns(void);
/* False if there is no space, or no time. */
bool stack_push(struct remote_stack *stack, const struct stack_frame *frame);
/* Likewise, before the frame of that index, which is at most the count. */
bool stack_insert(struct remote_stack *stack, size_t index, const struct stack_frame *frame);
/* Keeps the memory, and until_ns. */
void stack_clear(struct remote_stack *stack);
/* Whether the stack has interpreted frames. */
bool stack_has_interpreted(const struct remote_stack *stack);
void stack_done(struct remote_stack *stack);
