/*
 * import_name - what the loading of a module is called: "import werkzeug.serving" of Python, "require
 * sinatra/base" of Ruby.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct text;

/*
 * Of the module in that source file.  root: so many bytes of the path are no part of the name of one
 * of Python's that is not installed; 0: not known, and it is called by its file's name.
 */
void import_name_add(struct text *out, const char *file, size_t root);
/* Whether the function is a module's or a program's own code: "<module>", "<main>". */
bool import_name_is_body(const char *function);
