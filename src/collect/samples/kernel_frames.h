/*
 * kernel_frames - names the kernel functions in a sample's stack, by /proc/kallsyms.
 *
 * The file is read at the first such frame; where addresses are hidden (kernel.kptr_restrict),
 * all of the kernel is one function.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pump;

struct kernel_symbol {
	uint64_t address;
	const char *name; /* in the text */
	uint32_t code;    /* of the recording; 0: not written yet */
};

struct kernel_frames {
	bool is_read;
	struct kernel_symbol *symbols; /* by address; the first is [kernel] */
	size_t count, capacity;
	char *text; /* of the file, cut into names */
};

void kernel_frames_done(struct kernel_frames *frames);
/*
 * Takes the functions among lines of /proc/kallsyms; other lines are ignored.  The text is cut
 * into names, and must live as long as frames.
 */
void kernel_frames_parse(struct kernel_frames *frames, char *text);
/* The symbol that has the address; never NULL. */
struct kernel_symbol *kernel_frames_find(struct kernel_frames *frames, uint64_t address);
/* Adds addresses, innermost first, to the stack's row. */
uint32_t kernel_frames_add(struct kernel_frames *frames, struct pump *pump, uint32_t row,
			   const uint64_t *addresses, size_t count);
