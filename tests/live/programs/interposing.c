/*
 * Interposes the functions that profilers interpose, and passes on.  Linked with busy.c,
 * or a library that is preloaded; says at the end how often it was called.  Of getpid() and gettid()
 * it says how often before libc had the environment: libraries that interpose these begin at
 * their first call, and by the environment (libfaketime).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int creates, actions, masks, forks, execs, early;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *argument)
{
	static __typeof__(pthread_create) *next;

	if (next == NULL)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "pthread_create");
	atomic_fetch_add(&creates, 1);
	return next(thread, attributes, run, argument);
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	static __typeof__(sigaction) *next;

	if (next == NULL)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "sigaction");
	atomic_fetch_add(&actions, 1);
	return next(signal, action, old);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	static __typeof__(sigprocmask) *next;

	if (next == NULL)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "sigprocmask");
	atomic_fetch_add(&masks, 1);
	return next(how, set, old);
}

pid_t fork(void)
{
	static __typeof__(fork) *next;

	if (next == NULL)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "fork");
	atomic_fetch_add(&forks, 1);
	return next();
}

int execve(const char *path, char *const argv[], char *const environment[])
{
	static __typeof__(execve) *next;

	if (next == NULL)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "execve");
	atomic_fetch_add(&execs, 1);
	return next(path, argv, environment);
}

pid_t getpid(void)
{
	if (environ == NULL)
		atomic_fetch_add(&early, 1);
	return (pid_t)syscall(SYS_getpid);
}

pid_t gettid(void)
{
	if (environ == NULL)
		atomic_fetch_add(&early, 1);
	return (pid_t)syscall(SYS_gettid);
}

__attribute__((destructor)) static void say(void)
{
	printf("interposed: %d %d %d %d %d %d\n", atomic_load(&creates), atomic_load(&actions),
	       atomic_load(&masks), atomic_load(&forks), atomic_load(&execs),
	       atomic_load(&early));
}
