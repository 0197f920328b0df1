#include "agent/trace/python/symbols.h"

#include <dlfcn.h>
#include <link.h>

#include "abi/python_layout.h"
#include "agent/core/images.h"
#include "agent/trace/area.h"

void *trace_symbol(const char *name)
{
	const struct python_layout *layout = trace_layout();
	const struct link_map *image =
		layout != NULL ? images_at((void *)layout->loop[0].start) : NULL;

	/* What dlopen() gives is the address of the linker's record. */
	if (image != NULL && !images_is_lasting(image))
		return dlsym((void *)image, name);
	return dlsym(RTLD_DEFAULT, name);
}

void *trace_symbol_find(void *unused, const char *name)
{
	(void)unused;
	return trace_symbol(name);
}

void *trace_symbol_of_state(void)
{
	void *found = trace_symbol("PyThreadState_GetUnchecked");

	return found != NULL ? found : trace_symbol("_PyThreadState_UncheckedGet");
}

static int wants(struct dl_phdr_info *info, size_t size, void *name)
{
	(void)size;
	return images_wanted(info, name) == IMAGES_WANTED;
}

bool trace_symbol_is_wanted(const char *name)
{
	return dl_iterate_phdr(wants, (void *)name) != 0;
}
