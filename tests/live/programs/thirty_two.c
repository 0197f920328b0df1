/*
 * A 32-bit program without a C library: computes for some tenths of a second, prints "ready", and ends with
 * its standard input.
 */
static volatile unsigned int sink;

static int call(int number, int first, const void *second, int third)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(second), "d"(third)
			 : "memory");
	return result;
}

__attribute__((noinline)) static void burn(void)
{
	for (unsigned int i = 0; i < 300000000; i++)
		sink += i;
}

void _start(void)
{
	char byte;

	burn();
	call(4, 1, "ready\n", 6);
	while (call(3, 0, &byte, 1) > 0)
		;
	call(1, 0, 0, 0);
}
