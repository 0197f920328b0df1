#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"

/*
 * Parsing a name takes stack in proportion to its length (libiberty/cp-demangle.c). Up to this
 * length that is safe, so the library's own limit of 1,024 bytes can be lifted: names of
 * templates have some thousands.
 */
#define MANGLED_LEN_MAX 4096
/*
 * Limit on the output: a short mangled name can expand to gigabytes, as substitutions can
 * double at each step.
 */
#define DEMANGLED_LEN_MAX 65536

struct output {
	struct text *text;
	jmp_buf too_long;
};

static void add_piece(const char *piece, size_t len, void *context)
{
	struct output *output = context;

	if (output->text->len + len > DEMANGLED_LEN_MAX)
		longjmp(output->too_long, 1);
	text_add_bytes(output->text, piece, len);
}

/* The demangler can only be stopped by leaving its callback; it holds no memory there. */
static bool demangle_into(struct text *text, const char *mangled)
{
	const int options = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;
	struct output output = { .text = text };

	if (setjmp(output.too_long) != 0)
		return false;
	if (rust_demangle_callback(mangled, DMGL_PARAMS | DMGL_ANSI, add_piece, &output))
		return true;
	text_clear(text);
	return cplus_demangle_v3_callback(mangled, options, add_piece, &output) != 0;
}

bool is_mangled_name(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

static const char *keep(struct intern *strings, const char *name, size_t len)
{
	return intern_get(strings, intern_add(strings, name, len), NULL);
}

const char *demangle(struct intern *strings, const char *name)
{
	CLEANUP(text_done) struct text text = { 0 };
	const char *version = strchr(name + (*name != '\0'), '@');
	size_t len = version ? (size_t)(version - name) : strlen(name);

	if ((is_mangled_name(name) || strncmp(name, "_GLOBAL_", 8) == 0) &&
	    len <= MANGLED_LEN_MAX) {
		char mangled[MANGLED_LEN_MAX + 1];
		memcpy(mangled, name, len);
		mangled[len] = '\0';
		if (demangle_into(&text, mangled) && text.len > 0)
			return keep(strings, text.data, text.len);
	}
	return keep(strings, name, len);
}
