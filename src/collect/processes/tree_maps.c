/*
 * Executable mappings of process images, as the kernel reports them and from /proc/<pid>/maps.
 */
#include "collect/processes/tree.h"

#include <string.h>

#include "base/memory.h"
#include "collect/processes/generated_code.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/processes/own_agent.h"
#include "collect/events/sideband_event.h"
#include "collect/processes/tree_internal.h"
#include "record/writer.h"
#include "target/build_id.h"
#include "target/maps.h"

static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) != 0 &&
	       strncmp(path, "/dev/zero", 9) != 0 && strncmp(path, "/SYSV", 5) != 0;
}

/* Finds the module of a mapping; all memory without a file is one module for each image. */
static void tree_place_module(struct tree *tree, struct image *image, const char *path,
			      const uint8_t *build_id, size_t build_id_len,
			      struct module_place *place)
{
	const struct own_agent_mapping mapping = { .path = path,
						   .pid = image->pid,
						   .start = place->start,
						   .file_offset = place->file_offset,
						   .build_id = build_id,
						   .build_id_len = build_id_len };

	if (own_agent_is(&mapping, tree->agent_path))
		path = tree->agent_path;

	struct recording_module module = { .kind = MODULE_KIND_ELF, .path = path };

	if (strcmp(path, "[vdso]") == 0) {
		module.kind = MODULE_KIND_VDSO;
		place->file_offset = 0;
	} else if (!is_file(path)) {
		module = (struct recording_module){ .kind = MODULE_KIND_JIT, .path = "[anon]" };
		if (image->jit_module == 0) {
			recording_writer_add_module(tree->writer, &module, &image->jit_module);
			generated_code_begin(image);
		}
		place->module = image->jit_module;
		return;
	} else if (build_id_len != 0) {
		module.build_id_len = place->build_id_len = (uint8_t)build_id_len;
		memcpy(module.build_id, build_id, build_id_len);
		memcpy(place->build_id, build_id, build_id_len);
	} else {
		module.build_id_len = (uint8_t)elf_build_id_read(path, module.build_id);
	}
	place->has_file = true;
	if (module.kind == MODULE_KIND_ELF)
		place->path = intern_get(&tree->paths, intern_string(&tree->paths, path), NULL);
	recording_writer_add_module(tree->writer, &module, &place->module);
}

static void strip_deleted(char *path)
{
	const char suffix[] = " (deleted)";
	const size_t len = strlen(path), suffix_len = sizeof suffix - 1;

	if (len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0)
		path[len - suffix_len] = '\0';
}

static void tree_add_place(const struct tree *tree, struct image *image,
			   const struct module_place *place)
{
	mappings_add(image->mappings, place);
	if (tree->mapped != NULL)
		tree->mapped(tree->context, image, place);
}

void tree_take_map(struct tree *tree, const struct sideband_event *event)
{
	struct image *image = tree_find(tree, event->pid);
	struct module_place place = { .start = event->start,
				      .end = event->end,
				      .file_offset = event->file_offset,
				      .from_ns = event->time_ns,
				      .to_ns = UINT64_MAX };
	CLEANUP(freep) char *path = xstrdup(event->name);

	if (image == NULL || image->mappings == NULL)
		return;
	strip_deleted(path);
	/* The kernel maps the program before its loader (fs/binfmt_elf.c). */
	if (image->has_program && image->exe == NULL && is_file(path))
		image->exe = xstrdup(path);
	tree_place_module(tree, image, path, event->build_id, event->build_id_len, &place);
	tree_add_place(tree, image, &place);
}

bool tree_read_maps(struct tree *tree, struct image *image, uint64_t time_ns)
{
	CLEANUP(maps_freep) struct maps *maps = NULL;

	if (maps_read(image->pid, &maps, NULL) < 0 || maps_count(maps) == 0)
		return false;
	if (image->mappings == NULL)
		image->mappings = mappings_new();
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);
		struct module_place place = { .start = mapping->start,
					      .end = mapping->end,
					      .file_offset = mapping->file_offset,
					      .from_ns = time_ns,
					      .to_ns = UINT64_MAX };

		/* The vsyscall page is the kernel's, and in every process. */
		if (!mapping->is_executable || strcmp(mapping->path, "[vsyscall]") == 0)
			continue;
		tree_place_module(tree, image, mapping->path, NULL, 0, &place);
		if (!mappings_has(image->mappings, &place))
			tree_add_place(tree, image, &place);
	}
	return true;
}
