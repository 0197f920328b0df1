/*
 * launch - posix_spawn(), and the shell for those of libc's functions that run one.
 */
#pragma once
#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch {
	const char *path;
	bool is_search; /* along PATH */
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
	char *const *argv;
	char *const *environment;
};

/* Whether SIGTRAP is ignored, by the program's will.  A system call; errno stays. */
bool launch_ignores_trap(void);
/* As posix_spawn(). */
int launch(const struct launch *call, pid_t *out_pid);
/* `sh -c command` with the program's environment. */
int launch_shell(const char *command, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, pid_t *out_pid);
/* In a child of fork: locks of other threads are free. */
void system_forget(void);
void popen_forget(void);
