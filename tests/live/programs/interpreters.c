/*
 * A program that is linked with Python, as servers are, and makes interpreters in it: the
 * argument is what each of them executes, the first one and three others.
 */
#include <stddef.h>

void Py_InitializeEx(int);
void Py_Finalize(void);
int PyRun_SimpleStringFlags(const char *, void *);
void *PyThreadState_Get(void);
void *PyThreadState_Swap(void *);
void *Py_NewInterpreter(void);
void Py_EndInterpreter(void *);

int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	Py_InitializeEx(0);
	void *first = PyThreadState_Get();

	PyRun_SimpleStringFlags(argv[1], NULL);
	for (int i = 0; i < 3; i++) {
		void *other = Py_NewInterpreter();

		if (other == NULL)
			return 2;
		PyRun_SimpleStringFlags(argv[1], NULL);
		Py_EndInterpreter(other);
		PyThreadState_Swap(first);
	}
	Py_Finalize();
	return 0;
}
