#include "agent/trace/python/api.h"

#include <dlfcn.h>
#include <link.h>

#include "abi/python_layout.h"
#include "agent/core/images.h"
#include "agent/trace/area.h"

#define FILE_INPUT 257 /* Py_file_input (Include/compile.h): what is compiled is a module */

struct python_api python_api;

/* The interpreter's image, if it was loaded while the program ran. */
static struct link_map *dlopened_image(void)
{
	const struct python_layout *layout = trace_layout();
	const struct link_map *image =
		layout != NULL ? images_at((void *)layout->loop[0].start) : NULL;

	return image != NULL && !images_is_lasting(image) ? (struct link_map *)image : NULL;
}

void *trace_symbol(const char *name)
{
	struct link_map *image = dlopened_image();

	/* A handle as dlopen() returns it is the address of the struct link_map. */
	return dlsym(image != NULL ? (void *)image : RTLD_DEFAULT, name);
}

/*
 * Lets dlsym() search the image.  Where it was loaded as a dependency of a plugin (uwsgi's, or
 * Apache's mod_wsgi.so), the linker has no list of what to search for it, and dlsym() would read
 * through a null pointer.  Opening it makes the list, which lasts as long as the image.
 */
static void make_searchable(struct link_map *image)
{
	Lmid_t namespace;

	if (image == NULL || dlinfo(image, RTLD_DI_LMID, &namespace) != 0)
		return;
	void *handle = dlmopen(namespace, image->l_name, RTLD_LAZY | RTLD_NOLOAD);

	if (handle != NULL)
		dlclose(handle);
}

static void *find(void *unused, const char *name)
{
	(void)unused;
	return trace_symbol(name);
}

void trace_api_find(void)
{
	static const char *const later[] = { PYTHON_API_LATER_MAP(ENTRY_NAME) };

	make_searchable(dlopened_image());
	const bool has_all = ENTRIES_FIND(&python_api, PYTHON_API_MAP, find, NULL);
	void *get_state = trace_symbol("PyThreadState_GetUnchecked");

	entries_find(&python_api.PySys_AddAuditHook, later, sizeof later / sizeof *later, find,
		     NULL);
	if (get_state == NULL)
		get_state = trace_symbol("_PyThreadState_UncheckedGet");
	*(void **)&python_api.get_state = get_state;
	python_api.is_whole = has_all && get_state != NULL;
}

/* Clears the dict first: its functions refer back to it. */
void trace_api_drop_names(void *names)
{
	if (names == NULL)
		return;
	python_api.PyDict_Clear(names);
	python_api.Py_DecRef(names);
}

void *trace_api_compile(const char *source)
{
	return python_api.Py_CompileString(source, "", FILE_INPUT);
}

void *trace_api_run(void *code)
{
	void *builtins = python_api.PyEval_GetBuiltins();
	void *names = builtins != NULL ? python_api.PyDict_New() : NULL;
	void *result = NULL;

	if (names != NULL &&
	    python_api.PyDict_SetItemString(names, "__builtins__", builtins) == 0)
		result = python_api.PyEval_EvalCode(code, names, names);
	if (result != NULL) {
		python_api.Py_DecRef(result);
		return names;
	}
	python_api.PyErr_Clear();
	trace_api_drop_names(names);
	return NULL;
}

bool trace_api_run_for_number(void *code, long *out_number)
{
	void *names = trace_api_run(code);
	void *number = names != NULL ? python_api.PyDict_GetItemString(names, "r") : NULL;

	if (number != NULL)
		*out_number = python_api.PyLong_AsLong(number);
	trace_api_drop_names(names);
	return number != NULL;
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
