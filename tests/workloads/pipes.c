/*
 * pipes - popen(), pclose() and fclose(), and how they went.
 *
 *   pipes          each kind of stream, and errors
 *   pipes storm N  N popen() from each of four threads, while another sets the environment
 *
 * Run with and without a profiler the lines are the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void print_popen(const char *command, const char *mode)
{
	char line[256];

	fflush(stdout);
	errno = 55;
	FILE *file = popen(command, mode);

	printf("popen(%s, %s): %s, errno %d\n", command, mode,
	       file != NULL ? "a stream" : "NULL", errno);
	if (file == NULL)
		return;
	printf("descriptor flags %d\n", fcntl(fileno(file), F_GETFD));
	if (strchr(mode, 'r') != NULL) {
		while (fgets(line, sizeof line, file) != NULL)
			fputs(line, stdout);
		printf("writing to it: %d\n", fputc('x', file) == EOF);
	} else {
		fputs("written\n", file);
	}
	errno = 55;
	const int status = pclose(file);

	printf("pclose: %x, errno %d\n", status, errno);
}

static void try_popen(void)
{
	FILE *streams[80];
	int sum = 0;

	print_popen("env; exit 3", "r");
	print_popen("cat; exit 4", "w");
	print_popen("echo closing", "re");
	print_popen("cat >/dev/null; kill -TERM $$", "we");
	print_popen("true", "rw");
	print_popen("true", "x");
	print_popen("no_such_command", "r");
	/* More than a table holds, each of which must not keep the others' ends open. */
	for (int i = 0; i < 80; i++)
		streams[i] = popen("cat >/dev/null; exit 2", "w");
	for (int i = 0; i < 80; i++)
		sum += i % 2 ? WEXITSTATUS(pclose(streams[i])) : fclose(streams[i]) >> 8;
	printf("80 streams end with %d together\n", sum);
	FILE *file = popen("cat >/dev/null", "w");
	FILE *other = popen("ls /proc/self/fd | wc -l", "r");
	char line[64];

	while (fgets(line, sizeof line, other) != NULL)
		printf("descriptors in the second: %s", line);
	printf("%x %x\n", pclose(file), pclose(other));
	signal(SIGCHLD, SIG_IGN);
	print_popen("exit 3", "r");
}

static atomic_int is_storm_over;

static void *set_entries(void *unused)
{
	char name[32];

	(void)unused;
	for (unsigned i = 0; !atomic_load(&is_storm_over); i++) {
		snprintf(name, sizeof name, "STORM_%u", i % 50);
		setenv(name, "some value", 1);
		usleep(100);
	}
	return NULL;
}

static void *open_pipes(void *count)
{
	long wrong = 0;
	char line[64];

	for (long i = 0; i < (long)count; i++) {
		FILE *file = popen("echo $FIXED; exit 3", "r");

		wrong += file == NULL || fgets(line, sizeof line, file) == NULL ||
			 strcmp(line, "value\n") != 0;
		wrong += file == NULL || WEXITSTATUS(pclose(file)) != 3;
	}
	return (void *)wrong;
}

static void try_storm(long count)
{
	pthread_t threads[5];
	void *wrong;

	setenv("FIXED", "value", 1);
	/* The array is not to move under a reader: that would be the program's fault. */
	for (int i = 0; i < 50; i++) {
		char name[32];

		snprintf(name, sizeof name, "STORM_%d", i);
		setenv(name, "some value", 1);
	}
	pthread_create(&threads[4], NULL, set_entries, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, open_pipes, (void *)count);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		printf("of %ld, %ld went wrong\n", count, (long)wrong);
	}
	atomic_store(&is_storm_over, 1);
	pthread_join(threads[4], NULL);
	for (char **entry = environ; *entry != NULL; entry++)
		if (strncmp(*entry, "LD_", 3) == 0 || strncmp(*entry, "FATHOM", 6) == 0)
			printf("environ has %s\n", *entry);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "storm") == 0)
		try_storm(argc > 2 ? atol(argv[2]) : 250);
	else
		try_popen();
	return 0;
}
