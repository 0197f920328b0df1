#include "collect/kernel_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collect/codes.h"
#include "collect/pump.h"
#include "record/writer.h"

#define UNKNOWN_NAME "[kernel]"

void kernel_frames_done(struct kernel_frames *frames)
{
	free(frames->symbols);
	intern_done(&frames->names);
	*frames = (struct kernel_frames){ 0 };
}

static void add_symbol(struct kernel_frames *frames, uint64_t address, const char *name)
{
	frames->symbols = array_grow(frames->symbols, frames->count, &frames->capacity,
				     sizeof *frames->symbols);
	frames->symbols[frames->count++] = (struct kernel_symbol){
		.address = address,
		.name = intern_string(&frames->names, name),
	};
}

/* "ffffffff81000000 T _text", and of a module "\t[ext4]" behind it. */
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
	return x->name < y->name ? -1 : x->name > y->name;
}

void kernel_frames_parse(struct kernel_frames *frames, char *text)
{
	char *rest = text, *line;

	frames->is_read = true;
	add_symbol(frames, 0, UNKNOWN_NAME);
	while ((line = strsep(&rest, "\n")) != NULL)
		take_line(frames, line);
	qsort(frames->symbols, frames->count, sizeof *frames->symbols, by_address);
}

static void read_symbols(struct kernel_frames *frames)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	CLEANUP(freep) char *text = NULL;
	size_t size = 0;

	/* It has no NUL, so this is all of it. */
	if (file == NULL || getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = xstrdup("");
	}
	if (file != NULL)
		fclose(file);
	kernel_frames_parse(frames, text);
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
		/* A caller's address is behind its call. */
		struct kernel_symbol *symbol =
			kernel_frames_find(frames, i > 0 ? addresses[i] - 1 : addresses[i]);
		struct recording_frame frame;

		if (symbol == last && symbol->address == 0)
			continue;
		last = symbol;
		codes_place_kernel(&pump->codes, intern_get(&frames->names, symbol->name, NULL),
				   &symbol->code, &frame);
		row = pump_add_node(pump, row, &frame);
	}
	return row;
}
