#include "collect/samples/kernel_frames.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collect/stacks/codes.h"
#include "collect/samples/pump.h"
#include "record/writer.h"

#define UNKNOWN_NAME "[kernel]"

void kernel_frames_done(struct kernel_frames *frames)
{
	free(frames->symbols);
	free(frames->text);
	*frames = (struct kernel_frames){ 0 };
}

static void add_symbol(struct kernel_frames *frames, uint64_t address, const char *name)
{
	frames->symbols = array_grow(frames->symbols, frames->count, &frames->capacity,
				     sizeof *frames->symbols);
	frames->symbols[frames->count++] = (struct kernel_symbol){
		.address = address,
		.name = name,
	};
}

/* Takes "ffffffff81000000 T _text"; for a module "\t[ext4]" follows. */
static void take_line(struct kernel_frames *frames, char *line)
{
	char *end;
	const uint64_t address = strtoull(line, &end, 16);

	if (end == line || address == 0 || end[0] != ' ' || strchr("tTwW", end[1]) == NULL ||
	    end[1] == '\0' || end[2] != ' ')
		return;
	char *name = end + 3;

	name[strcspn(name, " \t")] = '\0';
	if (*name != '\0')
		add_symbol(frames, address, name);
}

static int by_address(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool is_in_order(const struct kernel_frames *frames)
{
	for (size_t i = 1; i < frames->count; i++)
		if (frames->symbols[i - 1].address > frames->symbols[i].address)
			return false;
	return true;
}

void kernel_frames_parse(struct kernel_frames *frames, char *text)
{
	char *rest = text, *line;

	frames->is_read = true;
	add_symbol(frames, 0, UNKNOWN_NAME);
	while ((line = strsep(&rest, "\n")) != NULL)
		take_line(frames, line);
	/* The kernel's own symbols are in order; those of modules follow. */
	if (!is_in_order(frames))
		qsort(frames->symbols, frames->count, sizeof *frames->symbols, by_address);
}

static void read_symbols(struct kernel_frames *frames)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	size_t size = 0;

	/* The file has no NUL, so this reads all of it. */
	if (file == NULL || getdelim(&frames->text, &size, '\0', file) < 0) {
		free(frames->text);
		frames->text = xstrdup("");
	}
	if (file != NULL)
		fclose(file);
	kernel_frames_parse(frames, frames->text);
}

struct kernel_symbol *kernel_frames_find(struct kernel_frames *frames, uint64_t address)
{
	size_t low = 0, high;

	if (!frames->is_read)
		read_symbols(frames);
	high = frames->count;
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (frames->symbols[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return &frames->symbols[low];
}

uint32_t kernel_frames_add(struct kernel_frames *frames, struct pump *pump, uint32_t row,
			   const uint64_t *addresses, size_t count)
{
	const struct kernel_symbol *last = NULL;

	for (size_t i = count; i-- > 0;) {
		/* A caller's address is after its call. */
		struct kernel_symbol *symbol =
			kernel_frames_find(frames, i > 0 ? addresses[i] - 1 : addresses[i]);
		struct recording_frame frame;

		if (symbol == last && symbol->address == 0)
			continue;
		last = symbol;
		codes_place_kernel(&pump->rows.codes, symbol->name, &symbol->code, &frame);
		row = stack_rows_add(&pump->rows, row, &frame);
	}
	return row;
}
