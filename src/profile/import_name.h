/*
 * import_name - what the loading of a module is called: "import werkzeug.serving" of Python, "require
 * sinatra/base" of Ruby.
 */
#pragma once
#include <stdbool.h>

struct text;

/* Of the module in that source file; what is in no package is called by its file's name. */
void import_name_add(struct text *out, const char *file);
/* Whether the function is a module's or a program's own code: "<module>", "<main>". */
bool import_name_is_body(const char *function);
