/* extension - a module of Python's whose function calls three more. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static volatile long sink;

__attribute__((noinline)) static long part_of_it(long i)
{
	sink += i;
	return i + 1;
}

__attribute__((noinline)) static PyObject *compute(PyObject *self, PyObject *argument)
{
	const long i = PyLong_AsLong(argument);

	(void)self;
	return PyLong_FromLong(part_of_it(i) + part_of_it(i + 1) + part_of_it(i + 2));
}

static PyMethodDef methods[] = {
	{ "compute", compute, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "extension", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_extension(void)
{
	return PyModule_Create(&module);
}
