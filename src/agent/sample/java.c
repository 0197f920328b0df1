#include "agent/sample/java.h"

#include <link.h>
#include <string.h>

#include "agent/core/images.h"

static bool is_there;

void java_look(const void *caller)
{
	static const char file[] = "/libjvm.so";
	const struct link_map *image = is_there ? NULL : images_at(caller);
	const size_t len = image != NULL ? strlen(image->l_name) : 0;

	if (len >= sizeof file - 1 &&
	    strcmp(image->l_name + len - (sizeof file - 1), file) == 0)
		__atomic_store_n(&is_there, true, __ATOMIC_RELAXED);
}

bool java_may_be_there(void)
{
	return images_find_object == NULL || __atomic_load_n(&is_there, __ATOMIC_RELAXED);
}
