/* sets_profile - a module of Python's that sets profile functions in C, as profilers do. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

static int ignore(PyObject *object, PyFrameObject *frame, int what, PyObject *argument)
{
	(void)object;
	(void)frame;
	(void)what;
	(void)argument;
	return 0;
}

static PyObject *begin(PyObject *self, PyObject *nothing)
{
	(void)self;
	(void)nothing;
	PyEval_SetProfile(ignore, NULL);
	Py_RETURN_NONE;
}

static PyObject *end(PyObject *self, PyObject *nothing)
{
	(void)self;
	(void)nothing;
	PyEval_SetProfile(NULL, NULL);
	Py_RETURN_NONE;
}

#if PY_VERSION_HEX < 0x03080000
static void set_all(Py_tracefunc function)
{
	PyThreadState *state = PyInterpreterState_ThreadHead(PyThreadState_Get()->interp);

	for (; state != NULL; state = state->next) {
		state->c_profilefunc = function;
		state->use_tracing = function != NULL;
	}
}

static PyObject *begin_all(PyObject *self, PyObject *nothing)
{
	(void)self;
	(void)nothing;
	set_all(ignore);
	Py_RETURN_NONE;
}

static PyObject *end_all(PyObject *self, PyObject *nothing)
{
	(void)self;
	(void)nothing;
	set_all(NULL);
	Py_RETURN_NONE;
}
#endif

#if PY_VERSION_HEX < 0x03070000
#define FAST METH_FASTCALL
#else
#define FAST (METH_FASTCALL | METH_KEYWORDS)
#endif

/* How many arguments it has without a name and with one, which is in a fourth place. */
static PyObject *count(PyObject *self, PyObject *const *arguments, Py_ssize_t unnamed,
		       PyObject *names)
{
	(void)self;
	(void)arguments;
	return Py_BuildValue("nn", unnamed, names != NULL ? PyTuple_GET_SIZE(names) : 0);
}

static PyMethodDef methods[] = {
	{ "count", (PyCFunction)(void (*)(void))count, FAST, NULL },
	{ "begin", begin, METH_NOARGS, NULL },
	{ "end", end, METH_NOARGS, NULL },
#if PY_VERSION_HEX < 0x03080000
	{ "begin_all", begin_all, METH_NOARGS, NULL },
	{ "end_all", end_all, METH_NOARGS, NULL },
#endif
	{ NULL, NULL, 0, NULL },
};

static PyMethodDef methods_of_type[] = {
	{ "begin", begin, METH_NOARGS, NULL },
	{ "end", end, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyTypeObject type = { PyVarObject_HEAD_INIT(NULL, 0) };

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "sets_profile", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_sets_profile(void)
{
	PyObject *made = PyModule_Create(&module);

	type.tp_name = "sets_profile.Profiler";
	type.tp_basicsize = sizeof(PyObject);
	type.tp_flags = Py_TPFLAGS_DEFAULT;
	type.tp_methods = methods_of_type;
	type.tp_new = PyType_GenericNew;
	if (made == NULL || PyType_Ready(&type) < 0)
		return NULL;
	Py_INCREF(&type);
	PyModule_AddObject(made, "Profiler", (PyObject *)&type);
	return made;
}
