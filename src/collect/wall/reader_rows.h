/* reader_rows - the recording's rows of a stack that was read from outside. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct image;
struct remote;
struct remote_stack;
struct stack_rows;

/* The row of the stack, without what is waited for. */
uint32_t wall_reader_add_callers(struct stack_rows *rows, const struct remote *remote,
				 const struct remote_stack *stack, struct image *image,
				 uint64_t now_ns);
/*
 * The row of its callers with what is waited for. label NULL: the thread is blocked outside of
 * system calls; it was stopped, or needs a page.
 */
uint32_t wall_reader_add_label(struct stack_rows *rows, uint32_t callers, const char *label,
			       bool is_stopped);
/* The same of a thread that was woken and has no CPU yet: [waits for a CPU]. */
uint32_t wall_reader_add_queue(struct stack_rows *rows, uint32_t callers);
