/*
 * kernel_frames - the kernel's functions of a sample, by the names that /proc/kallsyms has.
 *
 * Read with the first such frame; where the addresses are hidden (kernel.kptr_restrict), all of
 * the kernel is one function.
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
	struct kernel_symbol
		*symbols; /* in the order of addresses; the first is the unknown one */
	size_t count, capacity;
	char *text; /* of /proc/kallsyms */
};

void kernel_frames_done(struct kernel_frames *frames);
/*
 * Takes lines of /proc/kallsyms that are functions; what is no such line is passed over.  The text is
 * cut into names, and must stay.
 */
void kernel_frames_parse(struct kernel_frames *frames, char *text);
/* What the address is in: never NULL. */
struct kernel_symbol *kernel_frames_find(struct kernel_frames *frames, uint64_t address);
/* Adds addresses, innermost first, to the stack's row. */
uint32_t kernel_frames_add(struct kernel_frames *frames, struct pump *pump, uint32_t row,
			   const uint64_t *addresses, size_t count);
