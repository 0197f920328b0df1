/*
 * A 32-bit program without a C library: burn() is called from four functions and from a handler, whose frames are
 * each of another kind.  Computes for about a second, and ends.
 */
typedef unsigned int u32;

static volatile u32 sink;

static int call(int number, int first, const void *second, const void *third)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(second), "d"(third)
			 : "memory");
	return result;
}

__attribute__((noipa)) static void burn(u32 n)
{
	for (u32 i = 0; i < n; i++)
		sink += i;
}

__attribute__((noipa)) static u32 middle(u32 n)
{
	burn(n);
	return sink;
}

/* Its stack is aligned to 64 bytes: the way back is not a fixed distance. */
__attribute__((noipa)) static u32 realigned(u32 n)
{
	_Alignas(64) volatile u32 table[64];

	table[n % 64] = n;
	burn(n);
	return table[n % 64];
}

__attribute__((noipa)) static u32 sized(u32 n, u32 size)
{
	volatile char *table = __builtin_alloca(size);

	table[size - 1] = 1;
	burn(n);
	return (u32)table[size - 1];
}

__attribute__((noipa)) static u32 deep(u32 n, u32 depth)
{
	if (depth == 0)
		burn(n);
	return depth == 0 ? sink : deep(n, depth - 1) + depth;
}

static volatile u32 handled;

/* The kernel's own trampoline returns from it. */
static void handler(int signal)
{
	handled += (u32)signal;
	burn(1000000);
}

__attribute__((noipa, used)) static void run(void)
{
	const struct {
		void (*handler)(int);
		u32 mask, flags;
		void *restorer;
	} action = { .handler = handler };

	call(67, 10, &action, 0); /* sigaction(SIGUSR1) */
	for (u32 i = 0; i < 50; i++) {
		sink += middle(1000000) + realigned(1000000) + sized(1000000, 100 + i) +
			deep(1000000, 100);
		call(37, call(20, 0, 0, 0), (void *)10, 0); /* kill(getpid()) */
	}
	call(1, 0, 0, 0);
}

/* As in C libraries nothing is around it. */
__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined eip\n"
	"	and $-16, %esp\n"
	"	call run\n"
	"	hlt\n"
	".cfi_endproc\n"
	".size _start, . - _start\n");
