#include "profile/import_name.h"

#include <string.h>

#include "base/text.h"

/*
 * Adds the name as required: "sinatra/base" for
 * /var/lib/gems/3.1.0/gems/sinatra-3.0.5/lib/sinatra/base.rb.
 */
static void add_require(struct text *out, const char *file, size_t len)
{
	static const char *const folders[] = { "/lib/", "/vendor_ruby/", "/site_ruby/" };
	const char *name = file;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		for (const char *at = file; (at = strstr(at, folders[i])) != NULL; at++)
			if (at + strlen(folders[i]) > name)
				name = at + strlen(folders[i]);
	/* The standard library: /usr/lib/ruby/3.1.0/json/common.rb. */
	if (strncmp(name, "ruby/", 5) == 0 && strchr(name + 5, '/'))
		name = strchr(name + 5, '/') + 1;
	if (name == file && strrchr(file, '/'))
		name = strrchr(file, '/') + 1;
	text_add(out, "require ");
	text_add_bytes(out, name, (size_t)(file + len - name));
}

void import_name_add(struct text *out, const char *file, size_t root)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/",
					       "/lib-dynload/" };
	const char *name = file;
	const size_t whole = strlen(file);

	if (whole > 3 && strcmp(file + whole - 3, ".rb") == 0) {
		add_require(out, file, whole - 3);
		return;
	}
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		const char *at = strstr(file, folders[i]);

		name = at ? at + strlen(folders[i]) : name;
	}
	if (name == file && root > 0 && root < whole) {
		name = file + root;
	} else if (name == file) {
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

bool import_name_is_body(const char *function)
{
	return strcmp(function, "<module>") == 0 || strcmp(function, "<main>") == 0 ||
	       strcmp(function, "<top (required)>") == 0;
}
