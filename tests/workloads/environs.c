/*
 * environs - prints what a program finds of its environment, by every way there is.
 *
 * Run with and without a profiler the lines are the same.
 *
 *   environs          looks
 *   environs clear    clears it, and executes itself
 *   environs retitle  writes over its arguments and environment, as daemons do
 *   environs huge N   has N entries more, and executes itself with them
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;

static int is_ours_to_print(const char *entry)
{
	return strncmp(entry, "LD_", 3) == 0 || strncmp(entry, "FATHOM", 6) == 0;
}

static void print_array(const char *name, char **entries)
{
	int count = 0;

	for (; entries != NULL && entries[count] != NULL; count++)
		if (is_ours_to_print(entries[count]))
			printf("%s has %s\n", name, entries[count]);
	printf("%s has %d entries, the last %s\n", name, count,
	       count > 0 ? entries[count - 1] : "is none");
}

/* Behind the last entry: what libraries that look there find. */
static void print_auxiliary(char **entries)
{
	while (*entries != NULL)
		entries++;
	for (const unsigned long *pair = (const unsigned long *)(entries + 1);
	     pair[0] != AT_NULL; pair += 2) {
		if (pair[0] == AT_PAGESZ || pair[0] == AT_UID)
			printf("auxiliary %lu is %lu\n", pair[0], pair[1]);
		if (pair[0] == AT_RANDOM || pair[0] == AT_SYSINFO_EHDR)
			printf("auxiliary %lu is what getauxval() has: %d\n", pair[0],
			       getauxval(pair[0]) == pair[1]);
	}
}

/* /proc/self/environ, and whether something is behind its last entry. */
static void print_proc(void)
{
	static char bytes[1 << 20];
	const int fd = open("/proc/self/environ", O_RDONLY);
	ssize_t len = 0, got;

	while ((got = read(fd, bytes + len, sizeof bytes - (size_t)len)) > 0)
		len += got;
	close(fd);
	int entries = 0;
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(bytes + at) + 1) {
		entries++;
		if (is_ours_to_print(bytes + at) || bytes[at] == '\0')
			printf("/proc/self/environ has %s\n", bytes + at);
	}
	printf("/proc/self/environ has %zd bytes, %d entries\n", len, entries);
}

/* What lies between the first argument and the last entry: nothing but text. */
static void print_block(char **argv, char **entries)
{
	const char *last = NULL, *end;
	int is_contiguous = 1;

	for (char **at = argv; *at != NULL; at++) {
		is_contiguous &= last == NULL || last == *at;
		last = *at + strlen(*at) + 1;
	}
	for (char **at = entries; *at != NULL; at++) {
		is_contiguous &= last == *at;
		last = *at + strlen(*at) + 1;
	}
	end = (const char *)getauxval(AT_EXECFN);
	int found = 0;
	for (const char *at = last; at != NULL && at < end; at++)
		found += *at != '\0';
	printf("arguments and environment are %s, bytes of others behind them: %d\n",
	       is_contiguous ? "one block" : "scattered", found);
}

static void look(char **argv, char **entries)
{
	print_array("main's argument", entries);
	print_array("environ", environ);
	printf("they are %s\n", entries == environ ? "one" : "two");
	print_auxiliary(entries);
	print_proc();
	print_block(argv, entries);
	printf("getenv: LD_PRELOAD %s, FATHOM_RECORDER %s\n",
	       getenv("LD_PRELOAD") != NULL ? getenv("LD_PRELOAD") : "(none)",
	       getenv("FATHOM_RECORDER") != NULL ? getenv("FATHOM_RECORDER") : "(none)");
	printf("name %s\n", program_invocation_short_name);
	fflush(stdout);
}

/* As setproctitle() does: the title takes the place of the whole block. */
static void retitle(char **argv, char **entries)
{
	char *end = argv[0];
	char title[4096] = { 0 };

	for (char **at = argv; *at != NULL; at++)
		end = *at + strlen(*at) + 1;
	for (char **at = entries; *at != NULL; at++)
		end = *at + strlen(*at) + 1;
	const size_t size = (size_t)(end - argv[0]);

	memset(argv[0], '\0', size);
	memset(argv[0], 'x', size - 1);
	const int fd = open("/proc/self/cmdline", O_RDONLY);
	const ssize_t len = read(fd, title, sizeof title - 1);

	close(fd);
	printf("a title of %zu bytes is shown with %zd\n", size, len);
}

static int execute_again(char **entries)
{
	char *const argv[] = { "environs", NULL };

	execve("/proc/self/exe", argv, entries);
	printf("execve fails with %d\n", errno);
	return 1;
}

static int with_many(int count)
{
	char **entries = calloc((size_t)count + 2, sizeof *entries);

	for (int i = 0; i < count; i++) {
		entries[i] = malloc(64);
		snprintf(entries[i], 64, "ENTRY_%d=some value or other %d", i, i);
	}
	entries[count] = malloc(100001);
	memset(entries[count], 'v', 100000);
	memcpy(entries[count], "LONG=", 5);
	entries[count][100000] = '\0';
	entries[count + 1] = NULL;
	return execute_again(entries);
}

int main(int argc, char **argv, char **entries)
{
	const char *what = argc > 1 ? argv[1] : "look";

	if (strcmp(what, "retitle") == 0)
		retitle(argv, entries);
	else if (strcmp(what, "huge") == 0)
		return with_many(argc > 2 ? atoi(argv[2]) : 1000);
	else if (strcmp(what, "clear") == 0)
		return clearenv() != 0 || execute_again(environ);
	else
		look(argv, entries);
	return 0;
}
