/*
 * unloads_python - a program that embeds Python, unloads it, and runs code where it was.
 *
 * The first argument is a libpython, the second how often the code goes round.  Prints what
 * became of it: "ran" if the code did, or why there was no place for it.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE  4096UL
#define PAGES 16UL

#ifdef __x86_64__
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const unsigned char spinning[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
					  0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
#define TRAPPING 0xcc
#else
/*
 * stp x29, x30, [sp, -16]!; mov x29, sp; 1: subs x0, x0, 1; b.ne 1b;
 * ldp x29, x30, [sp], 16; ret
 */
static const unsigned char spinning[] = { 0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91,
					  0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54,
					  0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6 };
#define TRAPPING 0
#endif

static const char program[] = "def spin(n):\n"
			      "    while n:\n"
			      "        n -= 1\n"
			      "spin(3000000)\n";

/* Where its loop was; NULL: it is none. */
static char *run_python(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (library == NULL)
		return NULL;
	void (*begin)(int);
	int (*run)(const char *);
	void (*end)(void);

	/* As dlsym(3) has it: ISO C knows no way from an object's pointer to a function's. */
	*(void **)&begin = dlsym(library, "Py_InitializeEx");
	*(void **)&run = dlsym(library, "PyRun_SimpleString");
	*(void **)&end = dlsym(library, "Py_Finalize");
	char *loop = dlsym(library, "_PyEval_EvalFrameDefault");

	if (begin == NULL || run == NULL || end == NULL || loop == NULL)
		return NULL;
	begin(0);
	run(program);
	end();
	dlclose(library);
	return loop;
}

int main(int argc, char **argv)
{
	char *const loop = argc > 2 ? run_python(argv[1]) : NULL;
	char *const first = (char *)((uintptr_t)loop & ~(PAGE - 1));
	void (*spin)(uint64_t);

	if (loop == NULL) {
		printf("no such library\n");
		return 1;
	}
	if (mmap(first, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != first) {
		printf("it stays loaded\n");
		return 0;
	}
	memset(first, TRAPPING, PAGES * PAGE);
	memcpy(loop, spinning, sizeof spinning);
	__builtin___clear_cache(first, first + PAGES * PAGE);
	memcpy(&spin, &loop, sizeof spin);
	spin(strtoull(argv[2], NULL, 10));
	printf("ran\n");
	return 0;
}
