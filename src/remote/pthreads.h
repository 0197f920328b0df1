/*
 * pthreads - the threads of glibc: which thread pointer, which is pthread_self(), each has.
 *
 * glibc keeps lists of its threads in the dynamic linker's _rtld_global (from 2.34 on), and says
 * to debuggers where in that (libthread_db's _thread_db_… in libc.so.6).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct remote;

struct pthread_place {
	pid_t tid; /* as the process's own PID namespace numbers it */
	uint64_t pointer;
};

struct pthread_places {
	struct pthread_place *places;
	size_t count, capacity;
};

/* None, where they cannot be found (musl, static programs, older glibc). */
void pthreads_read(struct remote *remote, struct pthread_places *out_places);
void pthreads_done(struct pthread_places *places);
/* 0: not known. */
uint64_t pthreads_pointer_of(const struct pthread_places *places, pid_t inner_tid);
/* Which thread's pthread_self() this is, by glibc's struct pthread; 0: none that is known. */
pid_t pthreads_tid_at(struct remote *remote, uint64_t pointer);
/* The thread whose struct pthread has its number in the word at this address; 0: none has. */
pid_t pthreads_tid_of_word(struct remote *remote, uint64_t address);
