#include "fake_layouts.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "abi/ring.h"
#include "abi/trace.h"
#include "base/error.h"
#include "target/load_bias.h"
#include "target/python.h"
#include "target/ruby.h"

#define NOWHERE 0x1000
/* Canonical, and not mapped. */
#define FAR_AWAY 0x00007ffffffde000ULL

struct layouts {
	struct python_layout python;
	struct ruby_layout ruby;
};

static void sound(struct layouts *layouts)
{
	(void)layouts;
}

static void python_calls_nowhere(struct layouts *layouts)
{
	layouts->python.state_function = NOWHERE;
	layouts->python.head_function = NOWHERE;
}

static void python_calls_far_away(struct layouts *layouts)
{
	layouts->python.state_function = FAR_AWAY;
	layouts->python.head_function = FAR_AWAY;
}

static void python_calls_data(struct layouts *layouts)
{
	layouts->python.state_function = layouts->python.type_type;
	layouts->python.head_function = layouts->python.type_type;
}

static void python_loops_everywhere(struct layouts *layouts)
{
	layouts->python.loop[1].start = 0;
	layouts->python.loop[1].end = ~0ULL;
}

static void python_has_none_nowhere(struct layouts *layouts)
{
	layouts->python.none = NOWHERE;
}

static void python_has_types_far_away(struct layouts *layouts)
{
	layouts->python.code_type = FAR_AWAY;
}

static void ruby_calls_nowhere(struct layouts *layouts)
{
	for (size_t i = 0; i < sizeof(struct ruby_functions) / sizeof(u64); i++)
		((u64 *)&layouts->ruby.functions)[i] = NOWHERE;
}

static void ruby_calls_data(struct layouts *layouts)
{
	for (size_t i = 0; i < sizeof(struct ruby_functions) / sizeof(u64); i++)
		((u64 *)&layouts->ruby.functions)[i] = layouts->ruby.vm;
}

static void ruby_has_frames_of_no_size(struct layouts *layouts)
{
	layouts->ruby.offsets.frame_size = 0;
}

static void ruby_has_contexts_far_away(struct layouts *layouts)
{
	layouts->ruby.context.means = TLS_STATIC;
	layouts->ruby.context.place = 1ULL << 40;
}

static void ruby_has_a_vm_far_away(struct layouts *layouts)
{
	layouts->ruby.vm = FAR_AWAY;
}

#define WAY(language, way)                           \
	{                                            \
#language "." #way, language##_##way \
	}
static const struct {
	const char *name;
	void (*spoil)(struct layouts *layouts);
} ways[] = {
	{ "python.sound", sound },
	/* When it has been used: the agent has its own copy. */
	{ "python.calls_nowhere_later", python_calls_nowhere },
	WAY(python, calls_nowhere),
	WAY(python, calls_far_away),
	WAY(python, calls_data),
	WAY(python, loops_everywhere),
	WAY(python, has_none_nowhere),
	WAY(python, has_types_far_away),
	{ "ruby.sound", sound },
	{ "ruby.calls_nowhere_later", ruby_calls_nowhere },
	WAY(ruby, calls_nowhere),
	WAY(ruby, calls_data),
	WAY(ruby, has_frames_of_no_size),
	WAY(ruby, has_contexts_far_away),
	WAY(ruby, has_a_vm_far_away),
};
#define WAYS (sizeof ways / sizeof ways[0])

void fake_layouts_list(void)
{
	for (size_t i = 0; i < WAYS; i++)
		puts(ways[i].name);
}

static bool is_later(const char *way)
{
	return strstr(way, "_later") != NULL;
}

static void spoil(const char *way, struct layouts *layouts)
{
	for (size_t i = 0; i < WAYS; i++) {
		if (strcmp(ways[i].name, way) == 0)
			ways[i].spoil(layouts);
	}
}

static bool read_layout(const char *way, const char *path, u64 load_bias,
			struct layouts *out_layouts)
{
	struct python_image *python = NULL;
	struct ruby_image *ruby = NULL;

	if (way[0] == 'p' && python_image_read(path, &python, NULL) == 0) {
		python_image_layout(python, load_bias, &out_layouts->python);
		python_image_free(python);
		return out_layouts->python.chain != 0;
	}
	if (way[0] == 'r' && ruby_image_read(path, &ruby, NULL) == 0) {
		ruby_image_layout(ruby, load_bias, &out_layouts->ruby);
		ruby_image_free(ruby);
		return out_layouts->ruby.is_known;
	}
	return false;
}

static bool find_layout(const char *way, pid_t pid, struct layouts *out_layouts)
{
	char maps[64], line[4600], path[4200];
	uint64_t start, offset, load_bias;
	struct load_bias bias;
	bool is_found = false;

	snprintf(maps, sizeof maps, "/proc/%d/maps", (int)pid);
	FILE *file = fopen(maps, "re");

	while (file != NULL && !is_found && fgets(line, sizeof line, file) != NULL) {
		if (sscanf(line, "%" SCNx64 "-%*x r-xp %" SCNx64 " %*s %*s %4199s", &start,
			   &offset, path) != 3 ||
		    path[0] != '/')
			continue;
		load_bias_read(path, &bias);
		is_found = load_bias_of(&bias, start, offset, &load_bias) &&
			   read_layout(way, path, load_bias, out_layouts);
	}
	if (file != NULL)
		fclose(file);
	return is_found;
}

bool fake_layouts_put(const char *way, pid_t pid, struct ring_header *ring)
{
	struct layouts layouts = { 0 };

	if (!find_layout(way, pid, &layouts))
		return false;
	if (!is_later(way))
		spoil(way, &layouts);
	ring->python = layouts.python;
	ring->ruby = layouts.ruby;
	ring->has_python = way[0] == 'p';
	ring->has_ruby = way[0] == 'r';
	return true;
}

void fake_layouts_change(const char *way, struct ring_header *ring)
{
	struct layouts layouts = { .python = ring->python, .ruby = ring->ruby };

	if (!is_later(way) || ring->python_walks + ring->ruby_walks == 0)
		return;
	spoil(way, &layouts);
	ring->python = layouts.python;
	ring->ruby = layouts.ruby;
}
