/*
 * survivor - forks and executes, also when its recorder has ended.
 *
 *   survivor work			computes, forks a child that does, and prints what came out
 *   survivor obey			does what letters on its standard input say
 *   survivor daemon COMMANDS ANSWERS	leaves a daemon behind that does so, by two FIFOs
 *
 * f: a child of fork() computes, e: one executes "survivor work", s: the same by posix_spawn(),
 * g: a child says "g here" and then obeys the next letter, m: it computes itself, u: it becomes
 * an ordinary user for good, w and b: it is one for a while and root again (the effective user).  The
 * answer is a line for each: the letter, and how that ended.  Functions are instrumented: a trace
 * counts them.
 */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ORDINARY_USER 65534
#define WORK_NS       40000000
#define EXIT_WORKS    7

extern char **environ;
static const char *program;
static int commands = STDIN_FILENO, answers = STDOUT_FILENO;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t leaf(uint64_t n)
{
	return n * 6364136223846793005u + 1442695040888963407u;
}

__attribute__((noinline)) static uint64_t left(uint64_t n, unsigned depth);

__attribute__((noinline)) static uint64_t right(uint64_t n, unsigned depth)
{
	return depth == 0 ? leaf(n) : left(leaf(n), depth - 1) ^ right(n, depth - 1);
}

__attribute__((noinline)) static uint64_t left(uint64_t n, unsigned depth)
{
	return depth == 0 ? leaf(n + 1) : right(n, depth - 1) + left(leaf(n), depth - 1);
}

/* Always the same, whatever becomes of the time. */
static int works(void)
{
	const uint64_t begin = cpu_ns();
	const uint64_t wanted = left(1, 10);

	while (cpu_ns() - begin < WORK_NS) {
		if (left(1, 10) != wanted)
			return 0;
	}
	return 1;
}

static int status_of(pid_t child)
{
	int status = 0;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int in_child(int must_execute)
{
	const pid_t child = fork();

	if (child != 0)
		return status_of(child);
	if (must_execute)
		execl(program, program, "work", (char *)NULL);
	_exit(works() ? EXIT_WORKS : 1);
}

static int by_spawn(void)
{
	char *const arguments[] = { (char *)program, "work", NULL };
	pid_t child;

	if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0)
		return -1;
	return status_of(child);
}

static int become_ordinary(void)
{
	return setgroups(0, NULL) == 0 && setgid(ORDINARY_USER) == 0 &&
			       setuid(ORDINARY_USER) == 0
		       ? EXIT_WORKS
		       : 1;
}

static int obey(char letter);

/* By then it has made its handshake, or has tried to. */
static int obey_in_child(void)
{
	const pid_t child = fork();
	char letter;

	if (child != 0)
		return status_of(child);
	dprintf(answers, "g here\n");
	_exit(read(commands, &letter, 1) == 1 ? obey(letter) : 1);
}

static int obey(char letter)
{
	switch (letter) {
	case 'g':
		return obey_in_child();
	case 'f':
		return in_child(0);
	case 'e':
		return in_child(1);
	case 's':
		return by_spawn();
	case 'm':
		return works() ? EXIT_WORKS : 1;
	case 'u':
		return become_ordinary();
	case 'w':
		return seteuid(ORDINARY_USER) == 0 ? EXIT_WORKS : 1;
	case 'b':
		return seteuid(0) == 0 ? EXIT_WORKS : 1;
	default:
		return -1;
	}
}

static int obey_all(void)
{
	char letter;

	while (read(commands, &letter, 1) == 1) {
		if (letter != '\n')
			dprintf(answers, "%c %d\n", letter, obey(letter));
	}
	return 0;
}

static int run_daemon(const char *commands_path, const char *answers_path)
{
	if (fork() != 0)
		return 0;
	setsid();
	/* What waits for the end of the recorder's output does not wait for this. */
	for (int fd = 0; fd < 3; fd++)
		dup2(open("/dev/null", O_RDWR | O_CLOEXEC), fd);

	commands = open(commands_path, O_RDONLY | O_CLOEXEC);
	answers = open(answers_path, O_WRONLY | O_CLOEXEC);

	return obey_all();
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1 && strcmp(argv[1], "obey") == 0)
		return obey_all();
	if (argc > 3 && strcmp(argv[1], "daemon") == 0)
		return run_daemon(argv[2], argv[3]);
	if (argc > 1 && strcmp(argv[1], "work") == 0) {
		const int child = in_child(0);

		for (int fd = STDERR_FILENO + 1; fd < 16; fd++) {
			if (fcntl(fd, F_GETFD) >= 0)
				printf("%d is open\n", fd);
		}
		printf("%d %d\n", works(), child);
		return EXIT_WORKS;
	}
	return 2;
}
