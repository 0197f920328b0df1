/* sets_profile - a module of Python's that sets profile functions in C, as profilers do. */
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

static PyMethodDef methods_of_type[] = {
	{ "begin", begin, METH_NOARGS, NULL },
	{ "end", end, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyTypeObject type = { PyVarObject_HEAD_INIT(NULL, 0) };

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "sets_profile", NULL, -1, NULL, NULL, NULL, NULL, NULL
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
