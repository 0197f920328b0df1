/*
 * frame_ranges - where functions begin and end, by .eh_frame.
 *
 * Unwind tables survive stripping. They contain no names, but show which addresses form one
 * function, so that a neighbour's name is not extended over it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;

struct frame_range {
	uint64_t start;
	uint64_t end;   /* one past */
	bool is_signal; /* the return address of signal handlers (a trampoline) */
};

/* Zero-initialized is empty. */
struct frame_ranges {
	struct frame_range *ranges;
	size_t count;
	size_t capacity;
};

/* Reads the image's .eh_frame; damaged parts are skipped. */
void frame_ranges_read(struct frame_ranges *ranges, const struct elf_image *image);
/* Likewise from bytes located at address. */
void frame_ranges_parse(struct frame_ranges *ranges, const void *data, size_t len,
			uint64_t address, bool is_64bit);
/* The range that covers the address. */
bool frame_ranges_find(const struct frame_ranges *ranges, uint64_t address,
		       struct frame_range *out_range);
/* The first start above the address, but at most limit. */
uint64_t frame_ranges_next_start(const struct frame_ranges *ranges, uint64_t address,
				 uint64_t limit);
/* Narrows [*low, *high) around an address without a range to the gap between its neighbours. */
void frame_ranges_narrow(const struct frame_ranges *ranges, uint64_t address, uint64_t *low,
			 uint64_t *high);
void frame_ranges_done(struct frame_ranges *ranges);
