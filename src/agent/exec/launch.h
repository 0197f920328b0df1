/*
 * launch - posix_spawn() with the agent preloaded into the child; system() and popen() use it, too.
 */
#pragma once
#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch {
	const char *path;
	bool is_search; /* the program is looked for in PATH */
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
	char *const *argv;
	char *const *environment;
};

/* Whether the program has SIGTRAP ignored.  Costs a system call; errno stays. */
bool launch_ignores_trap(void);
/* As posix_spawn(). */
int launch(const struct launch *call, pid_t *out_pid);
/* `sh -c command` with the program's environment. */
int launch_shell(const char *command, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, pid_t *out_pid);
/* waitpid(2), repeated after signals. */
pid_t launch_wait(pid_t pid, int *out_status);
/* In a child of fork: frees the locks that the parent's other threads held. */
void system_forget(void);
void popen_forget(void);
