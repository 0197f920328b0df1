/*
 * python - makes the agent an extension module of CPython, for share/python/fathom.py.
 *
 * Python loads an extension module by dlopen(), which returns the library that is loaded already,
 * and calls PyInit_NAME() in it, or initNAME() up to 2.7.  So share/python/fathom.py
 * gets functions that cost no more than any builtin, where ctypes takes milliseconds to import,
 * may be missing, and is many times slower at each call.
 *
 * No header of Python's is used, and one library is for all versions: only the stable ABI is used
 * here, but for 2.7.  A module's definition begins with an object's head, which
 * has another size in free-threaded builds; those ask for a name of their own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>

#include "agent/control/control.h"
#include "agent/control/region_python.h"
#include "agent/core/entries.h"
#include "agent/core/hooks.h"

typedef void *c_function(void *self, void *argument);

/* PyMethodDef */
struct method {
	const char *name;
	c_function *function;
	int flags;
	const char *doc;
};
#define METHOD_NO_ARGUMENT  4
#define METHOD_ONE_ARGUMENT 8

/* PyModuleDef_Slot and its values; Include/moduleobject.h. */
struct slot {
	int number;
	void *value;
};
#define SLOT_INTERPRETERS   3 /* from 3.12 on */
#define SLOT_GIL            4 /* from 3.13 on */
#define PER_INTERPRETER_GIL ((void *)2)
#define GIL_NOT_USED        ((void *)1)
#define HEAD_WORDS          2
#define HEAD_WORDS_THREADED 4
#define LOCAL_IMMORTAL      0xffffffffU
#define API_VERSION_OF_2    1013
#define PYTHON_3_5          0x0305U
#define PYTHON_3_12         0x030cU
#define PYTHON_3_13         0x030dU

/* PyModuleDef, behind the object's head. */
struct definition {
	void *(*init)(void);
	ssize_t index;
	void *copy;
	const char *name;
	const char *doc;
	ssize_t size;
	struct method *methods;
	struct slot *slots;
	void *traverse, *clear, *free;
};

/* The interpreter's functions; those that a version does not have are NULL. */
#define ENTRY_MAP(X)                                                                \
	X(Py_GetVersion, const char *, (void))                                      \
	X(Py_IncRef, void, (void *object))                                          \
	X(PyBool_FromLong, void *, (long value))                                    \
	X(PyErr_Clear, void, (void))                                                \
	X(PyThreadState_Get, void *, (void))                                        \
	X(PyUnicode_AsUTF8AndSize, const char *, (void *object, ssize_t *out_size)) \
	X(PyString_AsStringAndSize, int,                                            \
	  (void *object, const char **out_text, ssize_t *out_size))                 \
	X(PyModuleDef_Init, void *, (void *definition))                             \
	X(Py_InitModule4_64, void *,                                                \
	  (const char *name, struct method *methods, const char *doc, void *self,   \
	   int version))

ENTRY_MAP(ENTRY_TYPE)

static struct entries {
	ENTRY_MAP(ENTRY_MEMBER)
	void *none; /* _Py_NoneStruct */
} api;

void *PyInit__fathom(void);
void *PyInit__fathom_threaded(void);
void init_fathom(void);

/* Finds a name, also in the calling image: an interpreter need not be in the global scope. */
static void *find(void *image, const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return found != NULL || image == NULL ? found : dlsym(image, name);
}

static void find_entries(void *caller)
{
	struct link_map *map = NULL;
	Dl_info info;
	void *image = NULL;

	if (dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map != NULL &&
	    map->l_name[0] != '\0')
		image = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	api.none = find(image, "_Py_NoneStruct");
	ENTRIES_FIND(&api, ENTRY_MAP, find, image);
	if (image != NULL)
		dlclose(image);
}

/* The major version << 8 | the minor one; 0: there is none. */
static u32 version_of_python(void)
{
	const char *text = api.Py_GetVersion != NULL ? api.Py_GetVersion() : "";
	u32 numbers[2] = { 0 };

	for (u32 i = 0; i < 2; i++) {
		while (*text >= '0' && *text <= '9')
			numbers[i] = numbers[i] * 10 + (u32)(*text++ - '0');
		if (*text != '.')
			return 0;
		text++;
	}
	return numbers[0] << 8 | numbers[1];
}

static void *nothing(void)
{
	api.Py_IncRef(api.none);
	return api.none;
}

void control_python_frames(u64 out_frames[2])
{
	out_frames[0] = 0;
	out_frames[1] = 0;
	if (api.PyThreadState_Get != NULL)
		region_python_frames((u64)api.PyThreadState_Get(), out_frames);
}

/* Reads a region's name; NULL if the object is no string: then nothing happens. */
static const char *read_name(void *object, ssize_t *out_size)
{
	const char *text = NULL;

	if (api.PyUnicode_AsUTF8AndSize != NULL)
		text = api.PyUnicode_AsUTF8AndSize(object, out_size);
	else if (api.PyString_AsStringAndSize(object, &text, out_size) < 0)
		text = NULL;
	if (text == NULL)
		api.PyErr_Clear();
	return text;
}

/* A request to begin or end a region. */
struct asked {
	const char *name; /* NULL: nothing is to be done */
	ssize_t size;
	struct region_place place;
	struct region_asking asking;
};

static void read_asked(void *object, struct asked *out)
{
	out->name = control_is_on() ? read_name(object, &out->size) : NULL;
	if (out->name != NULL)
		region_python_place((u64)api.PyThreadState_Get(), &out->place, &out->asking);
}

static void *begin_region(void *self, void *object)
{
	struct asked asked;

	(void)self;
	read_asked(object, &asked);
	if (asked.name != NULL)
		control_begin_region(&asked.place, asked.name, (u64)asked.size, &asked.asking);
	return nothing();
}

static void *end_region(void *self, void *object)
{
	struct asked asked;

	(void)self;
	read_asked(object, &asked);
	if (asked.name != NULL)
		control_end_region(&asked.place, asked.name, (u64)asked.size);
	return nothing();
}

static void *pause_here(void *self, void *none)
{
	(void)self;
	(void)none;
	control_pause();
	return nothing();
}

static void *resume_here(void *self, void *none)
{
	(void)self;
	(void)none;
	control_resume();
	return nothing();
}

static void *is_running(void *self, void *none)
{
	(void)self;
	(void)none;
	return api.PyBool_FromLong(control_is_running());
}

static struct method methods[] = {
	{ "begin", begin_region, METHOD_ONE_ARGUMENT, NULL },
	{ "end", end_region, METHOD_ONE_ARGUMENT, NULL },
	{ "pause", pause_here, METHOD_NO_ARGUMENT, NULL },
	{ "resume", resume_here, METHOD_NO_ARGUMENT, NULL },
	{ "is_running", is_running, METHOD_NO_ARGUMENT, NULL },
	{ 0 },
};

static struct slot slots[3]; /* the last one ends the array */

static struct {
	u64 head[HEAD_WORDS];
	struct definition definition;
} module = { .head = { 1 },
	     .definition = { .name = "_fathom", .methods = methods, .slots = slots } };

/* The head: ob_tid, flags and ob_ref_local, ob_ref_shared, ob_type, as in PyObject_HEAD_INIT(). */
static struct {
	u64 head[HEAD_WORDS_THREADED];
	struct definition definition;
} module_threaded = {
	.head = { 0, (u64)LOCAL_IMMORTAL << 32 },
	.definition = { .name = "_fathom", .methods = methods, .slots = slots },
};

static void fill_slots(u32 version)
{
	u32 count = 0;

	if (version >= PYTHON_3_12)
		slots[count++] = (struct slot){ SLOT_INTERPRETERS, PER_INTERPRETER_GIL };
	if (version >= PYTHON_3_13)
		slots[count++] = (struct slot){ SLOT_GIL, GIL_NOT_USED };
}

static bool has_what_both_need(void)
{
	return api.none != NULL && api.Py_IncRef != NULL && api.PyBool_FromLong != NULL &&
	       api.PyErr_Clear != NULL && api.PyThreadState_Get != NULL;
}

/* NULL without an exception: the caller raises ImportError or SystemError. */
static void *begin_module(void *caller, void *definition)
{
	find_entries(caller);
	const u32 version = version_of_python();

	if (version < PYTHON_3_5 || !has_what_both_need() || api.PyModuleDef_Init == NULL ||
	    api.PyUnicode_AsUTF8AndSize == NULL)
		return NULL;
	fill_slots(version);
	return api.PyModuleDef_Init(definition);
}

AGENT_EXPORT void *PyInit__fathom(void)
{
	return begin_module(__builtin_return_address(0), &module);
}

AGENT_EXPORT void *PyInit__fathom_threaded(void)
{
	return begin_module(__builtin_return_address(0), &module_threaded);
}

AGENT_EXPORT void init_fathom(void)
{
	find_entries(__builtin_return_address(0));
	if (has_what_both_need() && api.PyString_AsStringAndSize != NULL &&
	    api.Py_InitModule4_64 != NULL)
		api.Py_InitModule4_64("_fathom", methods, NULL, NULL, API_VERSION_OF_2);
}
