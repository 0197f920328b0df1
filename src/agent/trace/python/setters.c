#include "agent/trace/python/setters.h"

#include <link.h>
#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/core/images.h"
#include "agent/trace/area.h"
#include "agent/trace/python/methods.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/profile_function.h"
#include "agent/trace/python/api.h"
#include "agent/trace/word.h"

/* PyModuleDef, behind its head. */
struct module_definition {
	u64 head[5];
	const char *name, *doc;
	s64 size;
	struct trace_method *methods;
};

/* Functions of ours, each of which interposes one; by octal numbers. */
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define HALF(X, n)  EIGHT(X, n##0) EIGHT(X, n##1) EIGHT(X, n##2) EIGHT(X, n##3)
#define REST(X, n)  EIGHT(X, n##4) EIGHT(X, n##5) EIGHT(X, n##6) EIGHT(X, n##7)
#define SLOT_MAP(X) HALF(X, 0) REST(X, 0)
#define SLOTS       64U

static struct {
	trace_method_function *theirs[SLOTS];
	u32 count;
} setters;

static void *call(u32 slot, void *self, void *second, void *third, void *fourth)
{
	const u64 before = trace_python_function();
	void *result = setters.theirs[slot](self, second, third, fourth);
	const u64 after = trace_python_function();

	if (after == before)
		return result;
	if (after == 0)
		trace_python_put_back_all();
	else if (!trace_python_has_function())
		trace_note_other_tool();
	return result;
}

#define X(slot)                                                                     \
	static void *on_##slot(void *self, void *second, void *third, void *fourth) \
	{                                                                           \
		return call(slot, self, second, third, fourth);                     \
	}
SLOT_MAP(X)
#undef X

static trace_method_function *const ours[SLOTS] = {
#define X(slot) [slot] = on_##slot,
	SLOT_MAP(X)
#undef X
};

/* The image that a module is of. */
struct image {
	u64 address; /* in it */
	u64 low, high;
	bool sets;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct image *image = data;

	(void)size;
	image->low = ~0ULL;
	image->high = 0;
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const u64 low = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		image->low = low < image->low ? low : image->low;
		image->high = low + segment->p_memsz > image->high ? low + segment->p_memsz
								   : image->high;
	}
	if (image->address < image->low || image->address >= image->high)
		return 0;
	image->sets = images_wanted(info, "PyEval_SetProfile") == IMAGES_WANTED ||
		      images_wanted(info, "_PyEval_SetProfile") == IMAGES_WANTED ||
		      images_wanted(info, "PyInterpreterState_ThreadHead") == IMAGES_WANTED;
	return 1;
}

static bool is_ours(trace_method_function *function)
{
	for (u32 i = 0; i < setters.count; i++) {
		if (ours[i] == function)
			return true;
	}
	return false;
}

/* Those of another module's, which this one has too, are left alone. */
static void interpose_all(struct trace_method *methods, const struct image *image)
{
	for (u32 i = 0; methods != NULL && methods[i].name != NULL && i < TRACE_METHODS_MAX;
	     i++) {
		const u64 address = (u64)methods[i].function;

		if (setters.count == SLOTS || is_ours(methods[i].function) ||
		    address < image->low || address >= image->high)
			continue;
		if (trace_method_interpose(&methods[i], ours[setters.count],
					   &setters.theirs[setters.count]))
			setters.count++;
	}
}

static void interpose_types(void *module, const struct image *image)
{
	const struct python_layout *layout = trace_layout();
	void *key, *value;
	s64 at = 0;

	void *names = python_api.PyModule_GetDict(module);

	while (names != NULL && python_api.PyDict_Next(names, &at, &key, &value) != 0) {
		const u64 type = trace_word((u64)value, trace_objects.object_type);

		if (type == layout->type_type)
			interpose_all(trace_methods_of_type(layout, (u64)value), image);
	}
}

void trace_setters_meet(void *module)
{
	struct module_definition *definition = python_api.PyModule_GetDef(module);
	struct image image = { .address = (u64)definition };

	if (definition == NULL || dl_iterate_phdr(look_at, &image) == 0 || !image.sets)
		return;
	interpose_all(definition->methods, &image);
	interpose_types(module, &image);
}
