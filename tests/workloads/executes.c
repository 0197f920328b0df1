/*
 * executes - starts programs by every function there is for that, and prints how that went.
 *
 *   executes exec     each of exec's functions, in a child of fork and one of vfork
 *   executes errors   execs and spawns that fail, and their errno
 *   executes spawn    posix_spawn() with actions and attributes
 *   executes large    with environments near the kernel's limits
 *   executes system   system()
 *   executes vforks   100 execs in vfork children, and how much memory they left behind
 *   executes small    each function in a thread of the smallest stack there may be
 *   executes signals  what it started with
 *
 * Run with and without a profiler the lines are the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *const own_environment[] = { "OWN=1", "LD_PRELOAD_=no", "PATH=/usr/bin:/bin",
					 NULL };
static char *const env_argv[] = { "env", NULL };

static void exec_by(int way)
{
	switch (way) {
	case 0:
		execve("/usr/bin/env", env_argv, own_environment);
		break;
	case 1:
		execv("/usr/bin/env", env_argv);
		break;
	case 2:
		execvp("env", env_argv);
		break;
	case 3:
		execvpe("env", env_argv, own_environment);
		break;
	case 4:
		execl("/usr/bin/env", "env", "-u", "_", (char *)NULL);
		break;
	case 5:
		execlp("env", "env", "-u", "_", (char *)NULL);
		break;
	case 6:
		execle("/usr/bin/env", "env", "-u", "_", (char *)NULL, own_environment);
		break;
	case 7:
		fexecve(open("/usr/bin/env", O_RDONLY | O_CLOEXEC), env_argv, own_environment);
		break;
	case 8:
		execveat(open("/usr/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "env", env_argv,
			 own_environment, 0);
		break;
	case 9:
		execve("/usr/bin/env", env_argv, NULL);
		break;
	case 10:
		syscall(SYS_execve, "/usr/bin/env", env_argv, own_environment);
		break;
	}
	_exit(100 + errno % 100);
}

static void print_status(const char *what, int way, int status)
{
	printf("%s %d ends with %x\n", what, way, status);
	fflush(stdout);
}

static void exec_in_vfork_child(int way)
{
	const pid_t pid = vfork();
	int status;

	if (pid == 0)
		exec_by(way);
	waitpid(pid, &status, 0);
	print_status("vfork and exec", way, status);
}

static void try_exec(void)
{
	for (int way = 0; way <= 10; way++) {
		const pid_t pid = fork();
		int status;

		if (pid == 0)
			exec_by(way);
		waitpid(pid, &status, 0);
		print_status("fork and exec", way, status);
		exec_in_vfork_child(way);
	}
}

/* An exec that fails in a vfork child, then one that does not. */
static void try_twice(void)
{
	int status;
	const pid_t pid = vfork();

	if (pid == 0) {
		execve("/no/such/program", env_argv, environ);
		execve("/etc/passwd", env_argv, environ);
		execve("/usr/bin/env", env_argv, own_environment);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	print_status("the third exec", 3, status);
}

static void make_file(const char *name, const char *text, mode_t mode)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (write(fd, text, strlen(text)) < 0)
		printf("cannot write %s\n", name);
	fchmod(fd, mode);
	close(fd);
}

static char *name_of(size_t len)
{
	char *name = malloc(len + 1);

	memset(name, 'n', len);
	name[len] = '\0';
	return name;
}

static void print_exec(const char *path, const char *file)
{
	char *const argv[] = { "name", "argument", NULL };
	int spawned, status = 0;
	pid_t pid = 0;

	if (path != NULL)
		setenv("PATH", path, 1);
	else
		unsetenv("PATH");
	fflush(stdout);
	const pid_t child = fork();

	if (child == 0) {
		execvp(file, argv);
		const int by_path = errno;

		execv(file, argv);
		printf("%.40s along %.40s: execvp fails with %d, execv with %d\n", file,
		       path != NULL ? path : "(no PATH)", by_path, errno);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	print_status("it", 0, status);
	errno = 77;
	spawned = posix_spawnp(&pid, file, NULL, NULL, argv, environ);
	if (spawned == 0)
		waitpid(pid, &status, 0);
	printf("posix_spawnp answers %d, errno is %d, it ends with %x\n", spawned, errno,
	       status);
}

/* In a folder of the test's own. */
static void try_errors(void)
{
	char *endless = name_of(20000);

	make_file("denied", "#!/bin/sh\n", 0600);
	make_file("our_script", "#!/bin/sh\necho script $0 $@; exit 5\n", 0700);
	make_file("text", "echo text $0 $@; exit 6\n", 0700);
	make_file("lost", "#!/no/such/interpreter\n", 0700);
	make_file("empty", "", 0700);
	mkdir("folder", 0700);
	mkdir("folder/our_script", 0700);
	const struct {
		const char *path, *file;
	} cases[] = {
		{ "/usr/bin:/bin", "nothing" },
		{ "/usr/bin:/bin", "" },
		{ "/usr/bin:/bin", "/no/such" },
		{ "/usr/bin:/bin", "/etc/passwd/no" },
		{ ".", "denied" },
		{ ".:/usr/bin", "denied" },
		{ "/no:.:/usr/bin", "our_script" },
		{ "", "our_script" },
		{ ":/bin", "our_script" },
		{ "/bin:", "our_script" },
		{ "folder:.", "our_script" },
		{ "folder", "our_script" },
		{ "our_script:.", "our_script" },
		{ "our_script", "our_script" },
		{ ".", "text" },
		{ ".", "./text" },
		{ ".", "lost" },
		{ ".:/bin", "lost" },
		{ ".", "empty" },
		{ NULL, "true" },
		{ NULL, "our_script" },
		{ "/bin", name_of(255) },
		{ "/bin", name_of(256) },
		{ "/bin", endless },
		{ endless, "true" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		print_exec(cases[i].path, cases[i].file);
}

/* The largest environments that are taken, and the first that is not. */
static void try_large(void)
{
	static const size_t sizes[] = { 1000, 100000, 131065, 131066, 131071, 131072, 200000 };

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		char *const entries[] = { name_of(sizes[i]), "LD_PRELOAD=", NULL };
		char *const argv[] = { "true", NULL };
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			execve("/bin/true", argv, entries);
			_exit(errno);
		}
		waitpid(pid, &status, 0);
		printf("an entry of %zu bytes: %x, spawned: %d\n", sizes[i], status,
		       posix_spawn(&pid, "/bin/true", NULL, NULL, argv, entries));
		waitpid(pid, &status, 0);
	}
	for (int count = 10; count < 80; count += 1) {
		char **entries = calloc((size_t)count + 1, sizeof *entries);
		char *const argv[] = { "true", NULL };
		int status;

		for (int at = 0; at < count; at++)
			entries[at] = name_of(100000);
		const pid_t pid = fork();

		if (pid == 0) {
			execve("/bin/true", argv, entries);
			_exit(errno);
		}
		waitpid(pid, &status, 0);
		printf("%d entries of 100,000 bytes: %x\n", count, status);
	}
}

static void spawn_with(const char *what, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, const char *script)
{
	char *const argv[] = { "sh", "-c", (char *)(size_t)script, NULL };
	int status = -1;
	pid_t pid;

	fflush(stdout);
	const int rc = posix_spawn(&pid, "/bin/sh", actions, attributes, argv, environ);

	if (rc == 0)
		waitpid(pid, &status, 0);
	printf("%s: %d, ends with %x\n", what, rc, status);
}

static void try_spawn(void)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t set;

	spawn_with("plain", NULL, NULL, "env; exit 4");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 5, "spawned", O_CREAT | O_EXCL | O_RDWR,
					 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 6);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	spawn_with("actions", &actions, NULL, "ls /proc/self/fd; pwd; echo on six >&6");
	spawn_with("the same again", &actions, NULL, "echo not run");
	posix_spawn_file_actions_destroy(&actions);

	posix_spawnattr_init(&attributes);
	sigfillset(&set);
	posix_spawnattr_setsigmask(&attributes, &set);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	spawn_with("a full mask", NULL, &attributes, "$EXECUTES signals");
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	posix_spawnattr_setsigmask(&attributes, &set);
	spawn_with("SIGTRAP blocked", NULL, &attributes, "$EXECUTES signals");
	signal(SIGTRAP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	spawn_with("SIGTRAP ignored", NULL, NULL, "$EXECUTES signals");
	posix_spawnattr_setsigdefault(&attributes, &set);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	spawn_with("SIGTRAP by default", NULL, &attributes, "$EXECUTES signals");
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	spawn_with("a group of its own", NULL, &attributes, "kill -TERM 0");
}

static void on_signal(int number)
{
	(void)number;
}

static void print_action(int number)
{
	struct sigaction action;
	sigset_t mask;

	sigaction(number, NULL, &action);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	printf("signal %d is %s, SIGCHLD is %s\n", number,
	       action.sa_handler == on_signal ? "handled"
	       : action.sa_handler == SIG_DFL ? "default"
					      : "ignored",
	       sigismember(&mask, SIGCHLD) ? "blocked" : "not blocked");
}

static void *call_system(void *command)
{
	return (void *)(long)system(command);
}

static void try_system(void)
{
	static const char *const commands[] = {
		"exit 0", "exit 7",           "kill -KILL $$",
		"env",    "no_such_command",  "kill -INT $PPID; exit 3",
		"-x",     "$EXECUTES signals"
	};
	pthread_t threads[8];
	void *result;

	signal(SIGINT, on_signal);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		fflush(stdout);
		errno = 55;
		const int status = system(commands[i]);

		printf("system(%s): %x, errno %d\n", commands[i], status, errno);
		print_action(SIGINT);
		print_action(SIGQUIT);
	}
	printf("system(NULL): %d\n", system(NULL));
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, call_system, "exit 9");
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], &result);
		printf("a thread's: %lx\n", (long)result);
	}
	pthread_create(&threads[0], NULL, call_system, "exec sleep 100");
	usleep(200000);
	pthread_cancel(threads[0]);
	pthread_join(threads[0], &result);
	printf("cancelled: %d, children left: %d\n", result == PTHREAD_CANCELED,
	       waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD);
	print_action(SIGINT);
	signal(SIGCHLD, SIG_IGN);
	errno = 55;
	printf("without children: %d, ", system("exit 4"));
	printf("errno %d\n", errno);
}

static long pages_mapped(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = -1;

	if (file == NULL || fscanf(file, "%ld", &pages) != 1)
		printf("/proc/self/statm cannot be read\n");
	if (file != NULL)
		fclose(file);
	return pages;
}

static void execute_true_in_vfork_child(void)
{
	const pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	waitpid(pid, NULL, 0);
}

static void try_vforks(void)
{
	execute_true_in_vfork_child();
	const long before = pages_mapped();

	for (int i = 0; i < 100; i++)
		execute_true_in_vfork_child();
	printf("grown by %ld pages\n", pages_mapped() - before);
}

static void *start_program(void *way)
{
	char *const argv[] = { "true", NULL };
	int status = -1;
	pid_t pid;

	if ((long)way == 0 && posix_spawnp(&pid, "true", NULL, NULL, argv, environ) == 0)
		waitpid(pid, &status, 0);
	if ((long)way == 1)
		status = system("exit 2");
	if ((long)way == 2)
		status = pclose(popen("exit 3", "r"));
	printf("way %ld of a small thread ends with %x\n", (long)way, status);
	if ((long)way == 3)
		execlp("true", "true", (char *)NULL);
	return way;
}

static void try_small(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (long way = 0; way <= 3; way++) {
		pthread_create(&thread, &attributes, start_program, (void *)way);
		pthread_join(thread, NULL);
	}
}

/* What a program started with: the kernel's view of it has a profiler's signals in it, too. */
static void print_signals(void)
{
	struct sigaction action;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number < NSIG; number++) {
		if (sigismember(&mask, number) == 1)
			printf("%d is blocked\n", number);
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
			printf("%d is %s\n", number,
			       action.sa_handler == SIG_IGN ? "ignored" : "handled");
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "exec";

	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("EXECUTES", argv[0], 1);
	if (strcmp(what, "signals") == 0) {
		print_signals();
	} else if (strcmp(what, "exec") == 0) {
		try_exec();
		try_twice();
	} else if (strcmp(what, "vforks") == 0) {
		try_vforks();
	} else if (strcmp(what, "small") == 0) {
		try_small();
	} else if (strcmp(what, "errors") == 0) {
		try_errors();
	} else if (strcmp(what, "large") == 0) {
		try_large();
	} else if (strcmp(what, "spawn") == 0) {
		try_spawn();
	} else if (strcmp(what, "system") == 0) {
		try_system();
	}
	return 0;
}
