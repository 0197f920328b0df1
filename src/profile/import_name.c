#include "profile/import_name.h"

#include <string.h>

#include "base/text.h"

void import_name_add(struct text *out, const char *file)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/",
					       "/lib-dynload/" };
	const char *name = file;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		const char *at = strstr(file, folders[i]);

		name = at ? at + strlen(folders[i]) : name;
	}
	if (name == file) {
		const char *at = strstr(file, "/lib/python");

		at = at ? strchr(at + sizeof "/lib/python" - 1, '/') : NULL;
		name = at ? at + 1 : strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	}
	size_t len = strlen(name);

	if (len > 12 && strcmp(name + len - 12, "/__init__.py") == 0)
		len -= 12;
	else if (len > 3 && strcmp(name + len - 3, ".py") == 0)
		len -= 3;
	text_add(out, "import ");
	for (size_t i = 0; i < len; i++)
		text_add_bytes(out, name[i] == '/' ? "." : &name[i], 1);
}
