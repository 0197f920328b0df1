/*
 * import_name - what the loading of a Python module is called: "import werkzeug.serving".
 */
#pragma once

struct text;

/* Of the module in that source file; what is in no package is called by its file's name. */
void import_name_add(struct text *out, const char *file);
