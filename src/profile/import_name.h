/*
 * import_name - names the loading of a module: "import werkzeug.serving" in Python, "require
 * sinatra/base" in Ruby.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct text;

/*
 * For the module in that source file. root: the length of the path's part that is not in the
 * name, of a Python module that is not installed; 0: unknown, and the file's name is used.
 */
void import_name_add(struct text *out, const char *file, size_t root);
/* Whether the function is the code of a module or program itself: "<module>", "<main>". */
bool import_name_is_body(const char *function);
