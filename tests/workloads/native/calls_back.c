/*
 * calls_back - functions of compiled code that call what they are given, at one depth of the stack
 * and from different places.
 */
typedef int called(int);

__attribute__((noinline)) static int call_one(called *call, int i)
{
	return call(i) + 1;
}

__attribute__((noinline)) static int call_two(called *call, int i)
{
	return call(i) + 2;
}

int calls_back_one(called *call, int i)
{
	return call_one(call, i) + 10;
}

int calls_back_two(called *call, int i)
{
	return call_two(call, i) + 20;
}
